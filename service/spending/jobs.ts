import { z } from 'zod'
import { EVENTS } from '../deliveries/model.ts'
import type { Sweeper, Topic } from '../queue/model.ts'
import { ALERT, APPROVAL, PAY, SIGN, type Alerted, type Spending } from './service.ts'

export function spendingTopics(spending: Spending): Topic[] {
  return [alertTopic(spending), approvalTopic(spending), signTopic(spending), payTopic(spending)] as Topic[]
}

function alertTopic(spending: Spending): Topic<Alerted> {
  return {
    topic: ALERT,
    decode: z.object({
      eventId: z.string(),
      userId: z.string(),
      environment: z.enum(['sandbox', 'production']),
      event: z.enum(EVENTS),
      data: z.record(z.string(), z.unknown()),
    }),
    handle: (alerted) => spending.tell(alerted),
    concurrency: 4,
    timeoutMs: 30_000,
  }
}

function approvalTopic(spending: Spending): Topic<{ approvalId: string }> {
  return {
    topic: APPROVAL,
    decode: z.object({ approvalId: z.string() }),
    handle: ({ approvalId }) => spending.askPerson(approvalId),
    concurrency: 4,
    timeoutMs: 30_000,
  }
}

/** From a process that has no key. */
function signTopic(spending: Spending): Topic<Signing> {
  return {
    topic: SIGN,
    decode: z.object({
      userId: z.string(),
      environment: z.enum(['sandbox', 'production']),
      paymentId: z.string().nullable(),
    }),
    handle: ({ paymentId, ...owner }) => spending.signPayment(owner, paymentId),
    concurrency: 64,
    timeoutMs: 60_000,
  }
}

interface Signing {
  userId: string
  environment: 'sandbox' | 'production'
  /** Null: only the account's wallet is wanted. */
  paymentId: string | null
}

/** Calls that were approved while nobody waited for them; a seller has its time twice. */
function payTopic(spending: Spending): Topic<Record<string, unknown>> {
  return {
    topic: PAY,
    decode: z.record(z.string(), z.unknown()),
    handle: (payload) => spending.payments.payApproved(payload),
    turns: { perAccount: 4 },
    concurrency: 16,
    timeoutMs: 450_000,
  }
}

export function spendingSweepers(spending: Spending): Sweeper[] {
  return [
    { name: 'spending.approvals', everyMs: 5_000, run: () => spending.approvals.lapse() },
    { name: 'spending.payments', everyMs: 1_000, run: () => spending.lookAtPayments() },
  ]
}
