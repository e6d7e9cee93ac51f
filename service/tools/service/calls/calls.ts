import type { ChosenConnection } from '../../../connections/service/use.ts'
import { guestIn, ownerOf, type Caller } from '../../../kit/caller.ts'
import { Departure } from '../../../kit/departure.ts'
import { invalid } from '../../../kit/errors.ts'
import { deriveId } from '../../../kit/ids.ts'
import type { Environment } from '../../../kit/owner.ts'
import { UnderWay } from '../../../kit/under-way.ts'
import type { Balances } from '../../../ledger/model.ts'
import { assertMaxCost } from '../../../sales/service/door.ts'
import { ofCall, providerBusy, stopping, tooManyAtOnce } from '../../errors/call.ts'
import type { CallId, CallInput, CallResult, Output } from '../../model/call.ts'
import type { Tool } from '../../model/tool.ts'
import type { CallFilter } from '../../ports/calls.ts'
import { pagingOf } from '../../rules/paging.ts'
import { createAssetCalls } from './assets.ts'
import { createBulkheads, GUESTS } from './bulkheads.ts'
import { createCharging } from './charge.ts'
import { createInputCheck } from './check.ts'
import { createHealth } from './health.ts'
import { createLargeAnswers } from './large.ts'
import { createOperations, type ResultInput } from './operations.ts'
import { balancesOf, type CallDeps, type Order, type Place } from './order.ts'
import { createReading } from './pages.ts'
import { createReach, ordinary, type ReachInput } from './reach.ts'
import { createCallStates } from './states.ts'

/** Calls of tools: holds the money, calls the tool, and takes the money or gives it back. */
export function createCalls(deps: CallDeps) {
  const { catalogue, store, ledger, slots } = deps
  const inputs = createInputCheck(deps.log)
  const reach = createReach(deps)
  const place = createPlaces(deps.providerAtOnce)
  const large = createLargeAnswers(deps)
  const reading = createReading({ ...deps, reach, large })
  const charging = createCharging({ ...deps, reading, place })
  const assets = createAssetCalls({ ...deps, place })
  const states = createCallStates(deps)
  const operations = createOperations({ ...deps, states, reach, large, place, slots: { taken } })
  const underWay = new UnderWay<Departure, CallResult>()
  let hasStopped = false

  async function run(call: CallInput): Promise<CallResult> {
    const callId = deriveId('call', call.operation)
    const departure = new Departure(call.signal)
    return await follow(departure, async () => {
      try {
        return await begin({ call, callId, departure })
      } catch (error) {
        throw ofCall(error, callId)
      }
    })
  }

  async function result(caller: Caller, id: CallId, input: ResultInput): Promise<CallResult> {
    const departure = new Departure(input.signal)
    return await follow(departure, () => operations.result(caller, id, { ...input, signal: departure.signal }))
  }

  async function follow(departure: Departure, work: () => Promise<CallResult>): Promise<CallResult> {
    if (hasStopped) throw stopping()
    return await underWay.follow(departure, departure, work)
  }

  async function begin(about: Pick<Order, 'call' | 'callId' | 'departure'>): Promise<CallResult> {
    const { call, callId } = about
    const { keyed, mayHaveBegun = keyed } = call
    const owner = ownerOf(call.caller)
    const before = mayHaveBegun ? await store.find(owner, callId) : null
    if (before?.failure === null) return await states.replay(before)
    const tool = await catalogue.bySlug(call.caller.environment, call.slug, call.caller.user?.id ?? null)
    const input = checked(tool, call.input)
    assertMaxCost(tool.price, call.maxCost ?? null)
    const all = pagesOf(tool, call)
    // Before anything is held, so that a call that waits for its caller to connect costs nothing.
    const connection = await connectionFor(call.caller, tool, call.connection ?? null)
    const giveBack = await taken(call.caller.keyId ?? owner.userId)
    try {
      const attempt = before === null ? 1 : before.attempt + 1
      const order = { ...about, owner, tool, input, attempt, all, connection }
      return tool.upstream.kind === 'rda' ? await assets.run(order, tool.upstream) : await charging.charge(order)
    } finally {
      giveBack()
    }
  }

  async function taken(key: string): Promise<() => void> {
    const giveBack = await slots.take(key)
    if (giveBack === null) throw tooManyAtOnce(slots.atOnce)
    return giveBack
  }

  /** The caller's own access to the tool's provider. Throws `connection_required` where the tool needs one. */
  async function connectionFor(caller: Caller, tool: Tool, named: string | null): Promise<ChosenConnection | null> {
    const { needs, access } = await catalogue.accessFor(tool)
    if (access === null || (await catalogue.isSimulated(tool))) return null
    return await deps.connections.find(caller, access, { isRequired: needs === 'connection', named })
  }

  function checked(tool: Tool, input: unknown): Readonly<Record<string, unknown>> {
    const faults = inputs.faultsOf(tool, input)
    if (faults !== null) throw invalid(faults)
    return input as Readonly<Record<string, unknown>>
  }

  return {
    call: run,
    result,

    state: states.of,

    list: (caller: Caller, filter: Omit<CallFilter, 'agentId'>) =>
      store.list(ownerOf(caller), { ...filter, agentId: caller.agentId }),

    balance: (caller: Caller): Promise<Balances> => balancesOf(ledger, ownerOf(caller)),

    /** For buyers who pay each call by x402, without an account or credits. */
    unpaid: {
      /** A guest has no account, so a tool that acts in one is refused before it is paid. */
      async find(environment: Environment, slug: string): Promise<Tool> {
        const tool = await catalogue.bySlug(environment, slug, null)
        await connectionFor(guestIn(environment), tool, null)
        return tool
      },
      checked,
      /** Without an account there is no room for a large answer. */
      async ask(about: Omit<ReachInput, 'large'>): Promise<Output> {
        const leave = place(about.tool, GUESTS)
        return ordinary(await reach.ask(about).finally(leave))
      },
      /** Throws when all places are taken. Takes none: the payment comes before the call, and may take long. */
      assertPlace(tool: Tool): void {
        place(tool, GUESTS)()
      },
    },

    ...createHealth(deps),

    underWay: (): number => underWay.size,
    stop(): Promise<void> {
      hasStopped = true
      return underWay.stop(stopping())
    },
  }
}

export type Calls = ReturnType<typeof createCalls>

/** As many pages as were asked for and as `maxCost` pays. Throws where the tool has none. */
function pagesOf(tool: Tool, { pagesMax = null, maxCost = null }: CallInput): Order['all'] {
  if (pagesMax === null) return null
  const paging = pagingOf(tool)
  if (paging === null) throw invalid({ all: 'is for tools that answer in pages (`paged`)' })
  const paid = maxCost === null || tool.price === 0n ? pagesMax : Number(maxCost / tool.price)
  return { pagesMax: Math.min(pagesMax, paid), paging }
}

function createPlaces(atOnce: number): Place {
  const bulkheads = createBulkheads(atOnce)
  return (tool, account) => {
    const leave = bulkheads.enter(bulkheadOf(tool), account)
    if (leave === null) throw providerBusy(tool.provider)
    return leave
  }
}

/** Creators' tools each have a server of their own. */
function bulkheadOf({ environment, provider, ownerId, slug, upstream }: Tool): string {
  return JSON.stringify([environment, upstream.kind === 'rda' ? slug : provider, ownerId])
}
