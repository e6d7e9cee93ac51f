import { z } from 'zod'
import type { Sweeper, Topic } from '../queue/model.ts'
import { WAIT_MS, WAIT_MS_MAX } from './rules/messages.ts'
import type { Deliveries } from './service/deliveries.ts'
import { ATTEMPT, LONG_ATTEMPT, NOTICE } from './service/write.ts'
import type { Notice } from './service/notices.ts'

interface Turn {
  id: string
  turn: number
}

export function deliveryTopics(deliveries: Deliveries): Topic[] {
  const decode = z.object({ id: z.string(), turn: z.int() })
  const handle: Topic<Turn>['handle'] = (turn, { signal }) => deliveries.attempt(turn, signal)
  // An attempt waits for one of its account's places itself.
  const attempts = { decode, handle, turns: null, retryDelaysMs: RETRY_DELAYS_MS }
  const topics: [Topic<Turn>, Topic<Turn>, Topic<Notice & { userId: string }>] = [
    { ...attempts, topic: ATTEMPT, concurrency: 256, timeoutMs: WAIT_MS + OVERHEAD_MS },
    { ...attempts, topic: LONG_ATTEMPT, concurrency: 512, timeoutMs: WAIT_MS_MAX + OVERHEAD_MS },
    {
      topic: NOTICE,
      decode: z.object({
        userId: z.string(),
        event: z.enum(['delivery.unconfirmed', 'delivery.stopped', 'delivery.exhausted', 'endpoint.disabled']),
        id: z.string(),
        about: z.string(),
      }),
      handle: (notice, context) => deliveries.mail(notice, context),
      concurrency: 4,
      turns: { perAccount: 1 },
      timeoutMs: 30_000,
    },
  ]
  return topics
}

export function deliverySweepers(deliveries: Deliveries): Sweeper[] {
  return [{ name: 'deliveries.states', everyMs: 2_000, run: (_now, signal) => deliveries.sweep(signal) }]
}

/** The overhead of an attempt besides the receiver's answer: waiting for a slot, and writing the record. */
const OVERHEAD_MS = 30_000

/**
 * Failures of the receiver follow the delivery's own schedule. A failed job means a failure of this service, mostly of
 * the database, and is retried until it succeeds: a paid delivery is never given up for that.
 */
const RETRY_DELAYS_MS = [1_000, 5_000, 15_000, ...Array.from({ length: 10_000 }, () => 60_000)]
