import { Departure } from '../../../kit/departure.ts'
import { DomainError } from '../../../kit/errors.ts'
import { ZERO } from '../../../kit/money.ts'
import { callAborted, ofCall } from '../../errors/call.ts'
import { authorizationBusy, stillOwed } from '../../errors/payment.ts'
import type { Output } from '../../model/call.ts'
import type { PaidCall, ToolPayment } from '../../model/payment.ts'
import type { Tool } from '../../model/tool.ts'
import { faultOf } from '../calls/reach.ts'
import type { ToolPaymentParts } from './parts.ts'
import { callOf, toPaid, type PaySettling } from './settle.ts'

/** What a claimed authorization buys, and for whom. */
export interface Work {
  tool: Tool
  input: Readonly<Record<string, unknown>>
  gone: AbortSignal
}

/**
 * From a claim to the answer. A tool that only reads is asked, its answer is kept, then the money moves. Before a tool
 * that may change something is asked, the money has arrived; its answer is owed until there is one.
 */
export function createPayWork(parts: ToolPaymentParts, settling: PaySettling) {
  const { unpaid, store, calls, clock, log, checkpoint, tokens } = parts

  async function work(row: ToolPayment, again: Work): Promise<PaidCall> {
    const departure = new Departure(again.gone)
    return row.owed ? await payFirst(row, again, departure) : await deliverFirst(row, again, departure)
  }

  async function deliverFirst(row: ToolPayment, { tool, input }: Work, departure: Departure): Promise<PaidCall> {
    const started = performance.now()
    let output: Output
    try {
      output = await reachTool(row, tool, input, departure)
    } catch (thrown) {
      const error = departure.signal.aborted ? callAborted() : thrown
      await fail(row, error, elapsed(started))
      throw ofCall(error, row.id, tokens.of(row.id))
    }
    const durationMs = elapsed(started)
    if (!(await store.answered(row.id, output, durationMs, new Date(clock.now().getTime() + SETTLE_MS))))
      throw authorizationBusy()
    await checkpoint('answered')
    const answered: ToolPayment = { ...row, state: 'answered', output, durationMs }
    return toPaid(answered, output, await settling.settle(answered), tokens.of(row.id))
  }

  /** From the moment at which the chain is asked nothing is taken back; whatever fails after that is owed. */
  async function payFirst(row: ToolPayment, { tool, input }: Work, departure: Departure): Promise<PaidCall> {
    const started = performance.now()
    let { txHash } = row
    if (departure.signal.aborted) {
      // What a chain may have seen already is the sweeper's to judge.
      await (row.submitted ? store.leave(row.id, clock.now()) : store.failed(row.id, callAborted().code))
      throw callAborted()
    }
    departure.leave()
    try {
      // From here on the chain may show the signature to everybody.
      if (txHash === null) await store.submitted(row.id)
      txHash ??= await settling.settle(row)
      const output = await reachTool(row, tool, input, departure)
      const durationMs = elapsed(started)
      await fulfil(row, output, durationMs)
      await checkpoint('answered')
      return toPaid({ ...row, durationMs }, output, txHash, tokens.of(row.id))
    } catch (error) {
      await store.leave(row.id, clock.now())
      if (txHash === null) throw error
      await note(row, error, elapsed(started))
      throw error instanceof DomainError ? stillOwed(error, row.id, settling.statusUrl(row), tokens.of(row.id)) : error
    }
  }

  /** The answer, and the call that was paid for, in one transaction. */
  async function fulfil(row: ToolPayment, output: Output, durationMs: number): Promise<void> {
    await store.inTransaction(async (inside) => {
      const now = clock.now()
      if (!(await store.fulfilled(inside, row.id, output, durationMs, now))) throw authorizationBusy()
      const call = { ...callOf(row, durationMs, now), cost: row.amount, failure: null, fault: null, kept: null }
      await calls.write(inside, [call])
    })
  }

  function reachTool(
    row: ToolPayment,
    tool: Tool,
    input: Readonly<Record<string, unknown>>,
    departure: Departure,
  ): Promise<Output> {
    const { signal } = departure
    return unpaid.reach.ask({ callId: row.id, tool, input, signal, departure, onProgress: () => undefined })
  }

  async function fail(row: ToolPayment, error: unknown, durationMs: number): Promise<void> {
    await store.failed(row.id, error instanceof DomainError ? error.code : 'internal')
    await note(row, error, durationMs)
  }

  async function note(row: ToolPayment, error: unknown, durationMs: number): Promise<void> {
    const known = error instanceof DomainError ? error : null
    if (known === null) log.error({ callId: row.id, err: error }, 'a call failed for a reason of ours')
    const code = known?.code ?? 'internal'
    await calls.note({
      ...callOf(row, durationMs, clock.now()),
      cost: ZERO,
      failure: { code, sentence: (known?.message ?? 'A fault of ours.').slice(0, 500) },
      fault: faultOf(error),
      kept: null,
    })
  }

  return work
}

function elapsed(started: number): number {
  return Math.round(performance.now() - started)
}

/** Whoever waits for the chain is at it for so long; then the sweeper is as well. */
const SETTLE_MS = 30_000
