import type { Clock } from '../../../kit/clock.ts'
import type { Id } from '../../../kit/ids.ts'
import { FAILURES } from '../../errors/run.ts'
import type { AssetsForRuns } from '../../ports/asset.ts'
import type { Models, RunStore } from '../../ports/run.ts'
import { fitsBefore, limitOf, unpaid } from '../../rules/run.ts'
import type { Execution } from './execution.ts'
import type { Presence } from './presence.ts'
import type { Watch } from './watch.ts'

/** Executes a queued run, once: its claim is one row going from queued to running. */
export function createWorking({ store, assets, models, presence, execution, watch, clock }: WorkingParts) {
  return {
    async work(id: Id<'run'>, signal: AbortSignal): Promise<void> {
      signal.throwIfAborted()
      const end = execution.endOf(id)
      if (end !== null) {
        await end
        return
      }
      if (execution.hasBegun(id)) return
      const process = await presence.announce()
      const run = await store.claim(id, process, clock.now())
      // Canceled, or claimed by somebody who is at it or has died at it: both is seen to by others.
      if (run === null) return
      watch.tell(id, 'running')
      const asset = await assets.version(run.rdaId, run.rdaVersion)
      const model = run.modelId === null ? null : models.find(run.environment, run.modelId)
      if (asset === null || (run.modelId !== null && model === null)) {
        await execution.giveBack(run, unpaid('failed', FAILURES.internal, 0, false))
      } else if (!fitsBefore(run.deadline, limitOf(asset), clock.now())) {
        await execution.giveBack(run, unpaid('failed', FAILURES.late, 0, false))
      } else {
        // An agent or a tool may have begun something that must not be begun twice; a prompt only costs the house.
        const handOn = (): Promise<boolean> => store.handOn(id, process)
        const ended = await execution.execute({ run, asset, model, ...(model === null ? {} : { handOn }) }, signal)
        // Tells the queue to give the announcement to somebody else.
        if (ended.state === 'queued') signal.throwIfAborted()
      }
    },
  }
}

interface WorkingParts {
  store: RunStore
  assets: AssetsForRuns
  models: Models
  presence: Presence
  execution: Execution
  watch: Watch
  clock: Clock
}
