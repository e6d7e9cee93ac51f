import type { Address } from '../../chain/model.ts'
import type { Carried } from '../../chain/x402.ts'
import { DomainError, invalid } from '../../kit/errors.ts'
import { idLike, type Id } from '../../kit/ids.ts'
import { ZERO } from '../../kit/money.ts'
import { requestHash } from '../../spending/service/request.ts'
import { callAborted, ofCall, providerBusy } from '../errors/call.ts'
import {
  answerGiven,
  authorizationBusy,
  authorizationUsed,
  needsKey,
  paymentMissing,
  paymentRefused,
  paymentsUnavailable,
} from '../errors/payment.ts'
import type { CallId, Output } from '../model/call.ts'
import type { PaidCall, ToolOffer, ToolPayment } from '../model/payment.ts'
import type { Tool } from '../model/tool.ts'
import { requirementsOf } from '../rules/x402.ts'
import { faultOf } from './calls/reach.ts'
import type { ToolPaymentParts } from './pay/parts.ts'
import { callOf, createPaySettling, toPaid } from './pay/settle.ts'

/**
 * Calls without an account, each paid by itself. The authorization is taken first, so that it pays for nothing else; the
 * tool is asked; its answer is kept; only then does money move, and only then does the answer go out.
 */
export function createToolPayments(parts: ToolPaymentParts) {
  const { unpaid, store, calls, facilitator, clock, log, environment, network, checkpoint, timeoutMs, address } = parts
  const settling = createPaySettling(parts)

  async function find(slug: string): Promise<Tool> {
    const tool = await unpaid.find(environment, slug, null)
    if (tool.upstream.kind === 'rda' || tool.price === ZERO) throw needsKey()
    return tool
  }

  function offerOf(tool: Tool): ToolOffer {
    const { recipient } = parts
    if (recipient === null || !facilitator.serves(network)) throw paymentsUnavailable()
    const { slug, name, price: amount, input } = tool
    return { slug, name, address: `${address}/pay/${slug}`, amount, network, recipient, input }
  }

  async function pay(ask: PayAsk): Promise<PaidCall> {
    const { presented, operation, slug } = ask
    const tool = await find(slug)
    const input = unpaid.checked(tool, ask.input)
    const inputHash = Buffer.from(requestHash([tool.id, input]), 'hex')
    const request = requestOf(offerOf(tool), presented)
    const payment = read(request)
    const digest = facilitator.purchases.digestOf(payment)
    const known = digest === null ? null : await store.findByDigest(digest)
    if (known !== null) return await again(known, { tool, input, inputHash, ask })
    const { refusal, payer } = await facilitator.verify(payment)
    if (refusal !== null || digest === null || payer === null) {
      throw paymentRefused(refusal ?? 'unsupported_payload_type')
    }
    const leave = enter(tool)
    try {
      const now = clock.now()
      const row: ToolPayment = {
        id: idLike('call', operation),
        environment,
        digest,
        toolId: tool.id,
        slug: tool.slug,
        provider: tool.provider,
        inputHash,
        amount: tool.price,
        network,
        payer: payer.toLowerCase() as Address,
        recipient: offerOf(tool).recipient,
        request,
        state: 'claimed',
        output: null,
        durationMs: 0,
        reason: null,
        txHash: null,
        createdAt: now,
      }
      await claim(row)
      await checkpoint('claimed')
      return await work(row, { tool, input, ask })
    } finally {
      leave()
    }
  }

  /** The authorization and the call that it pays for, together: from here on it buys nothing else, anywhere. */
  async function claim(row: ToolPayment): Promise<void> {
    const mine = await store.inTransaction(async (inside) => {
      const buys = await facilitator.purchases.claim(inside, { digest: row.digest, buys: row.id })
      return buys === row.id && (await store.add(inside, row, until()))
    })
    // Its twin was faster, or it has bought something else.
    if (!mine) throw (await store.findByDigest(row.digest)) === null ? authorizationUsed() : authorizationBusy()
  }

  /** The same authorization again: for the same call, as far as it has come. */
  async function again(known: ToolPayment, { tool, input, inputHash, ask }: Again): Promise<PaidCall> {
    if (known.toolId !== tool.id || known.inputHash.compare(inputHash) !== 0) throw authorizationUsed()
    if (known.state === 'paid') {
      if (known.output === null) throw answerGiven(known.id)
      return toPaid(known, known.output, known.txHash)
    }
    // Any number may ask the chain for the same transfer; only one asks the tool.
    if (known.output !== null) return await settling.settle(known, known.output)
    const taken = await store.take(known.id, clock.now(), until())
    if (taken === null) throw authorizationBusy()
    // The chain's own refusal stands; a tool that failed may do better now.
    const { refusal } = await facilitator.verify(read(taken.request))
    if (refusal !== null) {
      await store.failed(taken.id, refusal)
      throw paymentRefused(refusal, taken.id)
    }
    const leave = enter(tool)
    try {
      return await work(taken, { tool, input, ask })
    } finally {
      leave()
    }
  }

  async function work(row: ToolPayment, { tool, input, ask }: Omit<Again, 'inputHash'>): Promise<PaidCall> {
    const started = performance.now()
    let output: Output
    try {
      output = await unpaid.reach.ask({ callId: row.id, tool, input, signal: ask.gone, onProgress: () => undefined })
      ask.gone.throwIfAborted()
    } catch (thrown) {
      const error = ask.gone.aborted ? callAborted() : thrown
      const durationMs = Math.round(performance.now() - started)
      await fail(row, error, durationMs)
      throw ofCall(error, row.id)
    }
    const durationMs = Math.round(performance.now() - started)
    if (!(await store.answered(row.id, output, durationMs, new Date(clock.now().getTime() + SETTLE_MS))))
      throw authorizationBusy()
    await checkpoint('answered')
    return await settling.settle({ ...row, state: 'answered', output, durationMs }, output)
  }

  async function fail(row: ToolPayment, error: unknown, durationMs: number): Promise<void> {
    const known = error instanceof DomainError ? error : null
    if (known === null) log.error({ callId: row.id, err: error }, 'a call failed for a reason of ours')
    const code = known?.code ?? 'internal'
    await store.failed(row.id, code)
    await calls.note({
      ...callOf(row, durationMs, clock.now()),
      cost: ZERO,
      failure: { code, sentence: (known?.message ?? 'A fault of ours.').slice(0, 500) },
      fault: faultOf(error),
      kept: null,
    })
  }

  function enter(tool: Tool): () => void {
    const leave = unpaid.bulkhead(tool)
    if (leave === null) throw providerBusy(tool.provider)
    return leave
  }

  /** The facilitator names what is wrong in a request of its own; here only the payload is somebody else's. */
  function read(request: unknown) {
    try {
      return facilitator.read(request)
    } catch (error) {
      if (!(error instanceof DomainError) || error.kind !== 'invalid') throw error
      const details = Object.entries(error.fields['details'] as Record<string, string>)
      throw invalid(
        Object.fromEntries(details.map(([name, fault]) => [name.replace(/^payment\./, ''), fault])),
        error.code,
      )
    }
  }

  function until(): Date {
    return new Date(clock.now().getTime() + timeoutMs + SPARE_MS)
  }

  return {
    pay,

    /** What a call costs, once it is known that it can be made. */
    async offer(slug: string, input: unknown): Promise<ToolOffer> {
      const tool = await find(slug)
      unpaid.checked(tool, input)
      return offerOf(tool)
    },

    /** Its state, without what was answered. */
    async find(id: CallId): Promise<ToolPayment> {
      const found = await store.find(id)
      if (found === null) throw paymentMissing()
      return found
    },

    given: (id: CallId): Promise<void> => store.given(id),
    sweep: (now: Date): Promise<void> => settling.sweep(now),
  }
}

export type ToolPayments = ReturnType<typeof createToolPayments>

export interface PayAsk {
  slug: string
  input: unknown
  presented: Carried
  operation: Id<'op'>
  gone: AbortSignal
}

interface Again {
  tool: Tool
  input: Readonly<Record<string, unknown>>
  inputHash: Buffer
  ask: PayAsk
}

function requestOf(offer: ToolOffer, { payload, version }: Carried): unknown {
  const requirements = requirementsOf(offer)
  return {
    x402Version: version,
    paymentPayload: payload,
    paymentRequirements: version === 1 ? requirements.v1 : requirements.v2,
  }
}

const SPARE_MS = 30_000
/** Whoever waits for the chain is at it for so long; then the sweeper is as well. */
const SETTLE_MS = 30_000
