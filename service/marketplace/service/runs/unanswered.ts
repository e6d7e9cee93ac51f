import { DomainError } from '../../../kit/errors.ts'
import type { Id } from '../../../kit/ids.ts'
import type { Run } from '../../model/run.ts'
import type { RunsDeps } from './deps.ts'

/**
 * Runs that this process may have claimed without knowing it: the database committed the claim and its answer was lost.
 * This process lives and renews its lease, so no other process ends them. It checks them itself, at each heartbeat, and
 * for a while, since a statement may commit after its connection is gone.
 */
export function createUnanswered({ store, log }: Pick<RunsDeps, 'store' | 'log'>) {
  const claims = new Map<Id<'run'>, Claim>()
  let checking: Promise<void> | null = null

  async function check(): Promise<void> {
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
          if (++claim.checks >= CHECKS_MAX) claims.delete(id)
        }
      } else if (++claim.checks >= CHECKS_MAX) {
        claims.delete(id)
      }
    }
  }

  return {
    /**
     * Does the work that claims a run. Where it throws anything but a refusal, the run's row is checked later, and
     * `resolve` is called if this process holds the claim.
     */
    async track<T>({ id, process, resolve }: TrackedClaim, work: () => Promise<T>): Promise<T> {
      try {
        return await work()
      } catch (error) {
        if (!(error instanceof DomainError)) claims.set(id, { process, resolve, checks: 0 })
        throw error
      }
    },

    /** Resolves what it can; one check at a time. */
    async resolve(): Promise<void> {
      if (claims.size === 0) return
      checking ??= check().finally(() => (checking = null))
      await checking
    },
  }
}

export type Unanswered = ReturnType<typeof createUnanswered>

interface TrackedClaim {
  id: Id<'run'>
  /** The name under which it is claimed. */
  process: string
  resolve(run: Run): Promise<void>
}

interface Claim extends Pick<TrackedClaim, 'process' | 'resolve'> {
  checks: number
}

/** A minute of heartbeats with the database there. */
const CHECKS_MAX = 15
