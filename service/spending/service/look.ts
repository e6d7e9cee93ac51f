import type { Clock } from '../../kit/clock.ts'
import type { Log } from '../../kit/log.ts'
import type { Ledger } from '../../ledger/service.ts'
import type { Payment } from '../model/payment.ts'
import type { ChainOf, PaymentStore } from '../ports/payment.ts'

/** Looks what the chain says of one payment, and ends it where that is final. */
export type Look = (payment: Payment) => Promise<void>

/**
 * A lock is captured when its authorization was used and lies deep enough, and given back when it can never be used:
 * the newest block is past its time by a minute and it is unused there. In between it stays locked, however long.
 */
export function createLook({ store, ledger, chainOf, clock, confirmations }: LookParts): Look {
  return async (payment) => {
    const { id, payer, nonce, validBefore, seenBlock } = payment
    if (payment.state === 'reserved') return await unsigned(payment)
    const chain = chainOf(payment.network)
    if (chain === null) return
    const head = await chain.head()
    if ((await chain.authorization(payer, nonce)).used) {
      const use = await chain.findUse(payer, nonce, seenBlock)
      if (use === null || use.cancelled) return await store.seen(id, null, soon(SOON_MS))
      // The head may be a second older than what was found in it.
      const depth = head.number < use.blockNumber ? 1n : head.number - use.blockNumber + 1n
      if (depth < BigInt(confirmations)) return await store.seen(id, use.hash, soon(SOON_MS))
      await settle(payment, use.hash)
    } else if (head.timestamp > validBefore + MARGIN_SECONDS) await giveBack(payment)
    else await store.seen(id, null, soon(LATER_MS))
  }

  async function settle(payment: Payment, txHash: string): Promise<void> {
    const { id, owner, amount } = payment
    await store.end(payment, { state: 'settled', txHash, now: clock.now() }, async (inside) => {
      await ledger.capture(
        {
          hold: id,
          owner,
          amount,
          // It left the payer's wallet, which is the treasury's.
          shares: [{ to: { platform: 'treasury' }, amount }],
          kind: 'capture',
          reference: txHash,
          announcements: [],
        },
        inside,
      )
    })
  }

  async function giveBack(payment: Payment): Promise<void> {
    const { id, owner } = payment
    await store.end(payment, { state: 'returned', txHash: null, now: clock.now() }, async (inside) => {
      await ledger.release({ hold: id, owner, announcements: [] }, inside)
    })
  }

  /** Nobody has signed, and nobody signs any more once this is written: there is nothing to wait for. */
  async function unsigned(payment: Payment): Promise<void> {
    if (clock.now().getTime() - payment.createdAt.getTime() >= UNSIGNED_MS) await giveBack(payment)
    else await store.seen(payment.id, null, soon(SOON_MS))
  }

  function soon(ms: number): Date {
    return new Date(clock.now().getTime() + ms)
  }
}

/** Looks at all that are due, one after the other; a network that is away holds up nobody but its own. */
export function createLooking({ store, clock, log }: LookParts, look: Look): () => Promise<void> {
  return async () => {
    for (;;) {
      const now = clock.now()
      const due = await store.due(now, new Date(now.getTime() + LATER_MS), BATCH)
      for (const payment of due) {
        await look(payment).catch((error: unknown) => {
          log.warn({ err: error, paymentId: payment.id }, 'The chain could not be asked about a payment.')
        })
      }
      if (due.length < BATCH) return
    }
  }
}

export interface LookParts {
  store: PaymentStore
  ledger: Pick<Ledger, 'capture' | 'release'>
  chainOf: ChainOf
  clock: Clock
  log: Log
  confirmations: number
}

/** A block after this can replace none that could still carry the authorization, nor can a node be this far behind. */
const MARGIN_SECONDS = 60n
const UNSIGNED_MS = 30_000
const SOON_MS = 2_000
const LATER_MS = 5_000
const BATCH = 100
