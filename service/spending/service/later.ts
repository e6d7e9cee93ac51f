import type { Id } from '../../kit/ids.ts'
import { usdc } from '../../kit/money.ts'
import type { Owner } from '../../kit/owner.ts'
import type { Announcement } from '../../queue/model.ts'
import type { PaidAsk, SellerAnswer } from '../model/payment.ts'
import type { PaymentStore, Seal } from '../ports/payment.ts'

/** A call that waits for a person while nobody waits for it: how it is asked for again when the word comes. */
export interface Held {
  owner: Owner
  agentId: string | null
  ask: PaidAsk
  operation: Id<'op'>
}

/** What callers send and sellers answer may hold secrets: both are sealed while they wait. */
export function createLater({ store, seal }: { store: PaymentStore; seal: Seal }) {
  return {
    announcement({ owner, agentId, ask, operation }: Held): Announcement {
      const said = JSON.stringify({ ...ask, maxAmount: String(ask.maxAmount) })
      const payload = { ...owner, agentId, operation, ask: seal.seal(said, `${operation}/ask`) }
      return { topic: PAY, payload, turn: { account: `${owner.environment}/${owner.userId}` } }
    },

    /** What `announcement` wrote: nobody else writes this topic. */
    read(payload: Readonly<Record<string, unknown>>): Held {
      const { userId, environment, agentId, operation, ask } = payload as unknown as Owner &
        Omit<Held, 'ask'> & { ask: string }
      const said = JSON.parse(seal.open(ask, `${operation}/ask`)) as PaidAsk & { maxAmount: string }
      const wanted = { ...said, maxAmount: usdc(BigInt(said.maxAmount)) }
      return { owner: { userId, environment }, agentId, operation, ask: wanted }
    },

    async keep(id: string, answer: SellerAnswer): Promise<void> {
      await store.keepAnswer(id, seal.seal(JSON.stringify(answer), `${id}/answer`))
    },

    async answerOf(id: string): Promise<SellerAnswer | null> {
      const sealed = await store.findAnswer(id)
      return sealed === null ? null : (JSON.parse(seal.open(sealed, `${id}/answer`)) as SellerAnswer)
    },
  }
}

export type Later = ReturnType<typeof createLater>

export const PAY = 'spending.pay'
