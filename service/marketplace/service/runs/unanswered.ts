import { DomainError } from '../../../kit/errors.ts'
import type { Id } from '../../../kit/ids.ts'
import type { Log } from '../../../kit/log.ts'
import type { Run } from '../../model/run.ts'
import type { RunStore } from '../../ports/run.ts'

/**
 * Runs that may have become this process's without its knowing: the database committed the claim and its answer was lost.
 * This process lives and renews its lease, so no other process ends them. It looks at them itself, at each beat, and
 * for a while, since a statement may commit after its connection is gone.
 */
export function createUnanswered({ store, log }: UnansweredDeps) {
  const claims = new Map<Id<'run'>, Claim>()
  let looking: Promise<void> | null = null

  async function look(): Promise<void> {
    const processes = [...new Set([...claims.values()].map(({ process }) => process))]
    const runs = await store.runningOf(processes, [...claims.keys()])
    const found = new Map(runs.map((run) => [run.id, run]))
    for (const [id, claim] of claims) {
      const run = found.get(id)
      if (run?.process === claim.process) {
        try {
          await claim.resolve(run)
          claims.delete(id)
        } catch (error) {
          log.error({ runId: id, err: error }, 'a run whose claim was unanswered could not be resolved')
          if (++claim.looks >= LOOKS) claims.delete(id)
        }
      } else if (++claim.looks >= LOOKS) {
        claims.delete(id)
      }
    }
  }

  return {
    /**
     * Does what puts the process's name into the run's row. Where it throws anything but a refusal, the row is looked at
     * later, and `resolve` is called if it is running in the process's name.
     */
    async track<T>({ id, process, resolve }: TrackedClaim, work: () => Promise<T>): Promise<T> {
      try {
        return await work()
      } catch (error) {
        if (!(error instanceof DomainError)) claims.set(id, { process, resolve, looks: 0 })
        throw error
      }
    },

    /** Resolves what can be; one look at a time. */
    async resolve(): Promise<void> {
      if (claims.size === 0) return
      looking ??= look().finally(() => (looking = null))
      await looking
    },
  }
}

export type Unanswered = ReturnType<typeof createUnanswered>

interface UnansweredDeps {
  store: Pick<RunStore, 'runningOf'>
  log: Log
}

interface TrackedClaim {
  id: Id<'run'>
  /** The name under which it is claimed. */
  process: string
  resolve(run: Run): Promise<void>
}

interface Claim extends Pick<TrackedClaim, 'process' | 'resolve'> {
  looks: number
}

/** A minute of beats with the database there. */
const LOOKS = 15
