import { NETWORKS } from '../../chain/networks.ts'
import type { Clock } from '../../kit/clock.ts'
import type { StatementPool } from '../../kit/transaction.ts'
import type { Payment } from '../model/payment.ts'
import type { Announce, Pause } from '../ports.ts'
import type { Payer, PaymentStore } from '../ports/payment.ts'

/** Signatures of the payer: made here where the key is, asked for from a worker where it is not. */
export function createSigning({ store, payer, statements, announce, clock, pause }: SigningParts) {
  /** Stored before anybody sees it; signing again gives the same. */
  async function sign(payment: Payment): Promise<Payment> {
    if (payer?.sign == null || payment.state !== 'reserved' || payer.address !== payment.payer) return payment
    // Past its time it would only be given to a seller who cannot use it.
    if (payment.validBefore * 1000n <= BigInt(clock.now().getTime())) return payment
    const { payer: from, payTo: to, amount: value, validBefore, nonce } = payment
    const authorization = { from, to, value, validAfter: 0n, validBefore, nonce }
    const { signature } = payer.sign(NETWORKS[payment.network], authorization)
    return (await store.sign(payment.id, signature)) ? { ...payment, state: 'signed', signature } : await again(payment)
  }

  async function again({ owner, id }: Payment): Promise<Payment> {
    const found = await store.find(owner, id)
    if (found === null) throw new Error(`the payment ${id} is gone`)
    return found
  }

  return {
    async signed(payment: Payment): Promise<Payment> {
      if (payer?.sign != null) return await sign(payment)
      const { owner, id } = payment
      await announce(statements, [{ topic: SIGN, payload: { ...owner, paymentId: id } }])
      let now = payment
      for (let asked = 0; asked < ASKS_MAX && now.state === 'reserved'; asked++) {
        await pause(ASK_EVERY_MS)
        now = await again(payment)
      }
      return now
    },

    /** What a worker does with the announcement. */
    async sign(owner: Payment['owner'], id: string): Promise<void> {
      const payment = await store.find(owner, id)
      if (payment !== null) await sign(payment)
    },
  }
}

export interface SigningParts {
  store: PaymentStore
  payer: Payer | null
  statements: StatementPool
  announce: Announce
  clock: Clock
  pause: Pause
}

export const SIGN = 'spending.sign'

const ASK_EVERY_MS = 50
const ASKS_MAX = 200
