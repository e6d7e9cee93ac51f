import { z } from 'zod'
import type { Id } from '../kit/ids.ts'
import type { Sweeper, Topic, Turns } from '../queue/model.ts'
import type { Assets } from './service/assets/assets.ts'
import { fromPayload, RESUME, type Resumption } from './service/runs/resumption.ts'
import type { Returns } from './service/returns.ts'
import { EXECUTE } from './service/runs/deps.ts'
import type { Runs } from './service/runs/runs.ts'

export function runTopics(runs: Runs, turns: Turns): Topic<{ runId: Id<'run'> }>[] {
  return Object.values(EXECUTE).map((topic) => ({
    topic,
    decode: z.object({ runId: z.custom<Id<'run'>>((value) => typeof value === 'string') }),
    handle: ({ runId }, { signal }) => runs.work(runId, signal),
    turns,
    // Mostly waiting for others.
    concurrency: 64,
    // Longer than the longest execution: that ends by its own limit.
    timeoutMs: 215_000,
  }))
}

/** A run that waited for a person's approval. */
export function resumeTopic(runs: Pick<Runs, 'resume'>, turns: Turns): Topic<Resumption> {
  return {
    topic: RESUME,
    decode: z.record(z.string(), z.unknown()).transform(fromPayload),
    handle: (resumption) => runs.resume(resumption),
    turns,
    concurrency: 8,
    timeoutMs: 30_000,
  }
}

export function runSweepers(runs: Runs): Sweeper[] {
  return [
    { name: 'runs.stats', everyMs: 1_000, run: () => runs.foldStats() },
    {
      name: 'runs.lost',
      everyMs: 2_000,
      async run(now) {
        await runs.sweepLost(now)
      },
    },
  ]
}

/** Payments of guests' runs that were never delivered. */
export function returnsSweeper(returns: Returns): Sweeper {
  return { name: 'marketplace.returns', everyMs: 10_000, run: () => returns.sweep() }
}

/** Ranks are a minute old at most. */
export function assetSweepers(assets: Assets): Sweeper[] {
  return [{ name: 'marketplace.rank', everyMs: 60_000, run: () => assets.rank() }]
}
