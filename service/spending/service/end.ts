import type { Hex } from '../../chain/model.ts'
import type { Clock } from '../../kit/clock.ts'
import type { Ledger } from '../../ledger/service.ts'
import type { Outflows } from '../../outflow/service.ts'
import type { Payment, ReturnReason } from '../model/payment.ts'
import type { Checkpoint, PaymentStore } from '../ports/payment.ts'

/** The two ends of a payment, each with its lock's in one transaction. Of two that end it one does. */
export function createEnding({ store, ledger, outflow, clock, checkpoint }: EndingParts) {
  async function again({ owner, id }: Payment): Promise<Payment> {
    const found = await store.find(owner, id)
    if (found === null) throw new Error(`the payment ${id} is gone`)
    return found
  }

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
      await checkpoint('settled')
      return await again(payment)
    },

    /** `kept` is what its payer has of it. */
    async giveBack(payment: Payment, reason: ReturnReason, kept: bigint): Promise<Payment> {
      const { id: hold, owner } = payment
      const now = clock.now()
      await store.end(payment, { state: 'returned', reason, kept, now }, async (inside) => {
        await ledger.release({ hold, owner, announcements: [] }, inside)
        await outflow.giveBack(hold, inside)
      })
      return await again(payment)
    },
  }
}

export type Ending = ReturnType<typeof createEnding>

export interface EndingParts {
  store: PaymentStore
  ledger: Pick<Ledger, 'capture' | 'release'>
  outflow: Pick<Outflows, 'giveBack'>
  clock: Clock
  checkpoint: Checkpoint
}
