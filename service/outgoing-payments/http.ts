import { z } from 'zod'
import { reply, route, type AnyRoute } from '../api/route.ts'
import { toWire } from '../kit/money.ts'
import { amountOut, page, positiveAmount, timestamp } from '../kit/wire.ts'
import type { Payment } from './model.ts'
import type { OutgoingPayments } from './service/payments.ts'

export function outgoingPaymentRoutes(payments: OutgoingPayments): AnyRoute[] {
  return [
    route({
      method: 'post',
      path: '/pay',
      summary: 'Call an address that asks for money by x402, and pay it',
      tag: 'Payments',
      auth: 'agent',
      idempotent: true,
      body: payBody,
      answers: { 200: paidBody },
      errors: {
        202: 'A person must approve it first; the same request again then pays. With `async` it then goes on by itself, and the approval names the payment.',
        402: 'The address asks for more than `maxAmount`, or the balance is too low. Nothing was signed.',
        403: "The agent's limits or lists forbid it. Nothing was signed.",
        502: 'The address offers nothing that can be paid from here, or failed. With `paymentId` an authorization may have left.',
        503: 'This server cannot pay on this network now.',
        504: 'The address did not answer in time. With `paymentId` an authorization may have left.',
      },
      async handle({ caller, body, operation, keyed }) {
        const { url, maxAmount } = body
        const headers = withType(body.headers ?? {}, body.body)
        const request = { url, maxAmount, method: body.method, headers, body: textOf(body.body) }
        const { payment, response } = await payments.pay(caller, request, operation, { keyed, background: body.async })
        return reply(200, { payment: payment === null ? null : toPayment(payment), response })
      },
    }),
    route({
      method: 'get',
      path: '/pay',
      summary: 'Payments of addresses outside, newest first',
      tag: 'Payments',
      auth: 'agent',
      query: page,
      answers: { 200: z.object({ payments: z.array(paymentBody), total: z.int(), limit: z.int(), offset: z.int() }) },
      async handle({ caller, query }) {
        const found = await payments.list(caller, query)
        return reply(200, { payments: found.payments.map(toPayment), total: found.total, ...query })
      },
    }),
    route({
      method: 'get',
      path: '/pay/:id',
      summary: 'One of them: whether the seller took the money',
      tag: 'Payments',
      auth: 'agent',
      params: z.object({ id: z.string() }),
      answers: { 200: z.object({ payment: paymentBody, response: responseBody }) },
      errors: { 404: 'There is no such payment of yours.' },
      async handle({ caller, params }) {
        const { payment, response } = await payments.find(caller, params.id)
        return reply(200, { payment: toPayment(payment), response })
      },
    }),
  ]
}

const payBody = z.strictObject({
  url: z
    .string()
    .max(2_048, 'must have at most 2048 characters')
    .refine((text) => /^https?:\/\//i.test(text) && URL.canParse(text), 'must be an http or https address')
    .transform((text) => {
      const url = new URL(text)
      // Never sent, and not part of what a person approves.
      url.hash = ''
      return url.href
    }),
  method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']).default('GET'),
  headers: z
    .record(z.string().max(100), z.string().max(4_096))
    .meta({ description: 'At most 50; a payment is made here and not sent along', maxProperties: 50 })
    .nullish()
    .refine((headers) => Object.keys(headers ?? {}).length <= 50, 'must have at most 50')
    .refine((headers) => !Object.keys(headers ?? {}).some((name) => OURS.has(name.toLowerCase())), {
      error: 'must not pay: the payment is made here',
    }),
  body: z.unknown().optional().meta({ description: 'Text is sent as it is, anything else as JSON' }),
  maxAmount: positiveAmount.meta({ description: 'The most that the call may cost, in USDC' }),
  async: z.boolean().default(false).meta({
    description: 'Where a person must approve it first: then it goes on by itself, and its answer is kept',
  }),
})

const OURS = new Set(['x-payment', 'payment-signature'])

const paymentBody = z
  .object({
    id: z.string(),
    status: z.enum(['pending', 'settled', 'returned']).meta({
      description: 'Settled once the chain shows it; pending until then, or until it has expired unused',
    }),
    confirmed: z.boolean().meta({ description: 'Deep enough in the chain, and captured' }),
    amount: amountOut,
    currency: z.literal('USDC'),
    maxAmount: amountOut,
    network: z.string(),
    payer: z.string(),
    recipient: z.string(),
    txHash: z.string().nullable(),
    url: z.string(),
    method: z.string(),
    agentId: z.string().nullable(),
    responseStatus: z.int().nullable(),
    reason: z.string().nullable().meta({ description: 'Why it was given back' }),
    expiresAt: timestamp.meta({ description: 'An authorization that is unused then costs nothing' }),
    createdAt: timestamp,
    endedAt: timestamp.nullable(),
  })
  .meta({ id: 'PaidCall' })

const responseBody = z
  .object({
    status: z.int(),
    headers: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
    body: z.string(),
    encoding: z.enum(['utf8', 'base64']),
  })
  .nullable()
  .meta({
    description:
      'What the address answered. Null where a repeated request came after the end; by the id it is kept of an `async` call that a person approved.',
  })

const paidBody = z.object({
  payment: paymentBody.nullable().meta({ description: 'Null where the address asked for no money' }),
  response: responseBody,
})

function toPayment(payment: Payment): z.input<typeof paymentBody> {
  const { id, state, network, payer, payTo, txHash, url, method, agentId, answerStatus } = payment
  return {
    id,
    status: state === 'returned' ? 'returned' : txHash === null ? 'pending' : 'settled',
    confirmed: state === 'settled',
    amount: toWire(payment.amount),
    currency: 'USDC',
    maxAmount: toWire(payment.maxAmount),
    network,
    payer,
    recipient: payTo,
    txHash,
    url,
    method,
    agentId,
    responseStatus: answerStatus,
    reason: payment.reason,
    expiresAt: new Date(Number(payment.validBefore) * 1000).toISOString(),
    createdAt: payment.createdAt.toISOString(),
    endedAt: payment.endedAt?.toISOString() ?? null,
  }
}

function textOf(body: unknown): string | null {
  if (body === undefined || body === null) return null
  return typeof body === 'string' ? body : JSON.stringify(body)
}

/** JSON says that it is, unless the caller says otherwise. */
function withType(headers: Readonly<Record<string, string>>, body: unknown): Record<string, string> {
  const hasType = Object.keys(headers).some((name) => name.toLowerCase() === 'content-type')
  const isJson = body !== undefined && body !== null && typeof body !== 'string'
  return hasType || !isJson ? { ...headers } : { ...headers, 'content-type': 'application/json' }
}
