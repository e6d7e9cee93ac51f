import type { Clock } from '../../kit/clock.ts'
import { DomainError } from '../../kit/errors.ts'
import type { StatementPool } from '../../kit/transaction.ts'
import type { Owner } from '../../kit/owner.ts'
import { payerUnavailable } from '../errors.ts'
import type { Payment } from '../model/payment.ts'
import type { Announce, Pause } from '../ports.ts'
import type { PayerKeys, PayerWallet, PaymentStore } from '../ports/payment.ts'
import type { Funding } from './fund.ts'

/** The payer's address, money and signature: made here where the keys are, asked for from a worker where they are not. */
export function createSigning({ store, keys, isWorker, funding, statements, announce, clock, pause }: SigningParts) {
  /** Where the account pays from, and what is spare there. */
  async function payerOf(owner: Owner): Promise<PayerWallet> {
    if (keys !== null) return await store.addPayer(owner, keys.of(owner).address, clock.now())
    if (isWorker) throw payerUnavailable('This server has no key to pay with: PAYER_SEED must be set.')
    for (let asked = 0; asked < ASKS_MAX; asked++) {
      const found = await store.findPayer(owner)
      if (found !== null) return found
      if (asked === 0) await announce(statements, [{ topic: SIGN, payload: { ...owner, paymentId: null } }])
      await pause(ASK_EVERY_MS)
    }
    throw payerUnavailable('No worker has made a wallet to pay from: one must run, with PAYER_SEED.')
  }

  /** As far as it gets in the time that a caller waits; signed, ended, or still under way. */
  async function signed(payment: Payment): Promise<Payment> {
    if (!isWorker) {
      const { owner, id } = payment
      await announce(statements, [{ topic: SIGN, payload: { ...owner, paymentId: id } }])
    }
    let now = payment
    for (let asked = 0; asked < ASKS_MAX && UNSIGNED.has(now.state); asked++) {
      const before = now.state
      now = isWorker ? await funding.step(now) : await again(now)
      if (now.state === before) await pause(ASK_EVERY_MS)
    }
    return now
  }

  async function again({ owner, id }: Payment): Promise<Payment> {
    const found = await store.find(owner, id)
    if (found === null) throw new Error(`the payment ${id} is gone`)
    return found
  }

  return {
    payerOf,
    signed,

    /** What a worker does with the announcement. */
    async sign(owner: Owner, id: string | null): Promise<void> {
      if (keys !== null) await store.addPayer(owner, keys.of(owner).address, clock.now())
      const payment = id === null ? null : await store.find(owner, id)
      if (payment === null) return
      try {
        await signed(payment)
      } catch (error) {
        // The sweeper goes on with it, or gives it back.
        if (!(error instanceof DomainError)) throw error
      }
    },
  }
}

export type Signing = ReturnType<typeof createSigning>

export interface SigningParts {
  store: PaymentStore
  keys: PayerKeys | null
  /** Whether this process is one that funds and signs. */
  isWorker: boolean
  funding: Funding
  statements: StatementPool
  announce: Announce
  clock: Clock
  pause: Pause
}

export const SIGN = 'spending.sign'

const UNSIGNED: ReadonlySet<Payment['state']> = new Set(['reserved', 'funding', 'funded'])
/** Half a minute: some blocks. */
const ASK_EVERY_MS = 50
const ASKS_MAX = 600
