import { ownerOf } from '../../kit/caller.ts'
import type { Clock } from '../../kit/clock.ts'
import { Departure } from '../../kit/departure.ts'
import type { Failpoints } from '../../kit/failpoints.ts'
import { deriveId } from '../../kit/ids.ts'
import type { Log } from '../../kit/log.ts'
import type { Balances } from '../../ledger/model.ts'
import type { Owner } from '../../kit/owner.ts'
import type { Ledger } from '../../ledger/service.ts'
import type { Guard } from '../../budgets/service/guard.ts'
import {
  answerForgotten,
  inputInvalid,
  ofCall,
  providerBusy,
  stopping,
  tooDear,
  tooManyAtOnce,
} from '../errors/call.ts'
import type { CallAsk, CallId, CallResult, KeptCall } from '../model/call.ts'
import type { Tool } from '../model/tool.ts'
import type { AssetRunner, CallFilter, CallStore, Slots, Upstreams } from '../ports/calls.ts'
import type { CatalogueForCalls } from '../ports/catalogue.ts'
import { createAssetCalls } from './calls/assets.ts'
import { createBulkheads } from './calls/bulkheads.ts'
import { createCharging } from './calls/charge.ts'
import { createInputCheck } from './calls/check.ts'
import { createFlights } from './calls/flight.ts'
import { createHealth } from './calls/health.ts'
import { createReach } from './calls/reach.ts'

/** Calls of tools: money set aside, the tool asked, money taken or given back. */
export function createCalls(deps: CallDeps) {
  const { catalogue, store, ledger, slots } = deps
  const inputs = createInputCheck(deps.log)
  const bulkheads = createBulkheads(deps.providerAtOnce)
  const reach = createReach(deps)
  const place = (tool: Tool, account: string | null) => {
    const leave = bulkheads.enter(bulkheadOf(tool), account)
    if (leave === null) throw providerBusy(tool.provider)
    return leave
  }
  const charging = createCharging({ ...deps, flights: createFlights(deps), reach, place })
  const assets = createAssetCalls({ ...deps, place })
  const running = new Map<AbortController, Promise<unknown>>()
  let stopped = false

  async function call(ask: CallAsk): Promise<CallResult> {
    if (stopped) throw stopping()
    const callId = deriveId('call', ask.operation)
    const until = new AbortController()
    const departure = new Departure()
    const leave = (): void => {
      if (departure.recall(ask.signal?.reason)) until.abort(ask.signal?.reason)
    }
    ask.signal?.addEventListener('abort', leave, { once: true })
    if (ask.signal?.aborted === true) leave()
    const work = begin(ask, callId, until.signal, departure)
    running.set(until, work)
    try {
      return await work
    } catch (error) {
      throw ofCall(error, callId)
    } finally {
      running.delete(until)
      ask.signal?.removeEventListener('abort', leave)
    }
  }

  async function begin(ask: CallAsk, callId: CallId, signal: AbortSignal, departure: Departure): Promise<CallResult> {
    const owner = ownerOf(ask.caller)
    const before = ask.keyed ? await store.find(owner, callId) : null
    if (before !== null && before.failure === null) return await again(ledger, before)
    const tool = await find(ask)
    const input = checked(tool, ask.input)
    if (ask.maxCost != null && tool.price > ask.maxCost) throw tooDear(tool.price, ask.maxCost)
    const giveBack = await slots.take(ask.caller.keyId ?? owner.userId)
    if (giveBack === null) throw tooManyAtOnce(slots.atOnce)
    try {
      const attempt = before === null ? 1 : before.attempt + 1
      const order = { ask, callId, owner, tool, input, attempt, signal, departure }
      return tool.upstream.kind === 'rda' ? await assets.run(order, tool.upstream) : await charging.charge(order)
    } finally {
      giveBack()
    }
  }

  function find({ caller, slug }: Pick<CallAsk, 'caller' | 'slug'>): Promise<Tool> {
    return catalogue.bySlug(caller.environment, slug, caller.user?.id ?? null)
  }

  function checked(tool: Tool, input: unknown): Readonly<Record<string, unknown>> {
    const faults = inputs.faultsOf(tool, input)
    if (faults !== null) throw inputInvalid(faults)
    return input as Readonly<Record<string, unknown>>
  }

  return {
    call,

    /** The answer of a call that somebody lost sight of; null while it has not ended, or where there is none. */
    async kept(caller: CallAsk['caller'], id: CallId): Promise<CallResult | KeptCall | null> {
      const kept = await store.find(ownerOf(caller), id)
      if (kept?.failure !== null || kept.output === null) return kept
      return await again(ledger, kept)
    },

    list: (caller: CallAsk['caller'], filter: Omit<CallFilter, 'agentId'>) =>
      store.list(ownerOf(caller), { ...filter, agentId: caller.agentId }),

    async balance(caller: CallAsk['caller']): Promise<Balances> {
      return await leftOf(ledger, ownerOf(caller))
    },

    /** For whoever pays each call by itself; no account, no credits. */
    unpaid: {
      find: catalogue.bySlug.bind(catalogue),
      checked,
      reach,
      bulkhead: (tool: Tool) => bulkheads.enter(bulkheadOf(tool), null),
    },

    ...createHealth(deps),

    underWay: (): number => running.size,

    async stop(): Promise<void> {
      stopped = true
      for (const until of running.keys()) until.abort(stopping())
      await Promise.allSettled(running.values())
    },
  }
}

/** What was paid for before, under the same name. */
async function again(ledger: CallDeps['ledger'], kept: KeptCall): Promise<CallResult> {
  const { id, slug, environment, userId, output, cost, durationMs } = kept
  if (output === null) throw answerForgotten(id)
  const left = await leftOf(ledger, { userId: userId ?? '', environment })
  const { kind: outputKind, value } = output
  return {
    callId: id,
    tool: slug,
    output: value,
    outputKind,
    cost,
    credits: left.credits,
    balance: left.wallet,
    durationMs,
  }
}

async function leftOf(ledger: CallDeps['ledger'], owner: Owner): Promise<Balances> {
  const [left] = await ledger.balances([owner])
  if (left === undefined) throw new Error('somebody was left without a balance')
  return left
}

export type Calls = ReturnType<typeof createCalls>

export interface CallDeps {
  catalogue: CatalogueForCalls
  store: CallStore
  upstreams: Upstreams
  assets: AssetRunner
  ledger: Pick<Ledger, 'actTogether' | 'balances'>
  /** The way to the ledger for whoever may be an agent. */
  locks: Pick<Guard, 'reserve'>
  slots: Slots
  clock: Clock
  log: Log
  failpoints: Failpoints
  /** How long a tool may take. */
  timeoutMs: number
  /** Calls at once to one provider, in each process. */
  providerAtOnce: number
}

/** Creators' tools have a server each. */
function bulkheadOf({ environment, provider, ownerId, slug, upstream }: Tool): string {
  return JSON.stringify([environment, upstream.kind === 'rda' ? slug : provider, ownerId])
}
