import { z } from 'zod'
import { paymentRequired, receiptHeader } from '../../x402/answers.ts'
import type { Version } from '../../x402/model.ts'
import { presentedIn } from '../../x402/payload.ts'
import { reply, route, type AnyRoute, type Reply } from '../../api/route.ts'
import { DomainError } from '../../kit/errors.ts'
import { toDecimal, toWire } from '../../kit/money.ts'
import { amountOut, timestamp } from '../../kit/wire.ts'
import { TOKEN } from '../../sales/service/proof.ts'
import { badToken, paymentMissing } from '../errors/payment.ts'
import type { Sale } from '../../sales/model.ts'
import type { PaidCall, ToolOffer } from '../model/payment.ts'
import { requirementsOf } from '../rules/x402.ts'
import type { ToolPayments } from '../service/pay.ts'
import { toolInput } from './input.ts'

/** Calls without a key, each paid by x402 of either version. */
export function payRoutes(payments: ToolPayments, facilitator: string): AnyRoute[] {
  return [
    route({
      method: 'post',
      path: '/pay/:slug',
      summary: 'Call a tool without a key: 402 says what to pay, by x402 of either version',
      tag: 'Tools',
      auth: 'anyone',
      limit: 'pay',
      params: z.object({ slug: z.string() }),
      body: toolInput,
      answers: { 200: paidOut },
      errors: {
        402: 'What is to be paid; or why the payment is refused.',
        404: 'There is no such tool.',
        409: 'The authorization has paid for something else, or is public already, so that the payment token is needed; or its call is under way, or its answer was given.',
        410: 'The authorization has expired, or the tool is gone.',
        502: 'The tool failed; nothing is charged, the authorization can be used again for the same call.',
        503: 'The payment is on its way: ask again with its token. Or nothing can be settled right now.',
        504: 'The tool did not answer in time; nothing is charged.',
      },
      async handle({ params: { slug }, body: input, header, operation, gone }) {
        const presented = presentedIn(header)
        const payment = header('x-payment-id') ?? null
        const token = header('x-payment-token') ?? null
        if (token !== null && !TOKEN.test(token)) throw badToken()
        if (presented === null && payment === null)
          return required(await payments.offer(slug, input), facilitator, 'A payment is required.')
        try {
          const paid = await payments.pay({ slug, input, presented, token, payment, operation, gone: gone() })
          const whenSent = (arrived: boolean) => payments.handedOver(paid.callId, arrived)
          return { ...reply(200, toPaidResult(paid)), headers: receiptOf(paid, presented?.version ?? 2), whenSent }
        } catch (error) {
          if (!(error instanceof DomainError) || error.code !== 'payment_refused') throw error
          return required(await payments.offer(slug, input), facilitator, error.message, String(error.fields['reason']))
        }
      },
    }),
    route({
      method: 'get',
      path: '/pay/:slug/calls/:id',
      summary: 'How far a call that was paid for by x402 has come',
      tag: 'Tools',
      auth: 'anyone',
      params: z.object({ slug: z.string(), id: z.string() }),
      answers: { 200: stateOut },
      errors: { 404: 'There is no such call.' },
      async handle({ params: { slug, id } }) {
        const sale = await payments.find(id)
        if (sale.details['slug'] !== slug) throw paymentMissing()
        return reply(200, toState(sale))
      },
    }),
  ]
}

function required(offer: ToolOffer, facilitator: string, error: string, reason: string | null = null): Reply {
  const { slug: memo, recipient } = offer
  const resource = { url: offer.address, description: offer.name, mimeType: 'application/json' }
  const terms = { requirements: requirementsOf(offer), resource, amount: toDecimal(offer.amount), recipient }
  return { status: 402, ...paymentRequired({ ...terms, facilitator, memo, error, reason }) }
}

/** Where a client of that version looks for it. */
function receiptOf({ network, payer, txHash, callId, token }: PaidCall, version: Version): Record<string, string> {
  const [name, receipt] = receiptHeader({ success: true, txHash, network, payer }, version)
  return { 'Cache-Control': 'no-store', 'X-Payment-ID': callId, 'X-Payment-Token': token, [name]: receipt }
}

function toPaidResult({ tool, output, cost, durationMs, callId, txHash, network, payer, token }: PaidCall) {
  return {
    success: true,
    tool,
    output,
    cost: toWire(cost),
    credits: null,
    balance: null,
    duration: durationMs,
    callId,
    txHash,
    network,
    payer,
    paymentToken: token,
  }
}

function toState({ id, details, state, amount, network, reason, txHash, createdAt }: Sale) {
  return {
    callId: id,
    tool: String(details['slug']),
    status: STATUS[state],
    amount: toWire(amount),
    network,
    reason,
    txHash,
    at: createdAt.toISOString(),
  }
}

const STATUS = {
  claimed: 'calling',
  held: 'calling',
  released: 'failed',
  settling: 'settling',
  paid: 'paid',
  failed: 'failed',
  refunded: 'failed',
} as const

const paidOut = z.looseObject({
  success: z.literal(true),
  tool: z.string(),
  output: z.unknown(),
  cost: amountOut,
  duration: z.int(),
  callId: z.string(),
  txHash: z.string(),
  paymentToken: z.string().meta({
    description:
      'If this response is lost, send it as X-Payment-Token with the callId as X-Payment-ID within ten minutes to get the answer',
  }),
})

const stateOut = z.object({
  callId: z.string(),
  tool: z.string(),
  status: z.enum(['calling', 'settling', 'paid', 'failed']),
  amount: amountOut,
  network: z.string(),
  reason: z.string().nullable(),
  txHash: z.string().nullable(),
  at: timestamp,
})
