import { ownerOf, type Caller } from '../../../identity/model.ts'
import type { Clock } from '../../../kit/clock.ts'
import { DomainError, invalid } from '../../../kit/errors.ts'
import { readInput } from '../../../kit/fields.ts'
import { idLike, type Id } from '../../../kit/ids.ts'
import type { Ledger } from '../../../ledger/service.ts'
import type { Spender } from '../../../spending/model.ts'
import { requestHash } from '../../../spending/service/request.ts'
import { creatorCannotPay, rateReached, tooDear } from '../../errors/run.ts'
import type { RunnableAsset } from '../../model/asset.ts'
import type { LanguageModel } from '../../model/language-model.ts'
import type { Run, RunAsk } from '../../model/run.ts'
import type { AssetsForRuns } from '../../ports/asset.ts'
import type { Models, NewRun, RunStore, Throttle } from '../../ports/run.ts'
import { quote } from '../../rules/price.ts'
import { deadlineOf, limitOf } from '../../rules/run.ts'
import { promptOf } from '../executors/prompt.ts'
import { askerOf } from './asker.ts'
import type { Order } from './execution.ts'
import type { Flights } from './flight.ts'
import type { Presence } from './presence.ts'
import { resumption } from './resumption.ts'

/** Everything between an ask and a run whose money is locked. Whatever is refused here has moved nothing. */
export function createAccepting(parts: AcceptingParts) {
  const { store, assets, models, throttle, ledger, flights, presence, clock } = parts

  async function accept(caller: Caller, ask: RunAsk, operation: Id<'op'>, keyed: boolean): Promise<Accepted> {
    const id = idLike('run', operation)
    if (keyed) {
      const before = await store.findOf(askerOf(caller), id)
      if (before !== null) return { run: before }
    }
    const order = await prepare(caller, ask, id)
    const { asset, run } = order
    const limit = asset.content.config.type === 'tool' ? asset.content.config.rateLimitPerMinute : null
    if (limit !== null) {
      const waitSeconds = await throttle.take(asset.id, limit)
      if (waitSeconds !== null) throw rateReached(waitSeconds)
    }
    try {
      const { written } = await flights.begin(
        { reserve: { ...reserveOf(run), spender: spenderOf(caller, ask, run, operation) } },
        run,
      )
      if (written) return { order }
    } catch (error) {
      if (limit !== null) await throttle.giveBack(asset.id)
      if (run.payerId !== run.userId && isUnaffordable(error)) throw creatorCannotPay(error)
      throw error
    }
    const before = await store.findOf(askerOf(caller), id)
    if (before === null) throw new Error(`the run ${id} was neither written nor there`)
    return { run: before }
  }

  async function prepare(caller: Caller, ask: RunAsk, id: Id<'run'>): Promise<OwnOrder> {
    const asset = await assets.forRun(ask.identifier, caller)
    const owner = ownerOf(caller)
    const faults: Record<string, string> = {}
    const input = readInput(asset.content.inputs, ask.inputs)
    if ('faults' in input) Object.assign(faults, input.faults)
    const model = modelOf(asset, ask.modelId)
    if (typeof model === 'string') faults['modelId'] = model
    if (ask.webhookUrl !== null) {
      const fault = await faultOfAddress(ask.webhookUrl)
      if (fault !== null) faults['webhookUrl'] = fault
    }
    if (Object.keys(faults).length > 0 || 'faults' in input || typeof model === 'string') throw invalid(faults)

    const limitMs = limitOf(asset)
    const promptTokens = await tokensOf(asset, input.values)
    const quoted = quote({ pricing: asset.content.pricing, model, limitMs }, promptTokens)
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
      inputs: input.values,
      webhookUrl: ask.webhookUrl,
      deadline: deadlineOf(limitMs, ask.waits, now),
      createdAt: now,
      startedAt: ask.waits ? null : now,
      process: ask.waits ? null : await presence.announce(),
    }
    return { run, asset, model }
  }

  function modelOf(asset: RunnableAsset, modelId: string | null): LanguageModel | string | null {
    const { config } = asset.content
    if (config.type !== 'prompt') return modelId === null ? null : 'is for prompts only'
    const id = modelId ?? config.defaultModelId
    const model = config.allowedModels.includes(id) ? models.find(asset.environment, id) : null
    return model ?? `must be one of ${config.allowedModels.join(', ')}`
  }

  async function tokensOf(asset: RunnableAsset, values: Readonly<Record<string, unknown>>): Promise<number> {
    const { config } = asset.content
    if (config.type !== 'prompt') return 0
    const { system, prompt } = promptOf(config, values)
    return (await models.countTokens(prompt)) + (system === null ? 0 : await models.countTokens(system))
  }

  async function faultOfAddress(url: string): Promise<string | null> {
    try {
      await parts.checkAddress(url)
      return null
    } catch (error) {
      if (error instanceof DomainError && error.kind === 'invalid') return error.message
      throw error
    }
  }

  return { accept }
}

export interface AcceptingParts {
  store: RunStore
  assets: AssetsForRuns
  models: Models
  throttle: Throttle
  ledger: Ledger
  flights: Flights
  presence: Presence
  clock: Clock
  checkAddress(url: string): Promise<void>
}

/** A run of one's own to execute, or one that this very act has begun before. */
type Accepted = { order: OwnOrder } | { run: Run }
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
  const { modelId, webhookUrl, maxCost, waits } = ask
  const spender: Spender = {
    agentId: caller.agentId,
    kind: 'run',
    target: run.rdaSlug,
    alias: run.rdaId,
    requestHash: requestHash([run.rdaId, run.inputs, modelId, webhookUrl, maxCost]),
  }
  return waits ? { ...spender, onApproved: resumption(caller, ask, operation) } : spender
}

function isUnaffordable(error: unknown): boolean {
  return error instanceof DomainError && error.kind === 'unaffordable'
}
