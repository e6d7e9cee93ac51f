import { z } from 'zod'
import { reply, route, type AnyRoute } from '../api/route.ts'
import { toWire } from '../kit/money.ts'
import { credentialText } from '../mpp/credential.ts'
import { amountOut, page, positiveAmount, timestamp } from '../kit/wire.ts'
import { paymentReturned } from './errors.ts'
import type { Payment } from './model.ts'
import type { OutgoingPayments } from './service/payments.ts'

export function outgoingPaymentRoutes(payments: OutgoingPayments): AnyRoute[] {
  return [
    route({
      method: 'post',
      path: '/pay',
      summary: 'Call an address and pay for the call by x402 or MPP',
      tag: 'Payments',
      auth: 'agent',
      idempotent: true,
      body: payBody,
      answers: { 200: paidBody },
      errors: {
        202: 'A person must approve the payment first; then send the same request again. With `async` it continues by itself, and the approval names the payment.',
        402: 'The address charges more than `maxAmount`, or the balance is too low. Nothing was signed.',
        403: "The agent's limits or lists forbid it. Nothing was signed.",
        410: 'A payment with this `Idempotency-Key` was given back: nothing was paid, or the address did not take it in time. Use a new key for a new payment.',
        502: 'The address makes no offer that this server can pay, or it failed. If there is a `paymentId`, an authorization may have been sent.',
        503: 'This server cannot pay on this network now.',
        504: 'The address did not answer in time. If there is a `paymentId`, an authorization may have been sent.',
      },
      async handle({ caller, body, operation, keyHash }) {
        const { url, maxAmount } = body
        const headers = withType(body.headers ?? {}, body.body)
        const request = { url, maxAmount, method: body.method, headers, body: textOf(body.body) }
        const how = { keyed: keyHash !== null, background: body.async }
        const { payment, response } = await payments.pay(caller, request, operation, how)
        if (payment?.state === 'returned' && response === null) throw paymentReturned(payment)
        return reply(200, { payment: payment === null ? null : toPayment(payment), response })
      },
    }),
    route({
      method: 'get',
      path: '/pay',
      summary: 'List outgoing payments, newest first',
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
      summary: 'Get an outgoing payment',
      tag: 'Payments',
      auth: 'agent',
      params: z.object({ id: z.string() }),
      answers: { 200: z.object({ payment: paymentBody, response: responseBody }) },
      errors: { 404: 'You have no such payment.' },
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
    .meta({ description: 'At most 50; payment headers are not allowed, because this endpoint pays', maxProperties: 50 })
    .nullish()
    .refine((headers) => Object.keys(headers ?? {}).length <= 50, 'must have at most 50')
    .refine((headers) => !Object.entries(headers ?? {}).some(isPayment), {
      error: 'must not contain a payment header: this endpoint pays',
    }),
  body: z.unknown().optional().meta({ description: 'Text is sent as it is, anything else as JSON' }),
  maxAmount: positiveAmount.meta({ description: 'The most that the call may cost, in USDC' }),
  async: z.boolean().default(false).meta({
    description:
      'If a person must approve the payment: it continues by itself after the approval, and its response is stored',
  }),
})

function isPayment([name, value]: readonly [string, string]): boolean {
  const lower = name.toLowerCase()
  return OURS.has(lower) || (lower === 'authorization' && credentialText(value) !== null)
}

const OURS = new Set(['x-payment', 'payment-signature', 'payment-authorization'])

const paymentBody = z
  .object({
    id: z.string(),
    status: z.enum(['pending', 'settled', 'returned']).meta({
      description: 'Settled once it is on chain; pending until then or until the authorization expires unused',
    }),
    confirmed: z.boolean().meta({ description: 'The settlement has enough confirmations and is captured' }),
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
    protocol: z.enum(['x402', 'mpp']),
    receipt: z.record(z.string(), z.unknown()).nullable().meta({
      description: "The seller's own receipt, not verified: `PAYMENT-RESPONSE` of x402 or `Payment-Receipt` of MPP",
    }),
    reason: z.string().nullable().meta({ description: 'Why the money was returned' }),
    expiresAt: timestamp.meta({ description: 'An authorization that is unused at this time costs nothing' }),
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
      'What the address answered. Null for a repeated request after the payment ended. For an `async` call that a person approved, it is stored under the id of the payment.',
  })

const paidBody = z.object({
  payment: paymentBody.nullable().meta({ description: 'Null when the address did not require a payment' }),
  response: responseBody,
})

function toPayment(payment: Payment): z.input<typeof paymentBody> {
  const { id, state, network, payer, payTo, txHash, url, method, agentId, answerStatus, offer, receipt } = payment
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
    protocol: offer.version === 'mpp' ? 'mpp' : 'x402',
    receipt,
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
