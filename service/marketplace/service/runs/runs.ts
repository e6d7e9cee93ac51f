import { ChargeBatch } from '../../../charging/service.ts'
import { ownerOf, type Caller } from '../../../kit/caller.ts'
import { DomainError } from '../../../kit/errors.ts'
import { deriveId, type Id } from '../../../kit/ids.ts'
import type { Usdc } from '../../../kit/money.ts'
import type { Statements } from '../../../kit/transaction.ts'
import { FAILURES, runEnded, runMissing } from '../../errors.ts'
import { hasEnded, type Buyers, type Run, type RunInput, type RunState, type RunSummary } from '../../model/run.ts'
import type { EndedRun, NewRun, RunFilter } from '../../ports/run.ts'
import { amountOf, shareOf } from '../../rules/price.ts'
import { durationOf, limitOf, purchaseOf, unpaid } from '../../rules/run.ts'
import { createAccepting, type RunRequest } from './accept.ts'
import { announcementOf, readerOf, type RunCharges, type RunsDeps } from './deps.ts'
import { createExecution, type Execution } from './execution.ts'
import { createHeartbeat } from './heartbeat.ts'
import type { Resumption } from './resumption.ts'
import { createUnanswered } from './unanswered.ts'
import { createWatch, type Watch } from './watch.ts'
import { createWorking } from './work.ts'

/** Runs assets: holds the money, does the work, and captures or releases the hold. */
export function createRuns(deps: RunsDeps) {
  const { store, clock, log } = deps
  const watch = createWatch(deps)
  const unanswered = createUnanswered(deps)
  const onBeat = (): Promise<void> => unanswered.resolve()
  const heartbeat = createHeartbeat({ ...deps, onBeat })
  const canceling = createHeartbeat({ ...deps, onBeat })
  const charges: RunCharges = new ChargeBatch({
    guard: deps.guard,
    write: (inside, rows) => writeRows(deps, inside, rows),
    isAlone: (row) => isCounted(deps, row),
  })
  const execution = createExecution({ ...deps, charges, watch })
  const accepting = createAccepting({ ...deps, charges, heartbeat })
  const working = createWorking({ ...deps, heartbeat, execution, unanswered, watch })

  async function get(caller: Caller, id: Id<'run'>): Promise<Run> {
    const run = await store.findOf(readerOf(caller), id)
    if (run === null) throw runMissing()
    return run
  }

  /**
   * A queued run is claimed first, as a worker does: from then on no worker can begin it. Under a name of its own: a
   * worker of this same process must not take the claim for its own. Null where it is executed already.
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
    /** Runs it and answers when it has ended; a repeated request waits for the first one's end. */
    async run(caller: Caller, input: RunInput, request: RunRequest): Promise<Run> {
      const process = await heartbeat.announce()
      const claim = { id: deriveId('run', request.operation), process, resolve: working.giveUp }
      const run = await unanswered.track(claim, async () => {
        const accepted = await accepting.accept(caller, input, request)
        return 'order' in accepted ? await execution.execute(accepted.order).finally(accepted.leave) : accepted.run
      })
      if (hasEnded(run.state)) return run
      // Begun by this process, which does not know that it did: nothing executes it yet.
      if (run.process === process) await working.work(run.id, new AbortController().signal)
      const now = await get(caller, run.id)
      if (hasEnded(now.state)) return now
      await watch.ended(run.id)
      return await get(caller, run.id)
    },

    /** Accepts it for a worker to run. */
    async queue(caller: Caller, input: RunInput, request: RunRequest): Promise<RunSummary | NewRun> {
      const accepted = await accepting.accept(caller, { ...input, background: true }, request)
      return 'order' in accepted ? accepted.order.run : accepted.run
    },

    /** Starts a run that a person approved. A refusal that will not pass ends it. */
    async resume({ caller, input, operation }: Resumption): Promise<void> {
      try {
        await accepting.accept(caller, input, { operation, keyed: true })
      } catch (error) {
        // A full queue passes: the job is tried again until the approval lapses.
        const passes = error instanceof DomainError && PASSING.has(error.kind)
        if (!(error instanceof DomainError) || passes) throw error
        log.info({ operation, reason: error.code }, 'an approved run was refused')
      }
    },

    /** The creator's part, where a sale pays this much for the run. */
    shareOf: (run: Run, amount: Usdc) => shareOfRun(deps, run, amount),
    /** What a run came to whose sale pays for it. */
    usedBy: (run: Run) => usedBy(deps, run),

    /** What this run would cost at most now. */
    price: accepting.price,
    guestPrice: accepting.guestPrice,
    find: (caller: Caller, id: Id<'run'>) => store.findOf(readerOf(caller), id),
    get,
    list: (caller: Caller, filter: RunFilter) => store.list(readerOf(caller), filter),
    /** What customers ran of the caller's own asset, without who they are. */
    async ofCustomers(caller: Caller, identifier: string, filter: Omit<RunFilter, 'rda'>) {
      const { id } = await deps.assets.own(caller, identifier)
      return await store.listOfCustomers(ownerOf(caller), id, filter)
    },
    async buyersOf(caller: Caller, identifier: string): Promise<Buyers> {
      const { id } = await deps.assets.own(caller, identifier)
      return await store.buyersOf(ownerOf(caller), id, BUYERS_OF_MAX)
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
    work: working.work,
    /** Resolves the runs that this process may have claimed without knowing it; each of its heartbeats does. */
    resolveUnanswered: unanswered.resolve,

    /** Ends runs that are past their deadline or whose process is gone; answers how many it ended. */
    sweepLost: (now: Date = clock.now()) => sweepLost(deps, execution, now),

    async foldStats(): Promise<void> {
      await store.foldStats()
    },

    /** Ends unpaid what runs here; from then on this process executes nothing. */
    async stop(): Promise<void> {
      await execution.stop()
      watch.close()
      await heartbeat.leave()
      await canceling.leave()
    },
  }
}

/** Writes runs that begin and end, and what follows from those that it changed. */
async function writeRows(
  deps: RunsDeps,
  inside: Statements,
  rows: readonly (NewRun | EndedRun)[],
): Promise<ReadonlySet<string>> {
  const all = partsOf(rows)
  const written = await deps.store.write(inside, all.begun, all.ended)
  const { begun, ended } = partsOf(rows.filter(({ id }) => written.has(id)))
  const queued = begun.filter(({ state }) => state === 'queued')
  if (queued.length > 0)
    await deps.announce(
      inside,
      queued.map((run) => announcementOf(run)),
    )
  if (ended.length > 0) await deps.reportEnds(inside, ended)
  await deps.unpaidCosts.count(inside, ended)
  // Last: from here on no other account is locked.
  for (const run of begun.filter((row) => isCounted(deps, row))) {
    const { id, payerId: userId, environment } = run
    await deps.outflow.takePurchase({ id, buyer: { userId, environment }, amount: purchaseOf(run) }, inside)
  }
  for (const { id, cost } of ended.filter((row) => isCounted(deps, row))) await deps.outflow.giveBack(id, inside, cost)
  return written
}

function partsOf(rows: readonly (NewRun | EndedRun)[]): { begun: readonly NewRun[]; ended: readonly EndedRun[] } {
  return { begun: rows.flatMap((row) => ('run' in row ? [] : [row])), ended: rows.filter((row) => 'run' in row) }
}

/** Whether it counts as money that leaves. The counter's refusal undoes all that is in its transaction. */
function isCounted({ outflow }: RunsDeps, row: NewRun | EndedRun): boolean {
  return outflow.countsPurchase(purchaseOf('run' in row ? row.run : row))
}

function shareOfRun({ models, feeBps }: RunsDeps, { environment, modelId, usage }: Run, amount: Usdc): Usdc {
  const model = modelId === null ? null : models.find(environment, modelId)
  return shareOf(amount, { model, usage }, feeBps)
}

async function usedBy({ assets, models }: RunsDeps, run: Run): Promise<Usdc> {
  const { environment, rdaId, rdaVersion, modelId, usage, durationMs } = run
  const asset = await assets.version(rdaId, rdaVersion)
  if (asset === null || durationMs === null) throw runMissing()
  const model = modelId === null ? null : models.find(environment, modelId)
  return amountOf({ pricing: asset.content.pricing, model, limitMs: limitOf(asset) }, { usage, durationMs })
}

async function sweepLost({ store, log }: RunsDeps, execution: Execution, now: Date): Promise<number> {
  let swept = 0
  for (;;) {
    const lost = await store.lost(now, SWEEP_BATCH)
    const ends = await Promise.allSettled(
      lost.map((run) => {
        const why = run.deadline <= now ? FAILURES.late : FAILURES.lost
        return execution.giveBack(run, unpaid('failed', why, durationOf(run, now), false))
      }),
    )
    for (const end of ends) {
      if (end.status === 'rejected') log.error({ err: end.reason as unknown }, 'an abandoned run could not be ended')
    }
    const ended = ends.filter(({ status }) => status === 'fulfilled').length
    swept += ended
    // What could not be ended is tried again at the next turn, not at once.
    if (ended === SWEEP_BATCH) continue
    if (swept > 0) log.warn({ swept }, 'abandoned runs were ended without a charge')
    return swept
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

const SWEEP_BATCH = 200

/** Reasons to try an approved run again. */
const PASSING: ReadonlySet<string> = new Set(['failed', 'unavailable', 'limited'])

/** Counted from so many of the newest runs, so that a page costs the same however many there are. */
const BUYERS_OF_MAX = 10_000
