import type { AgentReserve } from '../../../budgets/model.ts'
import { ChargeBatch, chargeFor, persisting } from '../../../charging/service.ts'
import { Batch } from '../../../kit/batch.ts'
import { DomainError } from '../../../kit/errors.ts'
import { canonicalHash } from '../../../kit/hash.ts'
import { usdc, ZERO, type Usdc } from '../../../kit/money.ts'
import type { Owner } from '../../../kit/owner.ts'
import { isHoldLost } from '../../../ledger/errors.ts'
import type { Balances } from '../../../ledger/model.ts'
import { callAborted, chargedTooLate, withToolsCode } from '../../errors/call.ts'
import type { CallResult, Output, StoredCall } from '../../model/call.ts'
import type { EndedCall } from '../../ports/calls.ts'
import { holdOf, MORE_ATTEMPTS, resultOf, rowOf, storesAnswer, type CallDeps, type Order, type Place } from './order.ts'
import type { Reading } from './pages.ts'
import { sealedOf } from './operations.ts'
import { failureOf } from './reach.ts'

/**
 * A paid call. Between the hold and the end of the call only the hold is stored. When the process dies in between, the
 * ledger's sweeper gives the money back, and a repeated request with the same key starts the call anew.
 */
export function createCharging(deps: ChargingDeps) {
  const { ledger, reading, place, store, clock, log, failpoints } = deps
  // Holds are not in it: each is one statement that need not wait for the disk, and in a batch it would wait.
  const charges = new ChargeBatch<EndedCall>({
    guard: ledger,
    write: (inside, calls) => store.write(inside, calls),
  })
  // Read after the transaction, because inside it the wallets would stay locked for one more round trip.
  const balances = new Batch({ largest: LARGEST, run: (owners: readonly Owner[]) => ledger.balances(owners) })

  async function charge(order: Order): Promise<CallResult> {
    const { call, callId, owner, tool, input, connection, departure } = order
    const { signal } = departure
    const onProgress = call.onProgress ?? (() => undefined)
    return await chargeFor<Output, CallResult>({
      signal,
      async hold() {
        await reserve(deps, order)
        await failpoints.reach('call reserved')
        onProgress({ progress: 1, total: 3, message: `Calling ${tool.slug}` })
      },
      async work() {
        // Taken only after the hold: callers without money must not take places from those who can pay.
        const leave = place(tool, owner.userId)
        const caller = `${owner.environment}/${owner.userId}`
        const ask = { callId, caller, tool, input, connection, departure, onProgress }
        return await reading.read(order, ask).finally(leave)
      },
      async capture(output, durationMs) {
        await failpoints.reach('call answered')
        onProgress({ progress: 2, total: 3, message: 'Charging the call' })
        const operation = sealedOf(deps, callId, output)
        const left = await capture({ ...order, operation }, output, durationMs)
        await failpoints.reach('call captured')
        const paid = { id: callId, slug: tool.slug, cost: costOf(order, output), durationMs, operation }
        return resultOf({ ...paid, endedAt: clock.now() }, output, left)
      },
      async release(thrown, durationMs) {
        const error = signal.aborted ? reasonOf(signal) : thrown
        await giveBack(order, error, durationMs)
        throw error
      },
    })
  }

  /** Stores the charge and the row together. A caller who cannot be charged does not get the answer. */
  async function capture(order: Answered, output: Output, durationMs: number): Promise<Balances> {
    for (let { attempt } = order; ; attempt++) {
      try {
        return await captureAs({ ...order, attempt }, output, durationMs)
      } catch (error) {
        if (!isHoldLost(error)) throw error
        const { owner, callId } = order
        // A concurrent request for the same call may have been faster. Otherwise the hold expired, or an earlier
        // attempt failed.
        const twin = await store.find(owner, callId)
        if (twin?.failure === null) return await captureAs({ ...order, attempt: twin.attempt }, output, durationMs)
        if (attempt - order.attempt >= MORE_ATTEMPTS) throw chargedTooLate()
        await reserve(deps, { ...order, attempt: attempt + 1 })
      }
    }
  }

  async function captureAs(order: Answered, output: Output, durationMs: number): Promise<Balances> {
    const { call, callId, owner, attempt, operation } = order
    const amount = costOf(order, output)
    const hold = holdOf(callId, attempt)
    const stored = storesAnswer(call) || operation !== null ? output : null
    // Without shares, because the platform gets the whole amount.
    const capture = { hold, owner, amount, shares: [], kind: 'capture', reference: callId, announcements: [] } as const
    const ended = rowOf(order, durationMs, clock.now())
    const row = { ...ended, cost: amount, failure: null, fault: null, output: stored, operation }
    await charges.end({ act: { capture }, row })
    return await persisting(() => balances.add(owner))
  }

  async function giveBack(order: Order, error: unknown, durationMs: number): Promise<void> {
    const { callId, owner, attempt } = order
    const known = error instanceof DomainError ? error : null
    if (known === null) log.error({ callId, err: error }, 'a call failed because of an internal error')
    else log.info({ callId, slug: order.tool.slug, code: known.code, err: known.cause }, 'a call failed')
    const row = { ...rowOf(order, durationMs, clock.now()), ...failureOf(error), cost: ZERO, output: null }
    const release = { hold: holdOf(callId, attempt), owner, announcements: [] }
    try {
      await charges.end({ act: { release }, row })
    } catch (fault) {
      log.warn({ callId, err: fault }, 'the hold of a failed call could not be released; it will expire')
    }
  }

  return { charge }
}

async function reserve({ locks, clock, timeoutMs }: ChargingDeps, order: Order): Promise<void> {
  const { call, callId, owner, tool, input, all, attempt, connection } = order
  const { agentId } = call.caller
  // A person approves where the call acts, too. One that names no connection hashes as it did before there was a choice.
  const named = call.connection == null || connection === null ? [] : [connection.connection.id]
  const more = [...(all === null ? [] : [all.pagesMax]), ...named]
  const requestHash = (): string => canonicalHash([tool.id, input, ...more]).toString('hex')
  const target = { kind: 'tool', target: tool.slug, alias: tool.id } as const
  const command: AgentReserve = {
    id: holdOf(callId, attempt),
    owner,
    amount: usdc(tool.price * BigInt(all?.pagesMax ?? 1)),
    useCredits: true,
    // Longer than the tool may take: if the hold ended first, the answer would be unpaid. Of several pages the last is
    // asked for within the time of one.
    deadline: new Date(clock.now().getTime() + timeoutMs * (all === null ? 1 : 2) + SPARE_MS),
    reference: callId,
    spender: agentId === null ? null : { ...target, agentId, requestHash: requestHash() },
    durability: 'async',
  }
  try {
    await locks.reserve(command)
  } catch (error) {
    throw withToolsCode(error, 'credits and balance')
  }
}

interface Answered extends Order {
  operation: StoredCall['operation']
}

type ChargingDeps = CallDeps & { reading: Reading; place: Place }

/** Each page that was read is paid for. */
function costOf({ tool }: Order, { pages }: Output): Usdc {
  return usdc(tool.price * BigInt(pages?.read ?? 1))
}

/** The abort's own reason when it is one of our errors. Otherwise the caller has disconnected. */
function reasonOf(signal: AbortSignal): DomainError {
  return signal.reason instanceof DomainError ? signal.reason : callAborted()
}

const LARGEST = 256
const SPARE_MS = 10_000
