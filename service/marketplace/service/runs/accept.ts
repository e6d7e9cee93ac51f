import { ownerOf, type Caller } from '../../../kit/caller.ts'
import { DomainError, invalid } from '../../../kit/errors.ts'
import { readInput } from '../../../kit/fields.ts'
import { canonicalHash } from '../../../kit/hash.ts'
import { deriveId, type Id } from '../../../kit/ids.ts'
import { ZERO, type Usdc } from '../../../kit/money.ts'
import { quotaExceeded } from '../../../kit/quota.ts'
import type { Spender } from '../../../budgets/model.ts'
import { unaffordable } from '../../../ledger/errors.ts'
import type { Ledger } from '../../../ledger/service.ts'
import { assetMissing, creatorCannotPay, freeRunsUsedUp, priceChanged, rateReached, tooDear } from '../../errors.ts'
import type { LanguageModel, Pricing, RunnableAsset } from '../../model/asset.ts'
import type { Run, RunInput } from '../../model/run.ts'
import type { AssetsForRuns } from '../../ports/asset.ts'
import type { Models, NewRun } from '../../ports/run.ts'
import { guestPrice, quote } from '../../rules/price.ts'
import { deadlineOf, limitOf, purchaseOf } from '../../rules/run.ts'
import { promptOf } from '../executors/prompt.ts'
import { assertUnpaidCosts, readerOf, takeCall, type RunCharges, type RunsDeps } from './deps.ts'
import type { Order } from './execution.ts'
import type { Heartbeat } from './heartbeat.ts'
import { resumption } from './resumption.ts'

/** Everything between a request and a run whose money is held. A refusal here has moved no money. */
export function createAccepting(deps: AcceptingDeps) {
  const { store, ledger, charges, heartbeat, clock } = deps

  async function accept(caller: Caller, wanted: RunInput, request: RunRequest): Promise<Accepted> {
    const { operation, keyed, enter = null } = request
    const id = deriveId('run', operation)
    if (keyed) {
      const before = await store.findOf(readerOf(caller), id)
      if (before !== null) return { run: before }
    }
    if (wanted.background && (await store.waiting(ownerOf(caller), deps.waitingMax)) >= deps.waitingMax) {
      throw quotaExceeded('runs_waiting', deps.waitingMax, null)
    }
    const order = await prepare(caller, wanted, id)
    const { asset, run, model } = order
    // Only a run that fails gives back what was paid: a refusal would leave the payment without one.
    if (wanted.sold?.paid !== true) await assertUnpaidCosts(deps, run, model)
    // A background run is counted when a worker calls the tool: until then it may be canceled, for nothing.
    const call = wanted.background ? null : await takeCall(deps, run, asset)
    if (call !== null && 'waitSeconds' in call) throw rateReached(call.waitSeconds)
    const freed = run.payerId === run.userId ? null : await takeFree(deps, order)
    let leave: () => void = () => undefined
    const giveBack = async (): Promise<void> => {
      leave()
      await freed?.()
      await call?.giveBack()
    }
    try {
      if (enter !== null) {
        await assertFunds(ledger, run)
        leave = enter()
      }
      const spender = spenderOf(caller, wanted, run, operation)
      const { isNew } = await charges.begin({ act: { reserve: { ...reserveOf(run), spender } }, row: run })
      if (isNew) return { order: { ...order, ...call }, leave }
    } catch (error) {
      await giveBack()
      if (run.payerId !== run.userId && isUnaffordable(error)) throw creatorCannotPay(error)
      throw error
    }
    await giveBack()
    const before = await store.findOf(readerOf(caller), id)
    if (before === null) throw new Error(`the run ${id} was neither written nor there`)
    return { run: before }
  }

  async function prepare(caller: Caller, wanted: RunInput, id: Id<'run'>): Promise<OwnOrder> {
    const owner = ownerOf(caller)
    const { asset, model, inputs, quoted } = await price(deps, caller, wanted)
    if (wanted.maxCost !== null && quoted.price > wanted.maxCost) {
      const wallet = await ledger.wallet(owner)
      throw tooDear(quoted.price, wanted.maxCost, wallet?.funds.available ?? quoted.price)
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
      state: wanted.background ? 'queued' : 'running',
      locked: quoted.lock,
      price: quoted.price,
      modelId: model?.id ?? null,
      inputs,
      // Both have to agree: a creator who begins to ask for inputs has no consent of earlier callers.
      inputsShared: asset.content.sharesInputs === true && wanted.sharesInputs === true,
      webhookUrl: wanted.webhookUrl,
      deadline: deadlineOf(limitOf(asset), wanted.background, now),
      createdAt: now,
      startedAt: wanted.background ? null : now,
      process: wanted.background ? null : await heartbeat.announce(),
    }
    return { run, asset, model }
  }

  return {
    accept,
    price: (caller: Caller, wanted: RunInput) => price(deps, caller, wanted),
    guestPrice: ({ content, environment }: Pick<RunnableAsset, 'content' | 'environment'>): Usdc =>
      guestPrice(content, deps.models.list(environment)),
  }
}

/** What it would cost now; throws what would refuse it. */
async function price(deps: RunsDeps, caller: Caller, wanted: RunInput) {
  const { assets, models } = deps
  const asset = await assetOf(assets, caller, wanted)
  if (wanted.statedPricing !== undefined) assertStated(wanted.statedPricing, asset.content.pricing)
  const faults: Record<string, string> = {}
  const input = readInput(asset.content.inputs, wanted.inputs, { lines: true })
  if ('faults' in input) Object.assign(faults, input.faults)
  const model = modelOf(models, asset, wanted.modelId)
  if (typeof model === 'string') faults['modelId'] = model
  if (wanted.webhookUrl !== null) {
    const fault = await faultOfAddress(deps, wanted.webhookUrl)
    if (fault !== null) faults['webhookUrl'] = fault
  }
  if (Object.keys(faults).length > 0 || 'faults' in input || typeof model === 'string') throw invalid(faults)

  const { values: inputs } = input
  // Its sale pays for it, once it has succeeded.
  if (wanted.sold !== undefined)
    return { asset, model, inputs, quoted: { payer: 'caller', lock: ZERO, price: ZERO } as const }
  const promptTokens = await tokensOf(models, asset, inputs)
  const quoted = quote({ pricing: asset.content.pricing, model, limitMs: limitOf(asset) }, promptTokens)
  return { asset, model, inputs, quoted }
}

async function assetOf(assets: AssetsForRuns, caller: Caller, { identifier, sold }: RunInput): Promise<RunnableAsset> {
  if (sold === undefined) return await assets.forRun(identifier, caller)
  const asset = await assets.version(identifier as Id<'rda'>, sold.version)
  if (asset === null) throw assetMissing()
  return asset
}

/** A bound of the cost could not say it: what a run comes to depends on its input, and an asset may have been free. */
function assertStated(stated: Pricing, { model, amount }: Pricing): void {
  if (stated.model !== model || stated.amount !== amount) throw priceChanged()
}

/** Checked before a place is taken: callers without money would take the places of those who have some. */
async function assertFunds(ledger: Ledger, { payerId, environment, locked }: NewRun): Promise<void> {
  const available = (await ledger.wallet({ userId: payerId, environment }))?.funds.available ?? ZERO
  if (available < locked) throw unaffordable(locked, available)
}

/** A free prompt's creator pays for its model, within a day's bound; answers how to give the place back. */
async function takeFree(deps: RunsDeps, { run, asset }: OwnOrder): Promise<() => Promise<void>> {
  const { payerId, environment, userId, createdAt } = run
  const creator = { userId: payerId, environment }
  const { config } = asset.content
  const perDay = config.type === 'prompt' ? (config.freeRunsPerDay ?? null) : null
  const own = perDay === null ? null : { rda: asset.id, perDay }
  const free = { creator, caller: userId, own }
  const refused = await deps.freeRuns.take(free, createdAt)
  if (refused === null) return () => deps.freeRuns.giveBack(free, createdAt)
  if (refused.first) await deps.reportFreeRuns(creator, own === null ? null : asset, refused.resetsAt)
  throw freeRunsUsedUp(refused.of, refused.resetsAt, createdAt)
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

async function faultOfAddress({ checkAddress }: RunsDeps, url: string): Promise<string | null> {
  try {
    await checkAddress(url)
    return null
  } catch (error) {
    if (error instanceof DomainError && error.kind === 'invalid') return error.message
    throw error
  }
}

interface AcceptingDeps extends RunsDeps {
  charges: RunCharges
  heartbeat: Heartbeat
}

export interface RunRequest {
  operation: Id<'op'>
  /** An earlier request may have begun the operation. */
  keyed: boolean
  /** Takes a place for its execution, held while its money is set aside and until `leave`; throws where there is none. */
  enter?: (() => () => void) | null
}

/** A new run to execute, or the one that this operation began before. */
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

/** Null for a person: limits are for agents. A background run begins by itself once it is approved. */
function spenderOf(caller: Caller, wanted: RunInput, run: NewRun, operation: Id<'op'>): Spender | null {
  if (caller.agentId === null) return null
  const { modelId, webhookUrl, maxCost, background, sharesInputs = false, toolNames = [] } = wanted
  const request = [run.rdaId, run.inputs, modelId, webhookUrl, maxCost]
  const requestHash = canonicalHash(sharesInputs ? [...request, 'shared'] : request).toString('hex')
  const { rdaSlug: target, rdaId: alias } = run
  const paysAccount = purchaseOf(run) > ZERO
  const spender: Spender = { agentId: caller.agentId, kind: 'run', target, alias, toolNames, requestHash, paysAccount }
  return background ? { ...spender, onApproved: resumption(caller, wanted, operation) } : spender
}

function isUnaffordable(error: unknown): boolean {
  return error instanceof DomainError && error.kind === 'unaffordable'
}
