import { ownerOf, type Caller } from '../../kit/caller.ts'
import { DomainError } from '../../kit/errors.ts'
import { deriveId, type Id } from '../../kit/ids.ts'
import type { Statements } from '../../kit/transaction.ts'
import type { Announcement } from '../../queue/model.ts'
import { FAILURES, runEnded, runMissing } from '../errors/run.ts'
import { hasEnded, type Run, type RunAsk, type RunState, type RunSummary } from '../model/run.ts'
import type {
  EndedRun,
  Executor,
  FreeRuns,
  Heartbeat,
  Models,
  NewRun,
  RunFilter,
  RunStore,
  Throttle,
} from '../ports/run.ts'
import type { AssetsForRuns } from '../ports/asset.ts'
import { durationOf, unpaid } from '../rules/run.ts'
import type { AssetType, RunnableAsset } from '../model/asset.ts'
import type { Clock } from '../../kit/clock.ts'
import type { Log } from '../../kit/log.ts'
import type { Environment, Owner } from '../../kit/owner.ts'
import type { Ledger } from '../../ledger/service.ts'
import type { Guard } from '../../budgets/service/guard.ts'
import { createAccepting, type Enter } from './runs/accept.ts'
import { askerOf } from './runs/asker.ts'
import { createExecution } from './runs/execution.ts'
import { createFlights } from './runs/flight.ts'
import { createPresence } from './runs/presence.ts'
import type { Resumption } from './runs/resumption.ts'
import { createSweeping } from './runs/sweep.ts'
import { createUnanswered } from './runs/unanswered.ts'
import { createWatch, type Watch } from './runs/watch.ts'
import { createWorking } from './runs/work.ts'

/** Runs assets: money locked, work done, money taken or given back. */
export function createRuns(deps: RunsDeps) {
  const { store, clock, log, announce, tellOfEnds } = deps
  const watch = createWatch(store, log)
  const unanswered = createUnanswered(deps)
  const onBeat = (): Promise<void> => unanswered.resolve()
  const presence = createPresence({ ...deps, onBeat })
  const canceling = createPresence({ ...deps, onBeat })
  const flights = createFlights({
    ...deps,
    async also(inside, begun, ended) {
      const queued = begun.filter(({ state }) => state === 'queued')
      if (queued.length > 0) {
        await announce(inside, queued.map(announcementOf))
      }
      if (ended.length > 0) await tellOfEnds(inside, ended)
    },
  })
  const execution = createExecution({ ...deps, flights, watch })
  const accepting = createAccepting({ ...deps, flights, presence })
  const working = createWorking({ ...deps, presence, execution, unanswered, watch })

  async function get(caller: Caller, id: Id<'run'>): Promise<Run> {
    const run = await store.findOf(askerOf(caller), id)
    if (run === null) throw runMissing()
    return run
  }

  /**
   * A queued run is claimed first, as a worker does: from then on no worker can begin it. Under a name of its own: a
   * worker of this very process must not believe the claim to be its own. Null where somebody is at it already.
   */
  async function cancelQueued(run: Run): Promise<Run | null> {
    const process = await canceling.announce()
    if (run.state !== 'queued' && run.process !== process) return null
    const end = (claimed: Run): Promise<Run> =>
      execution.giveBack(claimed, unpaid('canceled', FAILURES.canceled, durationOf(run, clock.now()), false))
    const resolve = async (claimed: Run): Promise<void> => {
      await end(claimed)
    }
    return await unanswered.track({ id: run.id, process, resolve }, async () => {
      const claimed = await store.claim(run.id, process, clock.now())
      return claimed === null ? null : await end(claimed)
    })
  }

  return {
    /** Runs it and answers when it has ended; a repeated act waits for the first one's end. */
    async run(
      caller: Caller,
      ask: RunAsk,
      operation: Id<'op'>,
      keyed: boolean,
      enter: Enter | null = null,
    ): Promise<Run> {
      const process = await presence.announce()
      const claim = { id: deriveId('run', operation), process, resolve: working.giveUp }
      const run = await unanswered.track(claim, async () => {
        const accepted = await accepting.accept(caller, ask, operation, { keyed, enter })
        return 'order' in accepted ? await execution.execute(accepted.order).finally(accepted.leave) : accepted.run
      })
      if (hasEnded(run.state)) return run
      // Begun by this process, which was not told that it had: nobody is at it.
      if (run.process === process) await working.work(run.id, new AbortController().signal)
      else await watch.ended(run.id)
      return await get(caller, run.id)
    },

    /** Accepts it for a worker to run. */
    async queue(caller: Caller, ask: RunAsk, operation: Id<'op'>, keyed: boolean): Promise<RunSummary | NewRun> {
      const accepted = await accepting.accept(caller, { ...ask, waits: true }, operation, { keyed })
      return 'order' in accepted ? accepted.order.run : accepted.run
    },

    /** Once a person approved it; whatever refuses it now, it was asked for and is not. */
    async resume({ caller, ask, operation }: Resumption): Promise<void> {
      try {
        await accepting.accept(caller, ask, operation, { keyed: true })
      } catch (error) {
        // A full queue or a used-up minute passes: the job is tried again until the approval lapses.
        const passes = error instanceof DomainError && PASSING.has(error.kind)
        if (!(error instanceof DomainError) || passes) throw error
        log.info({ operation, reason: error.code }, 'an approved run was refused')
      }
    },

    /** What a run would cost at most, as it would be asked for now. */
    price: (caller: Caller, ask: RunAsk) => accepting.price(caller, ask),
    find: (caller: Caller, id: Id<'run'>) => store.findOf(askerOf(caller), id),
    get,
    list: (caller: Caller, filter: RunFilter) => store.list(askerOf(caller), filter),
    /** What customers ran of the caller's own asset, without who they are and what they asked. */
    async ofCustomers(caller: Caller, identifier: string, filter: Omit<RunFilter, 'rda'>) {
      const { id } = await deps.assets.own(caller, identifier)
      return await store.listOfCustomers(ownerOf(caller), id, filter)
    },
    days: (caller: Caller, since: Date) => store.days(ownerOf(caller), since),

    /**
     * Gives the money back as long as nothing was sent to the asset. After that the run may have had an effect: it goes
     * on, is charged if it succeeds, and is answered as it is. Canceling twice is canceling once.
     */
    async cancel(caller: Caller, id: Id<'run'>): Promise<Run> {
      const run = await get(caller, id)
      if (run.state === 'canceled') return run
      if (hasEnded(run.state)) throw runEnded(run.state)
      const ended = (await cancelQueued(run)) ?? (await execution.recall(id)) ?? (await get(caller, id))
      if (ended.state !== 'canceled' && hasEnded(ended.state)) throw runEnded(ended.state)
      return ended
    },

    /** Its states from now on, as they come; ends with the run. */
    states: (caller: Caller, id: Id<'run'>, gone: AbortSignal) => statesOf(watch, () => get(caller, id), id, gone),

    /** What a worker does with the announcement of a queued run. */
    work: (id: Id<'run'>, signal: AbortSignal) => working.work(id, signal),
    /** Looks at the runs that became this process's without its knowing; each of its heartbeats does. */
    resolveUnanswered: () => unanswered.resolve(),
    ...createSweeping({ ...deps, execution }),

    /** What runs here is ended unpaid; from then on this process is not at anything. */
    async stop(): Promise<void> {
      await execution.stop()
      watch.close()
      await presence.leave()
      await canceling.leave()
    },
  }
}

async function* statesOf(watch: Watch, get: () => Promise<Run>, id: Id<'run'>, gone: AbortSignal): AsyncGenerator<Run> {
  const news: RunState[] = []
  let ring: () => void = () => undefined
  const unwatch = watch.watch(id, (state) => {
    news.push(state)
    ring()
  })
  const stop = (): void => ring()
  gone.addEventListener('abort', stop)
  try {
    let last = await get()
    yield last
    while (!hasEnded(last.state) && !gone.aborted) {
      if (news.length === 0) {
        await new Promise<void>((resolve) => {
          ring = resolve
        })
      }
      if (gone.aborted) return
      news.length = 0
      const run = await get()
      if (run.state !== last.state) yield run
      last = run
    }
  } finally {
    unwatch()
    gone.removeEventListener('abort', stop)
  }
}

export type Runs = ReturnType<typeof createRuns>

export interface RunsDeps {
  store: RunStore
  assets: AssetsForRuns
  models: Models
  executors: Readonly<Record<AssetType, Executor>>
  throttle: Throttle
  ledger: Ledger
  /** The way to the ledger for whoever may be an agent. */
  locks: Pick<Guard, 'actTogether'>
  clock: Clock
  log: Log
  heartbeat(process: string): Heartbeat
  /** For an address that the caller wants to be told at: throws what is wrong with it. */
  checkAddress(url: string): Promise<void>
  announce(inside: Statements, announcements: readonly Announcement[]): Promise<void>
  /** Writes what others are to be told of these ends, in their transaction. */
  tellOfEnds(inside: Statements, ended: readonly EndedRun[]): Promise<void>
  /** The platform's part of what is left to the creator, in hundredths of a percent. */
  feeBps: number
  /** How many background runs of an account may wait. */
  waitingMax: number
  freeRuns: FreeRuns
  /** Once a day: the creator's bound on free runs is reached, or that of one asset. */
  tellOfFreeRuns(creator: Owner, asset: Pick<RunnableAsset, 'id' | 'name'> | null, resetsAt: Date): Promise<void>
}

/** Each environment has places of its own. */
export const EXECUTE = {
  production: 'marketplace.execute',
  sandbox: 'marketplace.execute.sandbox',
} as const satisfies Record<Environment, string>

/** It takes its caller's turn, and occupies the creator whose server does the work. */
function announcementOf({ id, environment, userId, ownerId }: NewRun): Announcement {
  const turn = { account: `${environment}/${userId}`, target: `${environment}/${ownerId}` }
  return { topic: EXECUTE[environment], payload: { runId: id }, turn }
}

/** Reasons to try an approved run again. */
const PASSING: ReadonlySet<string> = new Set(['failed', 'unavailable', 'limited'])
