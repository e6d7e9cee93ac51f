import type { Hex } from '../../chain/model.ts'
import type { Payment, ReturnReason } from '../model.ts'
import type { PaymentStore } from '../ports.ts'
import { nextLook } from '../rules.ts'
import type { OutgoingPaymentDeps } from './deps.ts'

/** The two ends of a payment, each with its hold's in one transaction. Of two that end it one does. */
export function createEnding({ store, ledger, outflow, clock, failpoints }: EndingDeps) {
  return {
    async settle(payment: Payment, txHash: Hex, blockNumber: bigint): Promise<Payment> {
      const { id: hold, owner, amount } = payment
      const now = clock.now()
      await store.end(payment, { state: 'settled', txHash, blockNumber, now }, async (inside) => {
        // It left the payer's wallet, which is the treasury's.
        const shares = [{ to: { platform: 'treasury' as const }, amount }]
        const capture = { hold, owner, amount, shares, kind: 'capture' as const, reference: txHash, announcements: [] }
        await ledger.capture(capture, inside)
      })
      await failpoints.reach('outgoing payment settled')
      return await reload(store, payment)
    },

    /** `remaining` is what its payer has of it. */
    async giveBack(payment: Payment, reason: ReturnReason, remaining: bigint): Promise<Payment> {
      const { id: hold, owner } = payment
      const now = clock.now()
      await store.end(
        payment,
        { state: 'returned', reason, remaining, now, lookAt: nextLook(now, now) },
        async (inside) => {
          await ledger.release({ hold, owner, announcements: [] }, inside)
          await outflow.giveBack(hold, inside)
        },
      )
      return await reload(store, payment)
    },
  }
}

export type Ending = ReturnType<typeof createEnding>

type EndingDeps = Pick<OutgoingPaymentDeps, 'store' | 'ledger' | 'outflow' | 'clock' | 'failpoints'>

/** As it stands now. */
export async function reload(store: Pick<PaymentStore, 'find'>, { owner, id }: Payment): Promise<Payment> {
  const found = await store.find(owner, id)
  if (found === null) throw new Error(`the payment ${id} was not found`)
  return found
}
