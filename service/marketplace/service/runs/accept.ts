import { ownerOf, type Caller } from '../../../kit/caller.ts'
import type { Clock } from '../../../kit/clock.ts'
import { DomainError, invalid } from '../../../kit/errors.ts'
import { readInput } from '../../../kit/fields.ts'
import { deriveId, type Id } from '../../../kit/ids.ts'
import { ZERO } from '../../../kit/money.ts'
import { quotaExceeded } from '../../../kit/quota.ts'
import { unaffordable } from '../../../ledger/errors.ts'
import type { Owner } from '../../../kit/owner.ts'
import type { Ledger } from '../../../ledger/service.ts'
import type { Spender } from '../../../budgets/model.ts'
import { canonicalHash } from '../../../kit/hash.ts'
import { assetMissing } from '../../errors/asset.ts'
import { creatorCannotPay, freeRunsUsedUp, rateReached, tooDear } from '../../errors/run.ts'
import type { RunnableAsset } from '../../model/asset.ts'
import type { LanguageModel } from '../../model/language-model.ts'
import type { Run, RunAsk } from '../../model/run.ts'
import type { AssetsForRuns } from '../../ports/asset.ts'
import type { FreeRuns, Models, NewRun, RunStore, Throttle } from '../../ports/run.ts'
import { quote } from '../../rules/price.ts'
import { deadlineOf, limitOf } from '../../rules/run.ts'
import { promptOf } from '../executors/prompt.ts'
import { askerOf } from './asker.ts'
import type { Order } from './execution.ts'
import type { Flights } from './flight.ts'
import type { Presence } from './presence.ts'
import { resumption } from './resumption.ts'

/** Everything between an ask and a run whose money is locked. Whatever is refused here has moved nothing. */
export function createAccepting(deps: AcceptingDeps) {
  const { store, throttle, ledger, flights, presence, clock } = deps

  async function accept(
    caller: Caller,
    ask: RunAsk,
    operation: Id<'op'>,
    { keyed, enter = null }: Manner,
  ): Promise<Accepted> {
    const id = deriveId('run', operation)
    if (keyed) {
      const before = await store.findOf(askerOf(caller), id)
      if (before !== null) return { run: before }
    }
    if (ask.waits && (await store.waiting(ownerOf(caller), deps.waitingMax)) >= deps.waitingMax) {
      throw quotaExceeded('runs_waiting', deps.waitingMax, null)
    }
    const order = await prepare(caller, ask, id)
    const { asset, run } = order
    const limit = asset.content.config.type === 'tool' ? asset.content.config.rateLimitPerMinute : null
    if (limit !== null) {
      const waitSeconds = await throttle.take(asset.id, limit)
      if (waitSeconds !== null) throw rateReached(waitSeconds)
    }
    const freed = run.payerId === run.userId ? null : await takeFree(deps, order)
    let leave: () => void = () => undefined
    try {
      if (enter !== null) {
        await assertFunds(ledger, run)
        leave = enter()
      }
      const { written } = await flights.begin(
        { reserve: { ...reserveOf(run), spender: spenderOf(caller, ask, run, operation) } },
        run,
      )
      if (written) return { order, leave }
    } catch (error) {
      leave()
      await freed?.()
      if (limit !== null) await throttle.giveBack(asset.id)
      if (run.payerId !== run.userId && isUnaffordable(error)) throw creatorCannotPay(error)
      throw error
    }
    leave()
    await freed?.()
    const before = await store.findOf(askerOf(caller), id)
    if (before === null) throw new Error(`the run ${id} was neither written nor there`)
    return { run: before }
  }

  async function prepare(caller: Caller, ask: RunAsk, id: Id<'run'>): Promise<OwnOrder> {
    const owner = ownerOf(caller)
    const { asset, model, inputs, quoted } = await price(deps, caller, ask)
    if (ask.maxCost !== null && quoted.price > ask.maxCost) {
      const figures = await ledger.wallet(owner)
      throw tooDear(quoted.price, ask.maxCost, figures?.funds.available ?? quoted.price)
    }
    const now = clock.now()
    const run: NewRun = {
      id,
      environment: owner.environment,
      userId: owner.userId,
      subject: caller.subject,
      agentId: caller.agentId,
      rdaId: asset.id,
      rdaSlug: asset.slug,
      rdaType: asset.type,
      rdaVersion: asset.version,
      ownerId: asset.ownerId,
      payerId: quoted.payer === 'owner' ? asset.ownerId : owner.userId,
      state: ask.waits ? 'queued' : 'running',
      locked: quoted.lock,
      price: quoted.price,
      modelId: model?.id ?? null,
      inputs,
      // Both: what a creator asks for from now on is no word of callers who have not heard of it.
      inputsShared: asset.content.sharesInputs === true && ask.sharesInputs === true,
      webhookUrl: ask.webhookUrl,
      deadline: deadlineOf(limitOf(asset), ask.waits, now),
      createdAt: now,
      startedAt: ask.waits ? null : now,
      process: ask.waits ? null : await presence.announce(),
    }
    return { run, asset, model }
  }

  return { accept, price: (caller: Caller, ask: RunAsk) => price(deps, caller, ask) }
}

/** What it would cost now; throws what would refuse it. */
async function price(deps: AcceptingDeps, caller: Caller, ask: RunAsk) {
  const { assets, models } = deps
  const asset = await assetOf(assets, caller, ask)
  const faults: Record<string, string> = {}
  const input = readInput(asset.content.inputs, ask.inputs, { lines: true })
  if ('faults' in input) Object.assign(faults, input.faults)
  const model = modelOf(models, asset, ask.modelId)
  if (typeof model === 'string') faults['modelId'] = model
  if (ask.webhookUrl !== null) {
    const fault = await faultOfAddress(deps, ask.webhookUrl)
    if (fault !== null) faults['webhookUrl'] = fault
  }
  if (Object.keys(faults).length > 0 || 'faults' in input || typeof model === 'string') throw invalid(faults)

  const { values: inputs } = input
  if (ask.paid !== undefined) {
    const { amount } = ask.paid
    return { asset, model, inputs, quoted: { payer: 'caller', lock: amount, price: amount } as const }
  }
  const promptTokens = await tokensOf(models, asset, inputs)
  const quoted = quote({ pricing: asset.content.pricing, model, limitMs: limitOf(asset) }, promptTokens)
  return { asset, model, inputs, quoted }
}

async function assetOf(assets: AssetsForRuns, caller: Caller, { identifier, paid }: RunAsk): Promise<RunnableAsset> {
  if (paid === undefined) return await assets.forRun(identifier, caller)
  const asset = await assets.version(identifier as Id<'rda'>, paid.version)
  if (asset === null) throw assetMissing()
  return asset
}

/** Looked at before a place is taken: callers without money would take the places of those who have some. */
async function assertFunds(ledger: Ledger, { payerId, environment, locked }: NewRun): Promise<void> {
  const available = (await ledger.wallet({ userId: payerId, environment }))?.funds.available ?? ZERO
  if (available < locked) throw unaffordable(locked, available)
}

/** A free prompt's creator pays for its model, within a day's bound; answers how to give the place back. */
async function takeFree(deps: AcceptingDeps, { run, asset }: OwnOrder): Promise<() => Promise<void>> {
  const { payerId, environment, userId, createdAt } = run
  const creator = { userId: payerId, environment }
  const { config } = asset.content
  const perDay = config.type === 'prompt' ? (config.freeRunsPerDay ?? null) : null
  const own = perDay === null ? null : { rda: asset.id, perDay }
  const free = { creator, caller: userId, own }
  const refused = await deps.freeRuns.take(free, createdAt)
  if (refused === null) return () => deps.freeRuns.giveBack(free, createdAt)
  if (refused.first) await deps.tellOfFreeRuns(creator, own === null ? null : asset, refused.resetsAt)
  throw freeRunsUsedUp(refused.of, refused.resetsAt)
}

function modelOf(models: Models, asset: RunnableAsset, modelId: string | null): LanguageModel | string | null {
  const { config } = asset.content
  if (config.type !== 'prompt') return modelId === null ? null : 'is for prompts only'
  const id = modelId ?? config.defaultModelId
  const model = config.allowedModels.includes(id) ? models.find(asset.environment, id) : null
  return model ?? `must be one of ${config.allowedModels.join(', ')}`
}

async function tokensOf(
  models: Models,
  asset: RunnableAsset,
  values: Readonly<Record<string, unknown>>,
): Promise<number> {
  const { config } = asset.content
  if (config.type !== 'prompt') return 0
  const { system, prompt } = promptOf(config, values)
  return (await models.countTokens(prompt)) + (system === null ? 0 : await models.countTokens(system))
}

async function faultOfAddress({ checkAddress }: AcceptingDeps, url: string): Promise<string | null> {
  try {
    await checkAddress(url)
    return null
  } catch (error) {
    if (error instanceof DomainError && error.kind === 'invalid') return error.message
    throw error
  }
}

export interface AcceptingDeps {
  store: RunStore
  assets: AssetsForRuns
  models: Models
  throttle: Throttle
  ledger: Ledger
  flights: Flights
  presence: Presence
  clock: Clock
  waitingMax: number
  freeRuns: FreeRuns
  /** Once a day: the creator's bound is reached, or that of one asset. */
  tellOfFreeRuns(creator: Owner, asset: Pick<RunnableAsset, 'id' | 'name'> | null, resetsAt: Date): Promise<void>
  checkAddress(url: string): Promise<void>
}

export interface Manner {
  keyed: boolean
  /** Takes a place for its execution, held while its money is set aside and until `leave`; throws where there is none. */
  enter?: Enter | null
}

export type Enter = () => () => void

/** A run of one's own to execute, or one that this very act has begun before. */
type Accepted = { order: OwnOrder; leave: () => void } | { run: Run }
type OwnOrder = Order & { run: NewRun }

function reserveOf(run: NewRun) {
  return {
    id: run.id,
    owner: { userId: run.payerId, environment: run.environment },
    amount: run.locked,
    // Credits are for the platform's own tools: they must not turn into a creator's cash.
    useCredits: false,
    deadline: run.deadline,
    reference: run.id,
  }
}

/** Null for a person, whom no agent's limits bind. A run that nobody waits for begins by itself once it is approved. */
function spenderOf(caller: Caller, ask: RunAsk, run: NewRun, operation: Id<'op'>): Spender | null {
  if (caller.agentId === null) return null
  const { modelId, webhookUrl, maxCost, waits, sharesInputs = false, toolNames = [] } = ask
  const spender: Spender = {
    agentId: caller.agentId,
    kind: 'run',
    target: run.rdaSlug,
    alias: run.rdaId,
    toolNames,
    requestHash: canonicalHash([
      run.rdaId,
      run.inputs,
      modelId,
      webhookUrl,
      maxCost,
      ...(sharesInputs ? ['shared'] : []),
    ]).toString('hex'),
  }
  return waits ? { ...spender, onApproved: resumption(caller, ask, operation) } : spender
}

function isUnaffordable(error: unknown): boolean {
  return error instanceof DomainError && error.kind === 'unaffordable'
}
