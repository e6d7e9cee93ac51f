import { z } from 'zod'
import { reply, route, type AnyRoute } from '../../api/route.ts'
import { toWire } from '../../kit/money.ts'
import { amountOut, timestamp } from '../../kit/wire.ts'
import { paymentMissing } from '../errors/call.ts'
import type { Sale } from '../../sales/model.ts'
import { sellOverHttp, withinMaxCost, type Counter, type Paid } from '../../sales/service/door.ts'
import type { CallInput } from '../model/call.ts'
import type { ToolPayments } from '../service/pay/payments.ts'
import type { ToolAnswer } from '../service/pay/product.ts'
import { faultOfShape } from '../rules/shape.ts'
import { bound } from './reading.ts'

/** A tool's input before it is checked against the tool's schema. The API can handle it like any other body. */
export const toolInput = z.unknown().transform((value, context) => {
  for (const [field, message] of Object.entries(faultOfShape(value) ?? {})) {
    context.addIssue({ code: 'custom', path: field === 'body' ? [] : [field], message })
  }
  return value ?? {}
})

/** Sells a call to a client without a key, at whichever address it comes. */
export function createToolDoor(payments: ToolPayments, facilitator: string) {
  return {
    isOpen: () => payments.isAvailable(),

    sell(
      request: Parameters<typeof sellOverHttp>[0],
      { slug, input, maxCost }: Pick<CallInput, 'slug' | 'input' | 'maxCost'>,
    ) {
      const counter: Counter<ToolAnswer> = {
        facilitator,
        dialects: payments.dialects,
        journal: payments.journal,
        offer: () => payments.offer(slug, input),
        buy: (ask) => payments.buy(slug, input, ask),
        toBody: toPaidResult,
      }
      return sellOverHttp(request, withinMaxCost(counter, maxCost ?? null))
    },
  }
}

export type ToolDoor = ReturnType<typeof createToolDoor>

/** The older address of calls without a key, and how far such a call is. */
export function payRoutes(payments: ToolPayments, door: ToolDoor): AnyRoute[] {
  return [
    route({
      method: 'post',
      path: '/pay/:slug',
      summary: 'Call a tool without a key, as `POST /tools/{slug}` does too: a 402 response states the price',
      tag: 'Tools',
      auth: 'anyone',
      limit: 'pay',
      sells: { description: 'One call of the tool' },
      params: z.object({ slug: z.string() }),
      query: bound,
      body: toolInput,
      answers: { 200: paidOut },
      errors: {
        402: 'The price, or why the payment was refused.',
        404: 'There is no such tool.',
        409: 'The authorization already paid for something else; or it is public, so the payment token is required; or its call is in progress or was already answered.',
        410: 'The authorization has expired, or the tool was removed.',
        502: 'The tool failed; nothing is charged. The authorization can be used again for the same call.',
        503: 'Settlement is pending: retry with the payment token. Or settlement is unavailable right now.',
        504: 'The tool did not answer in time; nothing is charged.',
      },
      handle: ({ params: { slug }, body: input, query: { maxCost = null }, ...request }) =>
        door.sell(request, { slug, input, maxCost }),
    }),
    route({
      method: 'get',
      path: '/pay/:slug/calls/:id',
      summary: 'Get the status of a call that was paid by x402',
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
  return {
    ...call,
    success: true,
    output: output.value,
    simulated: output.simulated === true,
    credits: null,
    balance: null,
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

const TOKEN =
  'If this response is lost, send it as X-Payment-Token with the callId as X-Payment-ID within ten minutes to get the answer, or within 26 hours where the payment was pending'

/** What an answer has when its call was paid without a key. */
export const paidFields = {
  txHash: z.string().optional().meta({ description: 'The transfer that paid for it, without a key' }),
  paymentToken: z
    .string()
    .optional()
    .meta({ description: `Without a key. ${TOKEN}` }),
}

const paidOut = z.looseObject({
  success: z.literal(true),
  tool: z.string(),
  output: z.unknown(),
  simulated: z.boolean().meta({ description: 'The sandbox made the output up; the tool was not called' }),
  cost: amountOut,
  duration: z.int(),
  callId: z.string(),
  txHash: z.string(),
  paymentToken: z.string().meta({ description: TOKEN }),
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
