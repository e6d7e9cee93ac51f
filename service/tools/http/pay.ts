import { z } from 'zod'
import { reply, route, type AnyRoute } from '../../api/route.ts'
import { toWire } from '../../kit/money.ts'
import { amountOut, timestamp } from '../../kit/wire.ts'
import { paymentMissing } from '../errors/call.ts'
import type { Sale } from '../../sales/model.ts'
import { sellOverHttp, type Paid } from '../../sales/service/door.ts'
import type { ToolPayments } from '../service/pay/payments.ts'
import type { ToolAnswer } from '../service/pay/product.ts'
import { toolInput } from './calls.ts'

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
      handle: ({ params: { slug }, body: input, ...request }) =>
        sellOverHttp(request, {
          facilitator,
          journal: payments.journal,
          offer: () => payments.offer(slug, input),
          buy: (ask) => payments.buy(slug, input, ask),
          toBody: toPaidResult,
        }),
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

function toPaidResult({ sale, value }: Paid<ToolAnswer>) {
  const { output, durationMs: duration } = value
  const call = { callId: sale.id, tool: String(sale.details['slug']), cost: toWire(sale.amount), duration }
  return { ...call, success: true, output: output.value, credits: null, balance: null }
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
