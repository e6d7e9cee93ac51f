import { DomainError } from '../../kit/errors.ts'
import type { Owner } from '../../kit/owner.ts'
import { payerUnavailable } from '../errors.ts'
import type { Payment } from '../model.ts'
import type { PayerWallet } from '../ports.ts'
import { turnOf } from '../../queue/model.ts'
import type { OutgoingPaymentDeps } from './deps.ts'
import { reload } from './end.ts'
import type { Funding } from './fund.ts'

/** The payer's address, money and signature: made here where the keys are, requested from a worker where they are not. */
export function createSigning({ store, keys, isWorker, funding, statements, announce, clock, pause }: SigningDeps) {
  /** Where the account pays from, and what is spare there. */
  async function payerOf(owner: Owner): Promise<PayerWallet> {
    if (keys !== null) return await store.addPayer(owner, keys.of(owner).address, clock.now())
    if (isWorker) throw payerUnavailable('This server has no key to pay with: PAYER_SEED must be set.')
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const found = await store.findPayer(owner)
      if (found !== null) return found
      if (attempt === 0)
        await announce(statements, [{ topic: SIGN, payload: { ...owner, paymentId: null }, turn: turnOf(owner) }])
      await pause(ATTEMPT_EVERY_MS)
    }
    throw payerUnavailable('There is no payer wallet yet: start a worker with PAYER_SEED.')
  }

  /** As far as it gets in the time that a caller waits; signed, ended, or still under way. */
  async function signed(payment: Payment): Promise<Payment> {
    if (!isWorker) {
      const { owner, id } = payment
      await announce(statements, [{ topic: SIGN, payload: { ...owner, paymentId: id }, turn: turnOf(owner) }])
    }
    let now = payment
    for (let attempt = 0; attempt < ATTEMPTS_MAX && UNSIGNED.has(now.state); attempt++) {
      const before = now.state
      now = isWorker ? await funding.step(now) : await reload(store, now)
      if (now.state === before) await pause(ATTEMPT_EVERY_MS)
    }
    return now
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

type SigningDeps = Pick<
  OutgoingPaymentDeps,
  'store' | 'keys' | 'isWorker' | 'statements' | 'announce' | 'clock' | 'pause'
> & { funding: Funding }

export const SIGN = 'spending.sign'

const UNSIGNED: ReadonlySet<Payment['state']> = new Set(['reserved', 'funding', 'funded'])
/** Half a minute: some blocks. */
const ATTEMPT_EVERY_MS = 50
const ATTEMPTS_MAX = 600
