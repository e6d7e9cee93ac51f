import { ownerOf, type Caller } from '../../../kit/caller.ts'
import { Departure } from '../../../kit/departure.ts'
import { invalid } from '../../../kit/errors.ts'
import { deriveId } from '../../../kit/ids.ts'
import type { Balances } from '../../../ledger/model.ts'
import { ofCall, providerBusy, stopping, tooDear, tooManyAtOnce } from '../../errors/call.ts'
import type { CallInput, CallResult } from '../../model/call.ts'
import type { Tool } from '../../model/tool.ts'
import type { CallFilter } from '../../ports/calls.ts'
import { createAssetCalls } from './assets.ts'
import { createBulkheads } from './bulkheads.ts'
import { createCharging } from './charge.ts'
import { createChargeBatch } from './charge-batch.ts'
import { createInputCheck } from './check.ts'
import { createHealth } from './health.ts'
import { balancesOf, type CallDeps, type Order, type Place } from './order.ts'
import { createReach } from './reach.ts'
import { createCallStates } from './states.ts'

/** Calls of tools: holds the money, calls the tool, and takes the money or gives it back. */
export function createCalls(deps: CallDeps) {
  const { catalogue, store, ledger, slots } = deps
  const inputs = createInputCheck(deps.log)
  const bulkheads = createBulkheads(deps.providerAtOnce)
  const reach = createReach(deps)
  const place: Place = (tool, account) => {
    const leave = bulkheads.enter(bulkheadOf(tool), account)
    if (leave === null) throw providerBusy(tool.provider)
    return leave
  }
  const charging = createCharging({ ...deps, batch: createChargeBatch(deps), reach, place })
  const assets = createAssetCalls({ ...deps, place })
  const states = createCallStates(deps)
  const running = new Map<AbortController, Promise<unknown>>()
  let stopped = false

  async function run(call: CallInput): Promise<CallResult> {
    if (stopped) throw stopping()
    const callId = deriveId('call', call.operation)
    const until = new AbortController()
    const departure = new Departure()
    const leave = (): void => {
      if (departure.recall(call.signal?.reason)) until.abort(call.signal?.reason)
    }
    call.signal?.addEventListener('abort', leave, { once: true })
    if (call.signal?.aborted === true) leave()
    const work = begin({ call, callId, signal: until.signal, departure })
    running.set(until, work)
    try {
      return await work
    } catch (error) {
      throw ofCall(error, callId)
    } finally {
      running.delete(until)
      call.signal?.removeEventListener('abort', leave)
    }
  }

  async function begin(about: Pick<Order, 'call' | 'callId' | 'signal' | 'departure'>): Promise<CallResult> {
    const { call, callId } = about
    const owner = ownerOf(call.caller)
    const before = call.keyed ? await store.find(owner, callId) : null
    if (before !== null && before.failure === null) return await states.replay(before)
    const tool = await catalogue.bySlug(call.caller.environment, call.slug, call.caller.user?.id ?? null)
    const input = checked(tool, call.input)
    if (call.maxCost != null && tool.price > call.maxCost) throw tooDear(tool.price, call.maxCost)
    const giveBack = await slots.take(call.caller.keyId ?? owner.userId)
    if (giveBack === null) throw tooManyAtOnce(slots.atOnce)
    try {
      const attempt = before === null ? 1 : before.attempt + 1
      const order = { ...about, owner, tool, input, attempt }
      return tool.upstream.kind === 'rda' ? await assets.run(order, tool.upstream) : await charging.charge(order)
    } finally {
      giveBack()
    }
  }

  function checked(tool: Tool, input: unknown): Readonly<Record<string, unknown>> {
    const faults = inputs.faultsOf(tool, input)
    if (faults !== null) throw invalid(faults)
    return input as Readonly<Record<string, unknown>>
  }

  return {
    call: run,

    state: states.of,

    list: (caller: Caller, filter: Omit<CallFilter, 'agentId'>) =>
      store.list(ownerOf(caller), { ...filter, agentId: caller.agentId }),

    balance: (caller: Caller): Promise<Balances> => balancesOf(ledger, ownerOf(caller)),

    /** For buyers who pay each call by x402, without an account or credits. */
    unpaid: {
      find: catalogue.bySlug.bind(catalogue),
      checked,
      reach,
      place: (tool: Tool) => place(tool, null),
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

export type Calls = ReturnType<typeof createCalls>

/** Creators' tools each have a server of their own. */
function bulkheadOf({ environment, provider, ownerId, slug, upstream }: Tool): string {
  return JSON.stringify([environment, upstream.kind === 'rda' ? slug : provider, ownerId])
}
