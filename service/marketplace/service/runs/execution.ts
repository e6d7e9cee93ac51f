import { setTimeout as wait } from 'node:timers/promises'
import { Departure } from '../../../kit/departure.ts'
import { DomainError } from '../../../kit/errors.ts'
import type { Id } from '../../../kit/ids.ts'
import { ZERO } from '../../../kit/money.ts'
import type { Act } from '../../../ledger/model.ts'
import { ExecutionFailed, FAILURES } from '../../errors.ts'
import type { LanguageModel, RunnableAsset } from '../../model/asset.ts'
import { hasEnded, type Ending, type Failure, type Run } from '../../model/run.ts'
import type { EndedRun, Executed, NewRun } from '../../ports/run.ts'
import { bill, type Terms } from '../../rules/price.ts'
import { keepable, limitOf, unpaid } from '../../rules/run.ts'
import type { ChargeBatch } from './charge-batch.ts'
import type { RunsDeps } from './deps.ts'
import type { Watch } from './watch.ts'

/** Executes runs whose money is held, and ends them: captured with an output, or released without. */
export function createExecution(deps: ExecutionDeps) {
  const { chargeBatch, watch, store, clock, log, feeBps } = deps
  const running = new Map<Id<'run'>, { controller: AbortController; departure: Departure; end: Promise<Run> }>()
  /** Begun here and not known to have ended: never begun again. */
  const begun = new Set<Id<'run'>>()

  async function execute(order: Order, stop?: AbortSignal): Promise<Run> {
    const { run, asset } = order
    // A request and its repetition at the same moment: it is begun once.
    const already = running.get(run.id)
    if (already !== undefined) return await already.end
    const controller = new AbortController()
    const departure = new Departure()
    const signal = AbortSignal.any([controller.signal, ...(stop === undefined ? [] : [stop])])
    const end = finish(order, signal, departure)
    running.set(run.id, { controller, departure, end })
    const limit = setTimeout(() => {
      controller.abort(new ExecutionFailed(FAILURES.timeout.code, FAILURES.timeout.sentence))
    }, limitOf(asset))
    const unwatch = watch.watch(run.id, (state) => {
      if (hasEnded(state)) controller.abort(GIVEN_UP)
    })
    try {
      return await end
    } finally {
      clearTimeout(limit)
      unwatch()
      running.delete(run.id)
    }
  }

  async function finish(order: Order, signal: AbortSignal, departure: Departure): Promise<Run> {
    begun.add(order.run.id)
    const ended = await workAndClose(order, signal, departure)
    begun.delete(order.run.id)
    return ended
  }

  async function workAndClose(order: Order, signal: AbortSignal, departure: Departure): Promise<Run> {
    const { run } = order
    const started = performance.now()
    const outcome = await attempt(deps, order, signal, departure)
    const durationMs = Math.round(performance.now() - started)
    if ('failure' in outcome) {
      const { failure, counts } = outcome
      if (failure === FAILURES.stopping && (await order.handOn?.()) === true) {
        return { ...run, ...NOT_ENDED, state: 'queued', process: null, startedAt: null }
      }
      const state = failure === FAILURES.canceled ? 'canceled' : 'failed'
      return await giveBack(run, unpaid(state, failure, durationMs, counts))
    }
    const { executed } = outcome
    const { charged, cost, share } = bill(termsOf(order), run.locked, { usage: executed.usage, durationMs }, feeBps)
    const capture = {
      ...holdOf(run),
      amount: charged,
      shares: share > 0n ? [{ to: { userId: run.ownerId }, amount: share }] : [],
      kind: 'capture' as const,
      reference: run.id,
      announcements: [],
    }
    const output = keepable(executed.output)
    try {
      return await close(
        run,
        { state: 'succeeded', cost, usage: executed.usage, output, failure: null, durationMs, counts: true },
        { capture },
      )
    } catch (error) {
      if (!(error instanceof DomainError)) throw error
      // A charge that the ledger refuses is our mistake: the caller gets no output and pays nothing.
      log.error({ runId: run.id, err: error }, 'a run could not be charged and was ended as failed')
      return await giveBack(run, unpaid('failed', FAILURES.internal, durationMs, false))
    }
  }

  function giveBack(run: Run | NewRun, ending: Ending): Promise<Run> {
    return close(run, ending, { release: { ...holdOf(run), announcements: [] } })
  }

  /** Ends the run and answers its row as it is then, also where another process ended it. */
  async function close(run: Run | NewRun, ending: Ending, act: Act): Promise<Run> {
    const ended: EndedRun = { ...ending, id: run.id, run, endedAt: clock.now() }
    const { written, state } = await persisting(() => chargeBatch.end(act, ended))
    if (written) watch.notify(run.id, state)
    if (written && state === ending.state) return { ...run, ...ending, endedAt: ended.endedAt }
    const found = await store.find(run.id)
    if (found === null) throw new Error(`the run ${run.id} has no row`)
    return found
  }

  return {
    execute,
    /** Ends it without a charge; answers its row as it is then. */
    giveBack,

    /**
     * Ends it unpaid where this process executes it and its request has not left yet; answers its end then. Null where
     * that is too late, or another process executes it.
     */
    recall(id: Id<'run'>): Promise<Run> | null {
      const one = running.get(id)
      if (one?.departure.recall(GIVEN_UP) !== true) return null
      one.controller.abort(GIVEN_UP)
      return one.end
    },

    /** Its end, where this process executes it. */
    endOf: (id: Id<'run'>): Promise<Run> | null => running.get(id)?.end ?? null,
    /** Whether it was ever begun here without having ended. */
    hasBegun: (id: Id<'run'>): boolean => begun.has(id),

    /** What still runs here is ended unpaid. */
    async stop(): Promise<void> {
      for (const { controller } of running.values()) controller.abort(STOPPING)
      await Promise.allSettled([...running.values()].map(({ end }) => end))
    },
  }
}

async function attempt(
  { executors, log }: RunsDeps,
  order: Order,
  signal: AbortSignal,
  departure: Departure,
): Promise<Attempted> {
  const { run, asset, model } = order
  try {
    const { id: runId, subject, inputs } = run
    const work = { runId, subject, asset, inputs, model, departure }
    const executed = await orAborted(executors[asset.type].execute(work, signal), signal)
    signal.throwIfAborted()
    return { executed }
  } catch (thrown) {
    // An executor that heeds the signal throws an error of its own; the signal's reason says more.
    const error: unknown = signal.aborted ? signal.reason : thrown
    if (error instanceof ExecutionFailed) {
      log.info({ runId: run.id, rdaId: asset.id, err: error.cause, failure: error.failure }, 'a run failed')
      return { failure: error.failure, counts: true }
    }
    if (error === GIVEN_UP) return { failure: FAILURES.canceled, counts: false }
    if (signal.aborted) return { failure: FAILURES.stopping, counts: false }
    log.error({ runId: run.id, rdaId: asset.id, err: error }, 'a run failed because of an internal error')
    return { failure: FAILURES.internal, counts: false }
  }
}

export type Execution = ReturnType<typeof createExecution>

interface ExecutionDeps extends RunsDeps {
  chargeBatch: ChargeBatch
  watch: Watch
}

/** A run with all that executing and charging it takes. */
export interface Order {
  run: Run | NewRun
  asset: RunnableAsset
  model: LanguageModel | null
  /** Gives it to another process instead of ending it, where nothing outside has been touched by it. */
  handOn?: () => Promise<boolean>
}

const NOT_ENDED = { cost: ZERO, usage: null, output: null, failure: null, endedAt: null, durationMs: null } as const

type Attempted = { executed: Executed } | { failure: Failure; counts: boolean }

function holdOf(run: Run | NewRun) {
  return { hold: run.id, owner: { userId: run.payerId, environment: run.environment } }
}

const GIVEN_UP = new Error('another process ended the run')
const STOPPING = new Error('the process is stopping')

/** An executor that ignores its signal is left behind, not waited for. */
function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    work.then(resolve, reject)
    const abort = (): void => {
      reject(signal.reason as Error)
    }
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
  })
}

/** A database that is away for a moment must not cost a caller the result. */
async function persisting<T>(work: () => Promise<T>): Promise<T> {
  for (const pauseMs of PAUSES_MS) {
    try {
      return await work()
    } catch (error) {
      if (error instanceof DomainError) throw error
      await wait(pauseMs)
    }
  }
  return await work()
}

const PAUSES_MS = [100, 500, 2_000]

function termsOf({ asset, model }: Order): Terms {
  return { pricing: asset.content.pricing, model, limitMs: limitOf(asset) }
}
