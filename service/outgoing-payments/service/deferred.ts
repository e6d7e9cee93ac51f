import { usdc } from '../../kit/money.ts'
import type { Owner } from '../../kit/owner.ts'
import { turnOf, type Announcement } from '../../queue/model.ts'
import type { PaidRequest, PaymentOrder, SellerResponse } from '../model.ts'
import type { OutgoingPaymentDeps } from './deps.ts'

/**
 * Calls that wait for a person's approval while no caller waits for them, and what came of them. What callers send and
 * sellers answer may hold secrets: both are sealed while they are stored.
 */
export function createDeferral({ store, seal }: OutgoingPaymentDeps) {
  return {
    announcement({ owner, agentId, request, operation }: PaymentOrder): Announcement {
      const text = JSON.stringify({ ...request, maxAmount: String(request.maxAmount) })
      const payload = { ...owner, agentId, operation, ask: seal.seal(text, `${operation}/ask`) }
      return { topic: PAY, payload, turn: turnOf(owner) }
    },

    /** What `announcement` wrote: nothing else writes this topic. */
    read(payload: Readonly<Record<string, unknown>>): PaymentOrder {
      const { userId, environment, agentId, operation, ask } = payload as unknown as Owner &
        Omit<PaymentOrder, 'request'> & { ask: string }
      const stored = JSON.parse(seal.open(ask, `${operation}/ask`)) as PaidRequest & { maxAmount: string }
      const request = { ...stored, maxAmount: usdc(BigInt(stored.maxAmount)) }
      return { owner: { userId, environment }, agentId, operation, request }
    },

    async saveResponse(id: string, response: SellerResponse): Promise<void> {
      await store.saveResponse(id, seal.seal(JSON.stringify(response), `${id}/answer`))
    },

    async responseOf(id: string): Promise<SellerResponse | null> {
      const sealed = await store.findResponse(id)
      return sealed === null ? null : (JSON.parse(seal.open(sealed, `${id}/answer`)) as SellerResponse)
    },
  }
}

export type Deferral = ReturnType<typeof createDeferral>

export const PAY = 'spending.pay'
