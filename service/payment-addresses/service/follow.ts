import type { Chain } from '../../chain/model.ts'
import { usdc, type Usdc } from '../../kit/money.ts'
import type { PaymentAddress } from '../model.ts'
import { decide, nextLook } from '../rules.ts'
import { createBuying } from './buy.ts'
import type { PaymentAddressDeps } from './deps.ts'
import { createSendingBack } from './send-back.ts'
import { createSendersSearch } from './senders.ts'

/** Looks at addresses, pays the orders whose money has arrived, and carries out returns. For a worker. */
export function createFollowing(deps: PaymentAddressDeps) {
  const { store, signer, chains, clock, log, measures, failpoints } = deps
  const { attemptTo } = createBuying(deps)
  const { sendBack } = createSendingBack(deps)

  async function turn(chain: Chain, signal: AbortSignal): Promise<void> {
    const network = chain.network.name
    if (signer !== null) {
      const open = await store.openReturns(network, signer.account, RETURNS_AT_MOST)
      await each(open, signal, ({ place, sent }) => sendBack(chain, place, sent))
    }
    // After the returns, so that what has gone back is not read as still there.
    const now = clock.now()
    const places = await store.due(network, now, AT_MOST)
    if (places.length === 0) return
    const { number: head } = await chain.head()
    const addresses = places.map(({ address }) => address)
    const balances = await chain.balancesAt(addresses, head)
    const found = places.map((place, at) => ({ place, balance: usdc(balances[at] ?? 0n) }))
    await each(found, signal, ({ place, balance }) => look(chain, place, { balance, now, head }))
  }

  /** Some at a time; what fails is tried again in the next turn. */
  async function each<T>(all: readonly T[], signal: AbortSignal, work: (one: T) => Promise<void>): Promise<void> {
    for (let at = 0; at < all.length && !signal.aborted; at += AT_ONCE) {
      const outcomes = await Promise.allSettled(all.slice(at, at + AT_ONCE).map(work))
      const failed = outcomes.find((outcome) => outcome.status === 'rejected')
      if (failed !== undefined) log.warn({ err: failed.reason as unknown }, 'a payment address waits; retrying')
    }
  }

  async function look(chain: Chain, found: PaymentAddress, seen: Seen): Promise<void> {
    let of: PaymentAddress | null = found
    // What has just begun is followed at once, and what was reopened waits for the next look.
    for (let step = 0; step < 2 && of?.endedAt === null; step++) {
      const next: PaymentAddress | null = await advance(chain, of, seen)
      if (next === of) break
      of = next
    }
    const last = of ?? found
    // A payment that has just ended was stored with the balance after it.
    const hasPaid = last.state === 'paid' && found.state !== 'paid'
    const balance = hasPaid ? last.balance : seen.balance
    // Where there is no money, no transfer came before the next block.
    const fromBlock = seen.balance === 0n ? seen.head + 1n : null
    // After an order has ended the seller's refund may come, which is not from its buyer.
    const searchTo = seen.balance > 0n && found.endedAt === null ? seen.head : null
    await store.looked(last, { balance, lookAt: nextLook(last, clock.now()), now: seen.now, fromBlock, searchTo })
  }

  /** The address after one step; the same one where there was none, null where another process was faster. */
  async function advance(chain: Chain, of: PaymentAddress, seen: Seen): Promise<PaymentAddress | null> {
    const attempt = of.state === 'paying' ? await attemptTo(chain, of) : null
    const decision = decide(of, { ...seen, attempt })
    const now = clock.now()
    switch (decision.do) {
      case 'wait':
        if (attempt !== null) await store.note(of, attempt.reason)
        return of
      case 'pay': {
        if (signer?.account !== of.account) return of
        const validBefore = BigInt(Math.floor(now.getTime() / 1_000) + of.bought.seconds)
        const begun = await store.begin(of, validBefore)
        await failpoints.reach('payment address begun')
        return begun
      }
      case 'reopen':
        await store.reopen(of, decision.reason)
        return null
      case 'paid':
      case 'close': {
        const state = decision.do === 'paid' ? 'paid' : 'closed'
        const reason = decision.do === 'paid' ? null : decision.reason
        // The payment has taken the order's money since the balance was read. What is left shows at once: the page of an
        // order that is paid closes where nothing is.
        const balance = state === 'paid' ? await chain.balanceOf(of.address) : null
        const ended = await store.end(of, { state, reason, balance, now })
        if (ended !== null) measures.count(`payment_address_${state}`)
        return ended
      }
    }
  }

  return {
    sweepers: [...chains.values()].flatMap((chain) => [
      {
        name: `payment-addresses ${chain.network.name}`,
        everyMs: 2_000,
        run: (signal: AbortSignal) => turn(chain, signal),
      },
      {
        name: `payment-addresses-senders ${chain.network.name}`,
        everyMs: 5_000,
        run: createSendersSearch(deps, chain),
      },
    ]),
  }
}

/** What is at an address, and when and at which block that was asked: money that comes later is seen by the next look. */
interface Seen {
  balance: Usdc
  now: Date
  head: bigint
}

/** In one turn, and at once. */
const AT_MOST = 500
/** Each waits for the chain, and orders wait behind them. */
const RETURNS_AT_MOST = 40
const AT_ONCE = 8
