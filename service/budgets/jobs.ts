import { z } from 'zod'
import { EVENTS } from '../deliveries/model.ts'
import type { Sweeper, Topic } from '../queue/model.ts'
import type { Budgets } from './service/budgets.ts'
import { ALERT, APPROVAL, type AlertAnnouncement } from './service/news.ts'

export function budgetTopics(budgets: Budgets): Topic[] {
  return [alertTopic(budgets), approvalTopic(budgets)] as Topic[]
}

function alertTopic(budgets: Budgets): Topic<AlertAnnouncement> {
  return {
    topic: ALERT,
    decode: z.object({
      eventId: z.string(),
      userId: z.string(),
      environment: z.enum(['sandbox', 'production']),
      event: z.enum(EVENTS),
      data: z.record(z.string(), z.unknown()),
    }),
    handle: (alerted, { attempt }) => budgets.tell(alerted, attempt),
    concurrency: 4,
    turns: { perAccount: 1 },
    timeoutMs: 30_000,
  }
}

function approvalTopic(budgets: Budgets): Topic<{ approvalId: string }> {
  return {
    topic: APPROVAL,
    decode: z.object({ approvalId: z.string() }),
    handle: ({ approvalId }, { attempt }) => budgets.askPerson(approvalId, attempt),
    concurrency: 4,
    turns: { perAccount: 1 },
    timeoutMs: 30_000,
  }
}

export function budgetSweepers(budgets: Budgets): Sweeper[] {
  return [{ name: 'spending.approvals', everyMs: 5_000, run: () => budgets.approvals.lapse() }]
}
