import { chargeFor } from '../../../charging/service.ts'
import { Departure } from '../../../kit/departure.ts'
import { DomainError } from '../../../kit/errors.ts'
import type { Id } from '../../../kit/ids.ts'
import { ZERO, type Usdc } from '../../../kit/money.ts'
import { UnderWay } from '../../../kit/under-way.ts'
import type { Act } from '../../../ledger/model.ts'
import { ExecutionFailed, FAILURES } from '../../errors.ts'
import type { LanguageModel, RunnableAsset } from '../../model/asset.ts'
import { hasEnded, type Ending, type Failure, type Run } from '../../model/run.ts'
import type { BilledUsage, EndedRun, Executed, NewRun } from '../../ports/run.ts'
import { bill, modelCost, type Terms } from '../../rules/price.ts'
import { keepable, limitOf, unpaid } from '../../rules/run.ts'
import type { RunCharges, RunsDeps } from './deps.ts'
import type { Watch } from './watch.ts'

/** Executes runs whose money is held, and ends them: captured with an output, or released without. */
export function createExecution(deps: ExecutionDeps) {
  const { charges, executors, watch, store, clock, log, feeBps } = deps
  const underWay = new UnderWay<Id<'run'>, Run>()
  /** Begun here and not known to have ended: never begun again. */
  const begun = new Set<Id<'run'>>()

  async function execute(order: Order, stop?: AbortSignal): Promise<Run> {
    const { run, asset } = order
    // A request and its repetition at the same moment: it is begun once.
    const already = underWay.endOf(run.id)
    if (already !== null) return await already
    const departure = new Departure()
    const signal = AbortSignal.any([departure.signal, ...(stop === undefined ? [] : [stop])])
    const end = underWay.follow(run.id, departure, () => finish(order, signal, departure))
    const limit = setTimeout(() => {
      departure.end(new ExecutionFailed(FAILURES.timeout.code, FAILURES.timeout.sentence))
    }, limitOf(asset))
    const unwatch = watch.watch(run.id, (state) => {
      if (hasEnded(state)) departure.end(GIVEN_UP)
    })
    try {
      return await end
    } finally {
      clearTimeout(limit)
      unwatch()
    }
  }

  async function finish(order: Order, signal: AbortSignal, departure: Departure): Promise<Run> {
    const { run, asset, model } = order
    const { id: runId, subject, payerId, inputs } = run
    let used: BilledUsage | null = null
    const onBilled = (reader: BilledUsage | null): void => {
      used = reader
    }
    const modelCostSoFar = async (): Promise<Usdc> => modelCost(model, (await used?.()) ?? null)
    begun.add(runId)
    const ended = await chargeFor<Executed, Run>({
      signal,
      work: () =>
        executors[asset.type].execute({ runId, subject, payerId, asset, inputs, model, departure, onBilled }, signal),
      capture: (executed, durationMs) => capture(order, executed, durationMs),
      release: async (error, durationMs) => {
        const failed = failureOf(deps, order, error, signal)
        const released = await release(order, failed, durationMs, await modelCostSoFar())
        // A call that was sent has used up one of those that the creator's server takes, also where it failed.
        if (!departure.left) await order.giveBack?.()
        return released
      },
    })
    begun.delete(runId)
    return ended
  }

  async function release(order: Order, { failure, counts }: Failed, durationMs: number, billed: Usdc): Promise<Run> {
    const { run } = order
    if (failure === FAILURES.stopping && (await order.handOn?.()) === true) {
      return { ...run, ...NOT_ENDED, state: 'queued', process: null, startedAt: null }
    }
    const state = failure === FAILURES.canceled ? 'canceled' : 'failed'
    return await giveBack(run, { ...unpaid(state, failure, durationMs, counts), modelCost: billed })
  }

  async function capture(order: Order, { usage, output }: Executed, durationMs: number): Promise<Run> {
    const { run } = order
    const { charged, cost, share } = bill(termsOf(order), run.locked, { usage, durationMs }, feeBps)
    const billed = modelCost(order.model, usage)
    const act = {
      ...holdOf(run),
      amount: charged,
      shares: share > 0n ? [{ to: { userId: run.ownerId }, amount: share }] : [],
      kind: 'capture' as const,
      reference: run.id,
      announcements: [],
    }
    const paid = { cost, usage, output: keepable(output), failure: null, durationMs, counts: true, modelCost: billed }
    try {
      return await close(run, { state: 'succeeded', ...paid }, { capture: act })
    } catch (error) {
      if (!(error instanceof DomainError)) throw error
      // A charge that the ledger refuses is our mistake: the caller gets no output and pays nothing.
      log.error({ runId: run.id, err: error }, 'a run could not be charged and was ended as failed')
      return await giveBack(run, { ...unpaid('failed', FAILURES.internal, durationMs, false), modelCost: billed })
    }
  }

  function giveBack(run: Run | NewRun, ending: Ending): Promise<Run> {
    return close(run, ending, { release: { ...holdOf(run), announcements: [] } })
  }

  /** Ends the run and answers its row as it is then, also where another process ended it. */
  async function close(run: Run | NewRun, ending: Ending, act: Act): Promise<Run> {
    const ended: EndedRun = { ...ending, id: run.id, run, endedAt: clock.now() }
    // Where the hold ended first, no output is given out. A row that was written at that moment stays as it is.
    const { durationMs, counts, modelCost: billed } = ending
    const late = { ...ended, ...unpaid('failed', FAILURES.late, durationMs, counts), modelCost: billed }
    const { row, isNew } = await charges.end({ act, row: ended, late })
    if (isNew) watch.notify(run.id, row.state)
    if (isNew && row === ended) return { ...run, ...ending, endedAt: ended.endedAt }
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
    recall: (id: Id<'run'>): Promise<Run> | null => underWay.recall(id, GIVEN_UP),

    /** Its end, where this process executes it. */
    endOf: (id: Id<'run'>): Promise<Run> | null => underWay.endOf(id),
    /** Whether it was ever begun here without having ended. */
    hasBegun: (id: Id<'run'>): boolean => begun.has(id),

    /** What still runs here is ended unpaid. */
    stop: (): Promise<void> => underWay.stop(STOPPING),
  }
}

/** Why a run has no output, and whether that counts against its asset. */
function failureOf({ log }: RunsDeps, { run, asset }: Order, error: unknown, { aborted }: AbortSignal): Failed {
  if (error instanceof ExecutionFailed) {
    log.info({ runId: run.id, rdaId: asset.id, err: error.cause, failure: error.failure }, 'a run failed')
    const { code, sentence, forCreator = sentence } = error.failure
    // A creator who runs their own asset sees all of it.
    return { failure: run.userId === run.ownerId ? { code, sentence: forCreator } : error.failure, counts: true }
  }
  if (error === GIVEN_UP) return { failure: FAILURES.canceled, counts: false }
  if (aborted) return { failure: FAILURES.stopping, counts: false }
  log.error({ runId: run.id, rdaId: asset.id, err: error }, 'a run failed because of an internal error')
  return { failure: FAILURES.internal, counts: false }
}

export type Execution = ReturnType<typeof createExecution>

interface ExecutionDeps extends RunsDeps {
  charges: RunCharges
  watch: Watch
}

/** A run with all that executing and charging it takes. */
export interface Order {
  run: Run | NewRun
  asset: RunnableAsset
  model: LanguageModel | null
  /** Gives it to another process instead of ending it, where nothing outside has been touched by it. */
  handOn?: () => Promise<boolean>
  /** Gives its call back, where the creator's server did not get it. */
  giveBack?: () => Promise<void>
}

const NOT_ENDED = { cost: ZERO, usage: null, output: null, failure: null, endedAt: null, durationMs: null } as const

type Failed = Pick<Ending, 'counts'> & { failure: Failure }

function holdOf(run: Run | NewRun) {
  return { hold: run.id, owner: { userId: run.payerId, environment: run.environment } }
}

const GIVEN_UP = new Error('another process ended the run')
const STOPPING = new Error('the process is stopping')

function termsOf({ asset, model }: Order): Terms {
  return { pricing: asset.content.pricing, model, limitMs: limitOf(asset) }
}
