import { DomainError } from '../../../kit/errors.ts'
import type { Id } from '../../../kit/ids.ts'
import { FAILURES } from '../../errors.ts'
import type { LanguageModel } from '../../model/asset.ts'
import type { Failure, Run } from '../../model/run.ts'
import { durationOf, fitsBefore, limitOf, unpaid } from '../../rules/run.ts'
import { announcementOf, assertUnpaidCosts, takeCall, type RunsDeps } from './deps.ts'
import type { Execution } from './execution.ts'
import type { Heartbeat } from './heartbeat.ts'
import type { Unanswered } from './unanswered.ts'
import type { Watch } from './watch.ts'

/** Executes a queued run, once: its claim is one row going from queued to running. */
export function createWorking(deps: WorkingDeps) {
  const { store, assets, models, heartbeat, execution, unanswered, watch, clock } = deps
  /** A second announcement of a run, and a check of its unanswered claim, wait for the first one's end. */
  const working = new Map<Id<'run'>, Promise<void>>()

  async function work(id: Id<'run'>, signal: AbortSignal): Promise<void> {
    const already = working.get(id)
    if (already !== undefined) return await already
    const end = claimAndExecute(id, signal).finally(() => working.delete(id))
    working.set(id, end)
    return await end
  }

  async function claimAndExecute(id: Id<'run'>, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    const end = execution.endOf(id)
    if (end !== null) {
      await end
      return
    }
    if (execution.hasBegun(id)) return
    const process = await heartbeat.announce()
    const ended = await unanswered.track({ id, process, resolve }, async () => {
      const run = await store.claim(id, process, clock.now())
      // Canceled, or claimed by another process: it ends the run, or the sweeper does once that process is gone.
      return run === null ? null : await executeClaimed(run, process, signal)
    })
    // Makes the queue give the announcement to another process.
    if (ended?.state === 'queued') signal.throwIfAborted()
  }

  /** Null where it was put back: its announcement comes again. */
  async function executeClaimed(run: Run, process: string, signal: AbortSignal): Promise<Run | null> {
    const { id } = run
    const asset = await assets.version(run.rdaId, run.rdaVersion)
    const model = run.modelId === null ? null : models.find(run.environment, run.modelId)
    if (asset === null || (run.modelId !== null && model === null)) {
      return await execution.giveBack(run, unpaid('failed', FAILURES.internal, 0, false))
    }
    if (!fitsBefore(run.deadline, limitOf(asset), clock.now())) {
      return await execution.giveBack(run, unpaid('failed', FAILURES.late, 0, false))
    }
    const refused = await refusalOf(deps, run, model)
    if (refused !== null) return await execution.giveBack(run, unpaid('failed', refused, 0, false))
    const call = await takeCall(deps, run, asset)
    if ('waitSeconds' in call) {
      await postpone(run, process, call.waitSeconds)
      return null
    }
    watch.notify(id, 'running')
    // An agent or a tool may have begun something that must not be begun twice; a prompt only costs the platform.
    const handOn = (): Promise<boolean> => store.handOn(id, process)
    return await execution.execute({ run, asset, model, ...call, ...(model === null ? {} : { handOn }) }, signal)
  }

  /**
   * Announced anew: a failure of the announcement would be repeated a few times only, and a run may wait for several
   * minutes. What ends the wait is the run's deadline.
   */
  async function postpone(run: Run, process: string, waitSeconds: number): Promise<void> {
    const dueAt = new Date(clock.now().getTime() + waitSeconds * 1_000)
    await store.postpone(run.id, process, (inside) => deps.announce(inside, [announcementOf(run, dueAt)]))
  }

  /** The queue may have dropped its announcement meanwhile: another process found the run claimed. */
  async function resolve(run: Run): Promise<void> {
    if (execution.hasBegun(run.id)) await giveUp(run)
    // Not waited for: it takes as long as the run, and others wait to be resolved.
    else void work(run.id, new AbortController().signal).catch(() => undefined)
  }

  /**
   * Ends it unpaid unless this process executes it: it was begun and its end could not be written, or its caller was
   * answered that it failed.
   */
  async function giveUp(run: Run): Promise<void> {
    if (working.has(run.id) || execution.endOf(run.id) !== null) return
    await execution.giveBack(run, unpaid('failed', FAILURES.lost, durationOf(run, clock.now()), false))
  }

  return { work, giveUp }
}

/** Runs that were accepted together may have failed one after the other since. */
async function refusalOf(deps: RunsDeps, run: Run, model: LanguageModel | null): Promise<Failure | null> {
  try {
    await assertUnpaidCosts(deps, run, model)
    return null
  } catch (error) {
    if (error instanceof DomainError) return { code: error.code, sentence: error.message }
    throw error
  }
}

interface WorkingDeps extends RunsDeps {
  heartbeat: Heartbeat
  execution: Execution
  unanswered: Unanswered
  watch: Watch
}
