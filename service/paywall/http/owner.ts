import { z } from 'zod'
import { reply, route, type AnyRoute, type Reply } from '../../api/route.ts'
import { toWire } from '../../kit/money.ts'
import { amountOut, page, timestamp } from '../../kit/wire.ts'
import type { Paywall } from '../model.ts'
import type { ProvenPayment } from '../service/owner.ts'
import type { Paywalls } from '../service/paywalls.ts'
import { analyticsOut, spanOf, spanQuery, toAnalyticsBody } from './analytics.ts'
import { newPaywall, paywallChange, paywallOut, toChange, toPaywallBody, toWanted } from './bodies.ts'

/** `/paywalls`, for sellers. */
export function paywallRoutes(paywalls: Paywalls, place: Place): AnyRoute[] {
  const toBody = (paywall: Paywall): z.input<typeof paywallOut> =>
    toPaywallBody(paywall, { gate: place.gate, testToken: paywalls.testTokenOf(paywall) })
  return [...wholeRoutes(paywalls, toBody), ...oneRoutes(paywalls, toBody), ...salesRoutes(paywalls, place)]
}

interface Place {
  /** The address of the gateway. */
  gate: string
  now: () => Date
}

type ToBody = (paywall: Paywall) => z.input<typeof paywallOut>

const common = { tag: 'Paywalls', auth: 'person' } as const
const one = { params: z.object({ id: z.string() }), errors: { 404: 'You have no such paywall.' } }
const withoutSecret = z.object({ paywall: paywallOut })
const withSecret = z.object({
  paywall: paywallOut,
  secret: z.string().nullable().meta({ description: 'Signs the payer for the upstream; null in a replayed response' }),
})

function wholeRoutes(paywalls: Paywalls, toBody: ToBody): AnyRoute[] {
  return [
    route({
      ...common,
      method: 'post',
      path: '/paywalls',
      summary: 'Create a paywall for an HTTP API',
      idempotent: true,
      body: newPaywall,
      answers: { 201: withSecret },
      errors: { 409: 'The slug is taken, or the Idempotency-Key was used for another request.' },
      async handle({ caller, body, operation }) {
        const { paywall, secret } = await paywalls.create(caller, toWanted(body), operation)
        return once(201, toBody(paywall), secret)
      },
    }),
    route({
      ...common,
      method: 'get',
      path: '/paywalls',
      summary: 'Your paywalls in this environment, newest first',
      query: page,
      answers: { 200: z.object({ paywalls: z.array(paywallOut), total: z.int(), limit: z.int(), offset: z.int() }) },
      async handle({ caller, query }) {
        const listed = await paywalls.list(caller, query)
        return reply(200, { paywalls: listed.paywalls.map(toBody), total: listed.total, ...query })
      },
    }),
  ]
}

function oneRoutes(paywalls: Paywalls, toBody: ToBody): AnyRoute[] {
  return [
    route({
      ...common,
      ...one,
      method: 'get',
      path: '/paywalls/:id',
      summary: 'One paywall',
      answers: { 200: withoutSecret },
      handle: async ({ caller, params }) => reply(200, { paywall: toBody(await paywalls.get(caller, params.id)) }),
    }),
    route({
      ...common,
      ...one,
      method: 'patch',
      path: '/paywalls/:id',
      summary: 'Change a paywall; quoted prices stay valid for ten minutes',
      body: paywallChange,
      answers: { 200: withoutSecret },
      errors: { ...one.errors, 409: 'The slug is taken, or it was edited since.' },
      async handle({ caller, params, body }) {
        return reply(200, { paywall: toBody(await paywalls.change(caller, params.id, toChange(body))) })
      },
    }),
    route({
      ...common,
      ...one,
      method: 'delete',
      path: '/paywalls/:id',
      summary: 'Delete a paywall; payments in progress are still settled',
      answers: { 200: withoutSecret },
      handle: async ({ caller, params }) => reply(200, { paywall: toBody(await paywalls.remove(caller, params.id)) }),
    }),
    route({
      ...common,
      ...one,
      method: 'post',
      path: '/paywalls/:id/rotate-secret',
      summary: 'Rotate the secret that signs the payer; it applies at once',
      idempotent: true,
      answers: { 200: withSecret },
      async handle({ caller, params }) {
        const { paywall, secret } = await paywalls.rotateSecret(caller, params.id)
        return once(200, toBody(paywall), secret)
      },
    }),
  ]
}

function salesRoutes(paywalls: Paywalls, { now }: Place): AnyRoute[] {
  return [
    route({
      ...common,
      ...one,
      method: 'get',
      path: '/paywalls/:id/payments',
      summary: 'Payments of a paywall, newest first',
      query: page,
      answers: { 200: z.object({ payments: z.array(paymentOut), total: z.int(), limit: z.int(), offset: z.int() }) },
      async handle({ caller, params, query }) {
        const { payments, total } = await paywalls.payments(caller, params.id, query)
        return reply(200, { payments: payments.map(toPaymentBody), total, ...query })
      },
    }),
    route({
      ...common,
      ...one,
      method: 'get',
      path: '/paywalls/:id/analytics',
      summary: 'Revenue, customers, calls and refusals, by route and day',
      query: spanQuery,
      answers: { 200: z.object({ analytics: analyticsOut }) },
      async handle({ caller, params, query }) {
        const span = spanOf(query, now())
        return reply(200, { analytics: toAnalyticsBody(await paywalls.analytics(caller, params.id, span), span) })
      },
    }),
  ]
}

export const paymentOut = z
  .object({
    id: z.string(),
    status: z.enum(['calling', 'released', 'settling', 'paid', 'failed']),
    kind: z.enum(['request', 'balance']),
    route: z.string(),
    endpoint: z.string(),
    amount: amountOut,
    refunded: amountOut.meta({ description: 'How much of it went back' }),
    currency: z.literal('USDC'),
    network: z.enum(['base', 'base-sepolia']),
    payer: z.string(),
    txHash: z.string().nullable(),
    reason: z.string().nullable(),
    delivered: z.boolean(),
    testMode: z.boolean(),
    createdAt: timestamp,
    endedAt: timestamp.nullable(),
    signedReceipt: z
      .string()
      .nullable()
      .meta({ description: 'The receipt by the x402 extension offer-receipt, as a JWS; null unless it was paid' }),
    verifyUrl: z.string().nullable().meta({ description: 'A page that verifies the signed receipt' }),
  })
  .meta({ id: 'PaywallPayment' })

export function toPaymentBody(payment: ProvenPayment): z.input<typeof paymentOut> {
  const { id, kind, route: pattern, endpoint, network, payer, txHash, reason } = payment
  return {
    id,
    status: payment.state,
    kind,
    route: pattern,
    endpoint,
    amount: toWire(payment.amount),
    refunded: toWire(payment.refunded),
    currency: 'USDC',
    network,
    payer,
    txHash,
    reason,
    delivered: payment.delivery !== 'none',
    testMode: payment.simulated,
    createdAt: payment.createdAt.toISOString(),
    endedAt: payment.endedAt?.toISOString() ?? null,
    signedReceipt: payment.signedReceipt,
    verifyUrl: payment.verifyUrl,
  }
}

/** Answers are stored for repeated requests; their secrets are not stored in plain text. */
function once(status: number, paywall: z.input<typeof paywallOut>, secret: string): Reply {
  return { ...reply(status, { paywall, secret }), replayBody: { paywall, secret: null } }
}
