import { setImmediate as breathe } from 'node:timers/promises'
import type { Clock } from '../../kit/clock.ts'
import { DomainError } from '../../kit/errors.ts'
import type { Log } from '../../kit/log.ts'
import { DAY_MS } from '../../kit/tables.ts'
import type { Address } from '../../chain/model.ts'
import type { Origin, Transfer } from '../model.ts'
import type { FundingChain, FundingStore, RankingStore } from '../ports.ts'
import { ranking } from '../rules/ranking.ts'

interface RankingDeps {
  store: RankingStore & FundingStore
  chains: readonly FundingChain[]
  clock: Clock
  log: Log
}

/** What happens in the background: no request waits for it, and each run has a bound. */
export function createRanking(deps: RankingDeps) {
  const { store, chains, clock, log } = deps
  /** Blocks in one search, by network: fewer where the RPC refuses as many. */
  const widths = new Map<string, bigint>()

  /** False when there is nothing to do. */
  async function searchOn(chain: FundingChain, order: 'newest' | 'waiting'): Promise<boolean> {
    const { name } = chain.network
    const waiting = await store.open(name, order, ORIGINS_MAX)
    const [first] = waiting
    if (first === undefined) return false
    const { number: newest } = await chain.head()
    const width = widths.get(`${name} ${String(first.depth)}`) ?? WIDTHS[first.depth - 1] ?? 1n
    const top = first.nextBlock ?? newest
    // Parts begin at multiples of their width, so that later searches meet earlier ones and go on with them.
    const from = top - (top % width)
    // Those that have come as far as the first one share its search.
    const origins = waiting.filter(({ nextBlock, depth }) => depth === first.depth && (nextBlock ?? newest) === top)
    try {
      const transfers = await transfersIn(chain, origins, { from, upTo: top })
      const lastBlock = first.lastBlock ?? (newest > LOOK_BACK ? newest - LOOK_BACK : 0n)
      await store.found({ origins, transfers, nextBlock: from - 1n, lastBlock, depthMax: DEPTH_MAX }, clock.now())
    } catch (error) {
      if (!(error instanceof DomainError)) throw error
      if (error.code === 'search_too_wide') widths.set(`${name} ${String(first.depth)}`, width > 4n ? width / 4n : 1n)
      log.warn({ network: name, code: error.code }, 'the origin of payers could not be looked for; retrying')
      return false
    }
    return true
  }

  return {
    /** Looks where payers have their money from, a part of the chain at a time. */
    async search(now: Date): Promise<void> {
      await store.addPayers(now, ORIGINS_MAX)
      for (const chain of chains) {
        // By turns, so that new payers neither wait for the old ones nor keep them waiting.
        for (let step = 0; step < SEARCHES_MAX; step++)
          if (!(await searchOn(chain, step % 2 === 0 ? 'newest' : 'waiting'))) break
      }
    },

    async rank(now: Date): Promise<void> {
      const resources = await store.resources()
      const visits = await store.visits(new Date(now.getTime() - WINDOW_DAYS * DAY_MS), VISITS_MAX)
      const transfers = await store.transfers(TRANSFERS_MAX)
      const parts = ranking(resources, visits, transfers)
      let part = parts.next()
      for (; part.done !== true; part = parts.next()) await breathe()
      await store.save(part.value)
    },
  }
}

/** The senders of what these addresses got in those blocks. */
async function transfersIn(
  chain: FundingChain,
  origins: readonly Origin[],
  { from, upTo }: { from: bigint; upTo: bigint },
): Promise<Transfer[]> {
  const wanted = new Set(origins.map(({ address }) => address))
  const { transactions } = await chain.transfersTo({ to: [...wanted], from, upTo })
  const found = new Map<string, Transfer>()
  const perAddress = new Map<Address, number>()
  for (const { hash } of transactions.slice(0, RECEIPTS_MAX)) {
    const receipt = await chain.receipt(hash)
    for (const { from: sender, to, value } of receipt?.transfers ?? []) {
      if (!wanted.has(to) || value === 0n) continue
      const count = (perAddress.get(to) ?? 0) + 1
      perAddress.set(to, count)
      if (count <= SENDERS_MAX) found.set(`${sender} ${to}`, { from: sender, to })
    }
  }
  return [...found.values()]
}

/** Two weeks of blocks of two seconds. Money that came before is of unknown origin. */
const LOOK_BACK = 604_800n
/** By depth: a sender may be an exchange with thousands of transfers an hour. */
const WIDTHS = [10_000n, 1_000n, 1_000n]
const DEPTH_MAX = 3
const ORIGINS_MAX = 200
const SEARCHES_MAX = 6
const RECEIPTS_MAX = 25
const SENDERS_MAX = 20

const WINDOW_DAYS = 30
const VISITS_MAX = 50_000
const TRANSFERS_MAX = 50_000
