import type { Clock } from '../../../kit/clock.ts'
import type { Log } from '../../../kit/log.ts'
import { FAILURES } from '../../errors/run.ts'
import type { RunStore } from '../../ports/run.ts'
import { durationOf, unpaid } from '../../rules/run.ts'
import type { Execution } from './execution.ts'

/** What nobody else will do: ends of runs that were left behind, and the figures of their assets. */
export function createSweeping({ store, execution, clock, log }: SweepingDeps) {
  return {
    /** Ends what is past its deadline or whose process is gone; answers how many it ended. */
    async sweepLost(now: Date = clock.now()): Promise<number> {
      let swept = 0
      for (;;) {
        const lost = await store.lost(now, BATCH)
        const ends = await Promise.allSettled(
          lost.map((run) => {
            const why = run.deadline <= now ? FAILURES.late : FAILURES.lost
            return execution.giveBack(run, unpaid('failed', why, durationOf(run, now), false))
          }),
        )
        const ended = ends.filter(({ status }) => status === 'fulfilled').length
        for (const end of ends) {
          if (end.status === 'rejected') log.error({ err: end.reason as unknown }, 'a lost run could not be ended')
        }
        swept += ended
        // What could not be ended is asked for again at the next turn, not at once.
        if (ended === BATCH) continue
        if (swept > 0) log.warn({ swept }, 'runs that were left behind were ended unpaid')
        return swept
      }
    },

    async foldStats(): Promise<void> {
      await store.foldStats()
    },
  }
}

interface SweepingDeps {
  store: RunStore
  execution: Execution
  clock: Clock
  log: Log
}

const BATCH = 200
