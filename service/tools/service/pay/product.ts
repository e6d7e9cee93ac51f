import type { Clock } from '../../../kit/clock.ts'
import { DomainError } from '../../../kit/errors.ts'
import { canonicalHash } from '../../../kit/hash.ts'
import { deriveId, isId } from '../../../kit/ids.ts'
import type { Log } from '../../../kit/log.ts'
import { ZERO } from '../../../kit/money.ts'
import type { Environment } from '../../../kit/owner.ts'
import {
  authorizationUsed,
  badPaymentId,
  deliveryErrors,
  isLasting,
  isUndeliverable,
  itemIn,
  type ForSale,
} from '../../../sales/errors.ts'
import type { Offer, Sale, SaleHooks, StoredAnswer } from '../../../sales/model.ts'
import type { PurchaseRequest, Made, Product, Terms } from '../../../sales/service/deps.ts'
import { requirementsOfOffer } from '../../../sales/service/door.ts'
import type { PaymentTokens } from '../../../sales/service/proof.ts'
import { callAborted, needsKey, ofCall } from '../../errors/call.ts'
import type { CallId, Output } from '../../model/call.ts'
import type { Tool, Upstream } from '../../model/tool.ts'
import type { CallStore } from '../../ports/calls.ts'
import type { Calls } from '../calls/calls.ts'
import { failureOf } from '../calls/reach.ts'

/** A call that a buyer without an account pays for. */
export interface ToolCallInput extends PurchaseRequest {
  slug: string
  /** As they were sent. */
  inputs: unknown
  call: ForSale<CheckedCall>
}

/** A call that can be made: its input fits the tool as it is now. */
export interface CheckedCall {
  tool: Tool
  input: Readonly<Record<string, unknown>>
}

/** The tool's answer. */
export interface ToolAnswer {
  output: Output
  durationMs: number
}

export interface ToolProductDeps {
  unpaid: Calls['unpaid']
  calls: Pick<CallStore, 'note'>
  tokens: PaymentTokens
  clock: Clock
  log: Log
  environment: Environment
  offerOf(tool: Tool): Offer
  statusUrl(sale: Sale): string
  timeoutMs: number
}

/**
 * For a tool that only reads, the tool is called first, its answer is stored, and then the money moves. For a tool that
 * may change something, the money must arrive before the tool is called.
 */
export function createToolProduct(deps: ToolProductDeps): Product<ToolCallInput, ToolAnswer> {
  const { unpaid, calls, tokens, clock, log, environment, offerOf, statusUrl, timeoutMs } = deps
  const errors = deliveryErrors({ statusUrl, tokens })
  const workOf = (tool: Tool): number => (writes(tool.upstream) ? 0 : timeoutMs)
  const owed = (error: unknown, sale: Sale) => (isUndeliverable(error) ? error : errors.failed(error, sale, true))
  const detailsOf = ({ slug, provider }: Tool): Sale['details'] => ({ slug, provider })

  function terms({ call, inputs }: ToolCallInput): Terms {
    const tool = soldIn(call)
    const offer = offerOf(tool)
    const inputHash = hashOf(tool.id, inputs)
    const { amount, network, recipient } = offer
    const price = { amount, network, recipient, requirements: requirementsOfOffer(offer) }
    const about = { subject: tool.id, userId: null, environment, inputHash, details: detailsOf(tool) }
    return { ...about, ...price, workMs: workOf(tool), note: null }
  }

  async function make(ask: ToolCallInput, sale: Sale, paid: boolean): Promise<Made<ToolAnswer>> {
    const { tool, input } = callable(ask.call, sale, paid)
    const { departure } = ask
    const callId = sale.id as CallId
    const started = performance.now()
    const elapsed = (): number => Math.round(performance.now() - started)
    try {
      const about = { callId, caller: sale.payer, tool, input, connection: null, departure }
      const output = await unpaid.ask({ ...about, onProgress: () => undefined })
      const durationMs = elapsed()
      const details = paid ? null : { ...sale.details, durationMs }
      const answer = toStored({ output, durationMs })
      return { value: { output, durationMs }, answer, bodyHash: null, details, note: null, discard: () => undefined }
    } catch (thrown) {
      const error = departure.signal.aborted && !paid ? callAborted() : thrown
      await note(sale, error, elapsed())
      throw error
    }
  }

  function callable(call: ForSale<CheckedCall>, sale: Sale, paid: boolean): CheckedCall {
    if (paid && call instanceof DomainError && isLasting(call)) throw errors.undeliverable(call, sale)
    return itemIn(call)
  }

  async function note(sale: Sale, error: unknown, durationMs: number): Promise<void> {
    if (!(error instanceof DomainError))
      log.error({ callId: sale.id, err: error }, 'a call failed because of an internal error')
    await calls.note({ ...callOf(sale, durationMs, clock.now()), ...failureOf(error), cost: ZERO, output: null })
  }

  return {
    name: 'tool',
    idOf: (operation) => deriveId('call', operation),
    isId: (id) => isId('call', id),
    terms,
    isHere: () => true,
    assertSame(sale, { slug, inputs, call }) {
      // A slug is one tool's for good, so it names the tool of the sale where that is not for sale any more.
      const id = call instanceof DomainError ? sale.subject : call.tool.id
      const isSame = sale.subject === id && sale.details['slug'] === slug && sale.inputHash.equals(hashOf(id, inputs))
      if (isSame) return
      throw call instanceof DomainError ? call : authorizationUsed()
    },
    badProof: badPaymentId,
    // Before the claim, so that a refusal leaves no trace and no money has moved. The place itself is the call's alone. What
    // is not for sale any more takes none: `make` says why, once it is known whether it was paid.
    enter({ call }) {
      if (!(call instanceof DomainError)) unpaid.assertPlace(call.tool)
      return () => undefined
    },
    delivery: {
      joins: true,
      makingMs: timeoutMs,
      owedMs: null,
      standing: async (_sale, ask) => terms(ask),
      make,
      restore: (answer) => Promise.resolve(fromStored(answer)),
      errors: {
        ...errors,
        failed: (error, sale, paid) =>
          paid ? owed(error, sale) : ofCall(error, sale.id as CallId, tokens.of(sale.id)),
      },
    },
  }
}

/** Throws where a buyer without an account cannot buy its calls. */
export function assertSold({ upstream, price }: Tool): void {
  if (upstream.kind === 'rda' || price === ZERO) throw needsKey(upstream.kind === 'rda' ? upstream.rdaSlug : null)
}

function soldIn(call: ForSale<CheckedCall>): Tool {
  const { tool } = itemIn(call)
  assertSold(tool)
  return tool
}

function hashOf(toolId: string, inputs: unknown): Buffer {
  return canonicalHash([toolId, inputs])
}

/** Stores the paid call in the transaction of its payment. */
export function toolHooks(calls: Pick<CallStore, 'write'>, clock: Clock): SaleHooks {
  const write: NonNullable<SaleHooks['paid']> = async (inside, sale, durationMs) => {
    const call = callOf(sale, Number(durationMs), clock.now())
    await calls.write(inside, [{ ...call, cost: sale.amount, failure: null, fault: null, output: null }])
  }
  return {
    async paid(inside, sale) {
      const { durationMs } = sale.details
      // When the money comes first, there is no call yet.
      if (durationMs !== undefined) await write(inside, sale, durationMs)
    },
    delivered: (inside, sale, { meta }) => write(inside, sale, meta['durationMs']),
  }
}

function callOf(sale: Sale, durationMs: number, endedAt: Date) {
  const { environment, subject: toolId, details } = sale
  const { slug, provider } = details as { slug: string; provider: string }
  return {
    id: sale.id as CallId,
    environment,
    userId: null,
    agentId: null,
    toolId: toolId as Tool['id'],
    slug,
    provider,
    attempt: 1,
    durationMs,
    endedAt,
  }
}

function toStored({ output: { kind, value, simulated }, durationMs }: ToolAnswer): StoredAnswer {
  return { meta: { kind, durationMs, simulated: simulated === true }, body: Buffer.from(JSON.stringify(value)) }
}

function fromStored({ meta, body }: StoredAnswer): ToolAnswer {
  const { kind, durationMs, simulated } = meta as { kind: string; durationMs: number; simulated?: boolean }
  const output = { kind, value: JSON.parse(body.toString('utf8')) as unknown } as Output
  return { output: simulated === true ? { ...output, simulated } : output, durationMs }
}

/**
 * Whether a call may change something at the server. The buyer then pays before the call, because a change cannot be
 * undone when the money does not arrive.
 */
function writes(upstream: Upstream): boolean {
  switch (upstream.kind) {
    case 'http':
      return upstream.method !== 'GET'
    case 'mcp':
      return upstream.readOnly !== true
    case 'rda':
      return true
  }
}
