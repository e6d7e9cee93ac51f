import { z } from 'zod'
import type { Sweeper, Topic } from '../queue/model.ts'
import type { Checkouts } from './service/checkouts.ts'
import { PAUSED } from './service/watch.ts'

export function checkoutSweepers({ sweepers }: Checkouts): Sweeper[] {
  return [
    { name: 'checkouts.leases', everyMs: 5_000, run: (now) => sweepers.leases(now) },
    { name: 'checkouts.probes', everyMs: 10_000, run: (now) => sweepers.probes(now) },
  ]
}

export function checkoutTopics(checkouts: Checkouts): Topic[] {
  const paused: Topic<{ checkoutId: string }> = {
    topic: PAUSED,
    decode: z.object({ checkoutId: z.string() }),
    handle: ({ checkoutId }, { id }) => checkouts.tellPaused(checkoutId, id),
    concurrency: 4,
    timeoutMs: 30_000,
  }
  return [paused]
}
