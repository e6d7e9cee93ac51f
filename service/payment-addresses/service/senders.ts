import type { Address, Chain, TransferScan } from '../../chain/model.ts'
import { DomainError } from '../../kit/errors.ts'
import { largest, least } from '../../kit/money.ts'
import { SEARCH, searchesFor, type SendersSearch } from '../rules.ts'
import type { PaymentAddressDeps } from './deps.ts'

/** Searches who sent the money of orders: apart from them, as a search can take long and decides nothing. For a worker. */
export function createSendersSearch(deps: Pick<PaymentAddressDeps, 'store' | 'clock' | 'log'>, chain: Chain) {
  const { store, clock, log } = deps
  let width: bigint = SEARCH.widest

  async function turn(signal: AbortSignal): Promise<void> {
    const now = clock.now()
    const places = await store.unsearched(chain.network.name, new Date(now.getTime() - GIVEN_UP_MS), AT_MOST)
    let hasFailed = false
    for (const search of searchesFor(places, width, now).slice(0, SEARCHES_MAX)) {
      if (signal.aborted) return
      try {
        await note(search)
      } catch (error) {
        if (!(error instanceof DomainError) || error.kind !== 'unavailable') throw error
        hasFailed = true
        log.warn({ err: error }, 'the senders of transfers to orders could not be read; retrying')
      }
    }
    // An RPC may report a too wide range with any error, so the next turn asks for fewer blocks.
    width = hasFailed ? largest(SEARCH.narrowest, width / 4n) : least(SEARCH.widest, width * 2n)
  }

  async function note({ from, upTo, places }: SendersSearch): Promise<void> {
    const { transfers } = await chain.transfersTo({ to: places.map(({ address }) => address), from, upTo })
    const sent = byRecipient(transfers)
    for (const place of places) {
      const end = least(upTo, place.searchTo)
      const senders = (sent.get(place.address) ?? []).filter(({ block }) => block <= end).map((one) => one.from)
      const all = [...new Set([...place.senders, ...senders])].slice(0, SENDERS_MAX)
      await store.sentBy(place, { senders: all, upTo: end })
    }
  }

  return turn
}

type Transfers = TransferScan['transfers']

function byRecipient(transfers: Transfers): Map<Address, Transfers[number][]> {
  const sent = new Map<Address, Transfers[number][]>()
  for (const transfer of transfers) {
    const before = sent.get(transfer.to)
    if (before === undefined) sent.set(transfer.to, [transfer])
    else before.push(transfer)
  }
  return sent
}

/** In one turn. */
const AT_MOST = 500
const SEARCHES_MAX = 8
/** After the order has ended. */
const GIVEN_UP_MS = 86_400_000
/** Anybody can send dust. */
const SENDERS_MAX = 20
