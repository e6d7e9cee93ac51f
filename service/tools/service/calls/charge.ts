import { setTimeout as wait } from 'node:timers/promises'
import type { Clock } from '../../../kit/clock.ts'
import type { Departure } from '../../../kit/departure.ts'
import { DomainError } from '../../../kit/errors.ts'
import type { Failpoints } from '../../../kit/failpoints.ts'
import type { Log } from '../../../kit/log.ts'
import { ZERO } from '../../../kit/money.ts'
import type { Balances } from '../../../ledger/model.ts'
import type { Owner } from '../../../kit/owner.ts'
import type { AgentReserve, Spender } from '../../../budgets/model.ts'
import type { Guard } from '../../../budgets/service/guard.ts'
import { canonicalHash } from '../../../kit/hash.ts'
import { callAborted, chargedTooLate, insufficientCredits } from '../../errors/call.ts'
import type { CallAsk, CallId, CallResult, Output } from '../../model/call.ts'
import type { Tool } from '../../model/tool.ts'
import type { CallStore, EndedCall } from '../../ports/calls.ts'
import type { Flights } from './flight.ts'
import { faultOf, type Reach } from './reach.ts'

/**
 * A call for money. Between its lock and its end nothing is written but the lock: when the process dies there, the
 * ledger's sweeper gives the money back, and whoever asks again under the same name is served anew.
 */
export function createCharging(deps: ChargingDeps) {
  const { flights, reach, place, store, clock, log, failpoints } = deps

  async function charge(order: Order): Promise<CallResult> {
    const { ask, tool, input, signal, departure } = order
    const started = performance.now()
    const onProgress = ask.onProgress ?? (() => undefined)
    await reserve(deps, order)
    await failpoints.reach('call reserved')
    onProgress({ progress: 1, total: 3, message: `Calling ${tool.slug}` })
    let output: Output
    try {
      // Only now: callers without money would take the places of those who have some.
      const leave = place(tool, order.owner.userId)
      output = await reach.ask({ callId: order.callId, tool, input, signal, departure, onProgress }).finally(leave)
      signal.throwIfAborted()
    } catch (thrown) {
      const error = signal.aborted ? reasonOf(signal) : thrown
      await giveBack(order, error, Math.round(performance.now() - started))
      throw error
    }
    await failpoints.reach('call answered')
    onProgress({ progress: 2, total: 3, message: 'Charging the call' })
    const durationMs = Math.round(performance.now() - started)
    const left = await capture(order, output, durationMs)
    await failpoints.reach('call captured')
    const { callId } = order
    const { kind: outputKind, value } = output
    return {
      callId,
      tool: tool.slug,
      output: value,
      outputKind,
      cost: tool.price,
      credits: left.credits,
      balance: left.wallet,
      durationMs,
    }
  }

  /** The money and the row together. Whoever cannot be charged is not given the answer. */
  async function capture(order: Order, output: Output, durationMs: number): Promise<Balances> {
    for (let { attempt } = order; ; attempt++) {
      try {
        return await persisting(() => captureAs({ ...order, attempt }, output, durationMs))
      } catch (error) {
        if (!(error instanceof DomainError) || !LOST.has(error.code)) throw error
        const { owner, callId } = order
        // Its own twin may have been faster; else its time was up, or it failed under this name before.
        const twin = await store.find(owner, callId)
        if (twin !== null && twin.failure === null)
          return await captureAs({ ...order, attempt: twin.attempt }, output, durationMs)
        if (attempt - order.attempt >= MORE_ATTEMPTS) throw chargedTooLate()
        await reserve(deps, { ...order, attempt: attempt + 1 })
      }
    }
  }

  function captureAs(order: Order, output: Output, durationMs: number): Promise<Balances> {
    const { ask, callId, owner, tool, attempt } = order
    const kept = ask.keyed || ask.keeps === true ? output : null
    return flights.charge(
      {
        capture: {
          hold: holdOf(callId, attempt),
          owner,
          amount: tool.price,
          // All of it is the platform's.
          shares: [],
          kind: 'capture',
          reference: callId,
          announcements: [],
        },
      },
      { ...rowOf(order, durationMs, clock.now()), cost: tool.price, failure: null, fault: null, kept },
    )
  }

  async function giveBack(order: Order, error: unknown, durationMs: number): Promise<void> {
    const { callId, owner, attempt } = order
    const known = error instanceof DomainError ? error : null
    if (known === null) log.error({ callId, err: error }, 'a call failed for a reason of ours')
    else log.info({ callId, slug: order.tool.slug, code: known.code, err: known.cause }, 'a call failed')
    const failure = { code: known?.code ?? 'internal', sentence: (known?.message ?? 'A fault of ours.').slice(0, 500) }
    const call = { ...rowOf(order, durationMs, clock.now()), cost: ZERO, failure, fault: faultOf(error), kept: null }
    try {
      await persisting(() =>
        flights.giveBack({ release: { hold: holdOf(callId, attempt), owner, announcements: [] } }, call),
      )
    } catch (fault) {
      log.warn({ callId, err: fault }, 'what a failed call had set aside goes back by itself')
    }
  }

  return { charge }
}

async function reserve({ locks, clock, timeoutMs }: ChargingDeps, order: Order): Promise<void> {
  const { ask, callId, owner, tool, input, attempt } = order
  const { agentId } = ask.caller
  const spender: Spender | null =
    agentId === null
      ? null
      : {
          agentId,
          kind: 'tool',
          target: tool.slug,
          alias: tool.id,
          requestHash: canonicalHash([tool.id, input]).toString('hex'),
        }
  const command: AgentReserve = {
    id: holdOf(callId, attempt),
    owner,
    amount: tool.price,
    useCredits: true,
    // The end has its own moment after the tool's: a lock that ends first would give the answer away unpaid.
    deadline: new Date(clock.now().getTime() + timeoutMs + SPARE_MS),
    reference: callId,
    spender,
    durability: 'async',
  }
  try {
    await locks.reserve(command)
  } catch (error) {
    if (!(error instanceof DomainError) || error.code !== 'insufficient_balance') throw error
    throw insufficientCredits(error.fields['required'], error.fields['available'])
  }
}

function rowOf({ callId, owner, ask, tool, attempt }: Order, durationMs: number, endedAt: Date) {
  return {
    id: callId,
    environment: owner.environment,
    userId: owner.userId,
    agentId: ask.caller.agentId,
    toolId: tool.id,
    slug: tool.slug,
    provider: tool.provider,
    attempt,
    durationMs,
    endedAt,
  } satisfies Partial<EndedCall>
}

export interface ChargingDeps {
  flights: Flights
  /** The way to the ledger for whoever may be an agent. */
  locks: Pick<Guard, 'reserve'>
  reach: Reach
  /** A place among a provider's calls, and how to leave it; throws where there is none. */
  place(tool: Tool, account: string): () => void
  store: Pick<CallStore, 'find'>
  clock: Clock
  log: Log
  failpoints: Failpoints
  timeoutMs: number
}

/** A call with all that making and charging it takes. */
export interface Order {
  ask: CallAsk
  callId: CallId
  owner: Owner
  tool: Tool
  input: Readonly<Record<string, unknown>>
  attempt: number
  /** Aborts when the process stops, and when the caller takes the call back in time. */
  signal: AbortSignal
  departure: Departure
}

/** A lock ends once: a call that is tried again under its name takes another. */
function holdOf(callId: CallId, attempt: number): string {
  return attempt === 1 ? callId : `${callId}~${String(attempt)}`
}

/** What whoever stopped it said, where that is one of ours; else that nobody waited any more. */
function reasonOf(signal: AbortSignal): DomainError {
  return signal.reason instanceof DomainError ? signal.reason : callAborted()
}

/** A database that is away for a moment must not cost somebody the answer they waited for. */
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

/** Given back, or never on the disk when the database crashed. */
const LOST: ReadonlySet<string> = new Set(['lock_ended', 'lock_not_found'])
const PAUSES_MS = [100, 500, 2_000]
const SPARE_MS = 10_000
const MORE_ATTEMPTS = 3
