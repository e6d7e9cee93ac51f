import type { Address, Hex } from '../../chain/model.ts'
import type { PaymentRequest, Presented } from '../../x402/model.ts'
import { readRequest, requestOf } from '../../x402/payload.ts'
import { outlasts } from '../../x402/requirements.ts'
import { authorizationUsed, paymentSubmitted } from '../../facilitator/errors.ts'
import { assertBuyer, chosenTokenHash } from '../../facilitator/service/proof.ts'
import { idLike, isId, type Id } from '../../kit/ids.ts'
import { ZERO } from '../../kit/money.ts'
import { requestHash } from '../../spending/service/request.ts'
import { providerBusy } from '../errors/call.ts'
import {
  answerGiven,
  authorizationBusy,
  lapsesTooSoon,
  needsKey,
  otherCall,
  paymentMissing,
  paymentRefused,
  paymentsUnavailable,
} from '../errors/payment.ts'
import type { CallId } from '../model/call.ts'
import type { PaidCall, ToolOffer, ToolPayment } from '../model/payment.ts'
import type { Tool } from '../model/tool.ts'
import { requirementsOf, writes } from '../rules/x402.ts'
import type { ToolPaymentParts } from './pay/parts.ts'
import { createPaySettling, toPaid } from './pay/settle.ts'
import { createPayWork } from './pay/work.ts'

/**
 * Calls without an account, each paid by itself. The authorization is taken first, so that it pays for nothing else. A
 * tool that only reads is asked, its answer is kept, then the money moves, then the answer goes out. Before a tool that
 * may change something is asked, the money has arrived; its answer is owed until there is one.
 */
export function createToolPayments(parts: ToolPaymentParts) {
  const { unpaid, store, facilitator, clock, environment, network, checkpoint, timeoutMs, address, tokens } = parts
  const settling = createPaySettling(parts)
  const work = createPayWork(parts, settling)

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

  /** How long the tool may take before the money moves. */
  function workOf(tool: Tool): number {
    return writes(tool.upstream) ? 0 : timeoutMs
  }

  async function pay(ask: PayAsk): Promise<PaidCall> {
    const { presented, operation, slug } = ask
    const tool = await find(slug)
    const input = unpaid.checked(tool, ask.input)
    const inputHash = Buffer.from(requestHash([tool.id, input]), 'hex')
    if (ask.payment !== null) {
      const known = await proven(tool, ask, ask.payment)
      return await again(known, { tool, input, inputHash, ask, isProven: true })
    }
    if (presented === null) throw new Error('a call is paid for, or names its payment')
    const request = requestOf(presented, requirementsOf(offerOf(tool)))
    const payment = readRequest(request)
    const digest = facilitator.purchases.digestOf(payment)
    const known = digest === null ? null : await store.findByDigest(digest)
    if (known !== null) {
      const token = tokens.matches(known.id, known.tokenHash, ask.token)
      assertBuyer(
        { signature: readRequest(known.request).authorization?.signature ?? '', submitted: known.submitted },
        { signature: presented.authorization?.signature ?? null, token },
      )
      return await again(known, { tool, input, inputHash, ask, isProven: token })
    }
    const { refusal, payer, payerHasCode } = await facilitator.verify(payment)
    if (refusal !== null || digest === null || payer === null) {
      throw paymentRefused(refusal ?? 'unsupported_payload_type')
    }
    // A wallet with code may take its word back while the tool works: the money moves before it is asked.
    const owed = payerHasCode || writes(tool.upstream)
    if (!owed) assertOutlasts(tool, payment)
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
        tokenHash: chosenTokenHash(ask.token),
        submitted: false,
        amount: tool.price,
        network,
        payer: payer.toLowerCase() as Address,
        recipient: offerOf(tool).recipient,
        request,
        state: 'claimed',
        owed,
        output: null,
        durationMs: 0,
        reason: null,
        txHash: null,
        createdAt: now,
        paidAt: null,
      }
      await claim(row)
      await checkpoint('claimed')
      return await work(row, { tool, input, gone: ask.gone })
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

  /** A call that was paid for here, named by its buyer: by the token, or by a signature that no chain has seen. */
  async function proven(tool: Tool, { presented, token }: PayAsk, name: string): Promise<ToolPayment> {
    const fresh = presented === null ? null : readRequest(requestOf(presented, requirementsOf(offerOf(tool))))
    const known = await named(name, fresh)
    if (known === null) throw otherCall('names no call that was paid for here')
    if (tokens.matches(known.id, known.tokenHash, token)) return known
    if (fresh === null)
      throw otherCall("needs the payment's X-Payment-Token beside it, or a fresh signature of its payer")
    const { refusal, payer } = await facilitator.verify(fresh)
    if (payer?.toLowerCase() !== known.payer) throw otherCall('needs a signature of its own payer')
    if (refusal !== null) throw paymentRefused(refusal)
    const digest = facilitator.purchases.digestOf(fresh)
    if (digest === null || digest === known.digest) throw otherCall('needs a fresh signature')
    const proof = { digest, buys: known.id }
    if (!(await store.inTransaction((inside) => facilitator.purchases.prove(inside, proof)))) throw authorizationUsed()
    return known
  }

  /** Who lost the answer knows the nonce of what they signed, and not the call's id. */
  async function named(name: string, fresh: PaymentRequest | null): Promise<ToolPayment | null> {
    if (isId('call', name)) return await store.find(name)
    const payer = fresh?.authorization?.from
    if (payer === undefined || !NONCE.test(name)) return null
    const digest = await facilitator.purchases.digestBy(network, payer, name as Hex)
    return digest === null ? null : await store.findByDigest(digest)
  }

  /** The same authorization again: for the same call, as far as it has come. */
  async function again(known: ToolPayment, { tool, input, inputHash, ask, isProven }: Again): Promise<PaidCall> {
    if (known.toolId !== tool.id || known.inputHash.compare(inputHash) !== 0) throw authorizationUsed()
    if (known.state === 'paid' && !known.owed) {
      if (known.output === null) throw answerGiven(known.id)
      return toPaid(known, known.output, known.txHash, tokens.of(known.id))
    }
    // Any number may ask the chain for the same transfer; only one asks the tool.
    if (known.output !== null) {
      return toPaid(known, known.output, await settling.settle(known), tokens.of(known.id))
    }
    const leave = enter(tool)
    try {
      const taken = await store.take(known.id, clock.now(), until())
      if (taken === null) throw authorizationBusy()
      // The chain's own refusal stands; a tool that failed may do better now.
      const valid = taken.owed ? taken : await validated(taken, tool, isProven)
      return await work(valid, { tool, input, gone: ask.gone })
    } finally {
      leave()
    }
  }

  /** The payment as it stands now: a payer may have become a wallet with code since its first try. */
  async function validated(row: ToolPayment, tool: Tool, isProven: boolean): Promise<ToolPayment> {
    const payment = readRequest(row.request)
    const { refusal, payerHasCode } = await facilitator.verify(payment)
    // Somebody else has submitted it: it is this call's all the same, for its buyer, whom the signature names no more.
    // Or its payer has cancelled it: the chain says which, before the tool is asked.
    const isUsed = refusal === USED && isProven
    if (refusal !== null && !isUsed) {
      await store.failed(row.id, refusal)
      throw refusal === USED ? paymentSubmitted() : paymentRefused(refusal, row.id)
    }
    if (isUsed || payerHasCode) {
      // Never back again: once the money may move first, the answer is owed.
      if (!(await store.owe(row.id))) throw authorizationBusy()
      return { ...row, owed: true }
    }
    try {
      assertOutlasts(tool, payment)
    } catch (error) {
      await store.failed(row.id, 'invalid_exact_evm_payload_authorization_valid_before')
      throw error
    }
    return row
  }

  function assertOutlasts(tool: Tool, { authorization }: PaymentRequest): void {
    const workMs = workOf(tool)
    if (workMs > 0 && authorization !== null && !outlasts(authorization, workMs, clock.now())) {
      throw lapsesTooSoon(workMs)
    }
  }

  function enter(tool: Tool): () => void {
    const leave = unpaid.bulkhead(tool)
    if (leave === null) throw providerBusy(tool.provider)
    return leave
  }

  function until(): Date {
    return new Date(clock.now().getTime() + parts.settleMs + timeoutMs + SPARE_MS)
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

    findOrNull: (id: CallId): Promise<ToolPayment | null> => store.find(id),
    given: (id: CallId): Promise<void> => store.given(id),
    sweep: (now: Date): Promise<void> => settling.sweep(now),
  }
}

export type ToolPayments = ReturnType<typeof createToolPayments>

export interface PayAsk {
  slug: string
  input: unknown
  /** Null where a token alone says who is asking. */
  presented: Presented | null
  /** The token of a payment, or one that the buyer chooses for a new one. */
  token: string | null
  /** A payment that was made here: the call's id, or the nonce of its authorization. */
  payment: string | null
  operation: Id<'op'>
  gone: AbortSignal
}

interface Again {
  tool: Tool
  input: Readonly<Record<string, unknown>>
  inputHash: Buffer
  ask: PayAsk
  /** By the token or a fresh signature. */
  isProven: boolean
}

const NONCE = /^0x[0-9a-f]{64}$/
const USED = 'invalid_exact_evm_nonce_already_used'
const SPARE_MS = 30_000
