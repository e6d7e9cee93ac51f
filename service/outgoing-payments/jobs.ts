import { z } from 'zod'
import type { Sweeper, Topic } from '../queue/model.ts'
import { PAY } from './service/deferred.ts'
import type { OutgoingPayments } from './service/payments.ts'
import { SIGN } from './service/sign.ts'

export function outgoingPaymentTopics(payments: OutgoingPayments): Topic[] {
  return [signTopic(payments), payTopic(payments)] as Topic[]
}

const signRequest = z.object({
  userId: z.string(),
  environment: z.enum(['sandbox', 'production']),
  // Null: only the account's wallet is wanted.
  paymentId: z.string().nullable(),
})

/** From a process that has no key. */
function signTopic(payments: OutgoingPayments): Topic<z.infer<typeof signRequest>> {
  return {
    topic: SIGN,
    decode: signRequest,
    handle: ({ paymentId, ...owner }) => payments.sign(owner, paymentId),
    turns: { perAccount: 16 },
    concurrency: 64,
    timeoutMs: 60_000,
  }
}

/** Calls that were approved while no caller waited for them. The timeout covers a seller's two answers. */
function payTopic(payments: OutgoingPayments): Topic<Record<string, unknown>> {
  return {
    topic: PAY,
    decode: z.record(z.string(), z.unknown()),
    handle: (payload) => payments.payApproved(payload),
    turns: { perAccount: 4 },
    concurrency: 16,
    timeoutMs: 450_000,
  }
}

export function outgoingPaymentSweepers(payments: OutgoingPayments): Sweeper[] {
  return [{ name: 'spending.payments', everyMs: 1_000, run: () => payments.reconcile() }]
}
