import { z } from 'zod'
import { reply, route, type AnyRoute, type Reply } from '../../api/route.ts'
import { toWire } from '../../kit/money.ts'
import { plainLine, plainText } from '../../kit/fields.ts'
import { page } from '../../kit/wire.ts'
import { planWith } from '../../passes/model.ts'
import type { Checkout } from '../model.ts'
import { onErrorOf, statusOf } from '../rules/lifecycle.ts'
import { withAmounts } from '../rules/price.ts'
import type { Checkouts } from '../service/checkouts.ts'
import { checkoutOut, paymentOut, shown } from './answers.ts'
import { requestRoutes } from './requests.ts'
import { changeBody, termsBody, termsExample, toChange, toTerms } from './bodies.ts'
import { inputBody } from '../service/bodies.ts'

/** `/checkouts`, for sellers. */
export function checkoutRoutes(checkouts: Checkouts, { pay, now }: Place): AnyRoute[] {
  const toBody = (checkout: Checkout): z.input<typeof checkoutOut> => bodyOf(checkout, pay, now())
  return [
    ...wholeRoutes(checkouts, toBody),
    ...lifeRoutes(checkouts, toBody),
    ...saleRoutes(checkouts),
    ...requestRoutes(checkouts, now),
  ]
}

interface Place {
  /** The address of the hosted forms. */
  pay: string
  now: () => Date
}

type ToBody = (checkout: Checkout) => z.input<typeof checkoutOut>

const common = { tag: 'Checkouts', auth: 'person' } as const
const one = { params: z.object({ id: z.string() }), errors: { 404: 'You have no such checkout.' } }

function wholeRoutes(checkouts: Checkouts, toBody: ToBody): AnyRoute[] {
  return [
    route({
      ...common,
      method: 'post',
      path: '/checkouts',
      summary: 'Create a checkout for a workflow; the same source gets the same checkout and secret back',
      idempotent: true,
      bodyBytesMax: BODY_BYTES_MAX,
      body: termsBody,
      example: termsExample,
      answers: { 201: withSecret },
      errors: { 409: 'The Idempotency-Key was used for another request.' },
      async handle({ caller, body, operation }) {
        const { checkout, secret } = await checkouts.put(caller, toTerms(body), operation)
        return once(201, toBody(checkout), secret)
      },
    }),
    route({
      ...common,
      method: 'get',
      path: '/checkouts',
      summary: 'Your checkouts in this environment, newest first',
      query: page,
      answers: {
        200: z.object({ checkouts: z.array(checkoutOut), total: z.int(), limit: z.int(), offset: z.int() }),
      },
      async handle({ caller, query }) {
        const listed = await checkouts.list(caller, query)
        return reply(200, { checkouts: listed.checkouts.map(toBody), total: listed.total, ...query })
      },
    }),
    route({
      ...common,
      ...one,
      method: 'get',
      path: '/checkouts/:id',
      summary: 'One checkout, even if it has expired',
      query: z.object({
        secret: z.literal('true').optional().meta({ description: 'Also show the secret that signs its deliveries' }),
      }),
      answers: { 200: withoutSecret.extend({ secret: withSecret.shape.secret.optional() }) },
      async handle({ caller, params, query }) {
        if (query.secret === undefined) return reply(200, { checkout: toBody(await checkouts.get(caller, params.id)) })
        const { checkout, secret } = await checkouts.withSecret(caller, params.id)
        return reply(200, { checkout: toBody(checkout), secret })
      },
    }),
    route({
      ...common,
      ...one,
      method: 'patch',
      path: '/checkouts/:id',
      summary: 'Change a checkout; buyers who were shown it before the change get what they were shown',
      bodyBytesMax: BODY_BYTES_MAX,
      body: changeBody,
      answers: { 200: withoutSecret },
      errors: { ...one.errors, 409: 'It has ended, belongs to a node in n8n, or was edited since.' },
      async handle({ caller, params, body }) {
        return reply(200, { checkout: toBody(await checkouts.change(caller, params.id, toChange(body))) })
      },
    }),
  ]
}

function lifeRoutes(checkouts: Checkouts, toBody: ToBody): AnyRoute[] {
  return [
    route({
      ...common,
      ...one,
      method: 'delete',
      path: '/checkouts/:id',
      summary: 'Expire a checkout; registering the same source again restores the same link',
      query: z.object({
        graceSeconds: z.coerce.number().int().min(0).max(60).optional().meta({
          description: 'How long the checkout stays open; registering its source again in this time cancels the expiry',
        }),
        lifetime: z.literal('temporary').optional().meta({
          description: 'Expire it only if it is temporary; a persistent one is answered as it is',
        }),
      }),
      answers: { 200: withoutSecret },
      async handle({ caller, params, query: { graceSeconds, lifetime } }) {
        const only = { graceSeconds, onlyTemporary: lifetime === 'temporary' }
        return reply(200, { checkout: toBody(await checkouts.expire(caller, params.id, only)) })
      },
    }),
    route({
      ...common,
      ...one,
      method: 'post',
      path: '/checkouts/:id/heartbeat',
      summary: 'Keep a temporary checkout open for 180 more seconds',
      answers: { 200: withoutSecret },
      handle: async ({ caller, params }) =>
        reply(200, { checkout: toBody(await checkouts.heartbeat(caller, params.id)) }),
    }),
    route({
      ...common,
      ...one,
      method: 'post',
      path: '/checkouts/:id/rotate-secret',
      summary: 'Rotate the secret; the old secret stays valid for 24 hours',
      idempotent: true,
      answers: { 200: withSecret },
      async handle({ caller, params, operation }) {
        const { checkout, secret } = await checkouts.rotateSecret(caller, params.id, operation)
        return once(200, toBody(checkout), secret)
      },
    }),
  ]
}

function saleRoutes(checkouts: Checkouts): AnyRoute[] {
  return [
    route({
      ...common,
      ...one,
      method: 'get',
      path: '/checkouts/:id/payments',
      summary: 'Payments of a checkout, newest first',
      query: page,
      answers: { 200: z.object({ payments: z.array(soldOut), total: z.int(), limit: z.int(), offset: z.int() }) },
      async handle({ caller, params, query }) {
        const { sales, total } = await checkouts.sales(caller, params.id, query)
        const payments = sales.map(({ payment, delivery, input }) => ({ ...payment, input, delivery }))
        return reply(200, { payments, total, ...query })
      },
    }),
    route({
      ...common,
      ...one,
      method: 'post',
      path: '/checkouts/:id/test-payment',
      summary: 'Simulate a payment in test mode; without an input, sample values are used',
      idempotent: true,
      bodyBytesMax: BODY_BYTES_MAX,
      body: z.strictObject({ input: inputBody.optional() }).optional(),
      answers: { 200: paymentOut },
      async handle({ caller, params, body, operation }) {
        return reply(200, shown(await checkouts.testPayment(caller, params.id, body?.input ?? null, operation)))
      },
    }),
    route({
      ...common,
      params: z.object({ id: z.string() }),
      method: 'post',
      path: '/payments/:id/outcome',
      summary:
        'Report how the work that a payment bought has ended; with `onSuccess` this decides whether it is charged',
      idempotent: true,
      bodyBytesMax: BODY_BYTES_MAX,
      body: z.strictObject({
        status: z.enum(['succeeded', 'failed']),
        answer: plainText(65_536)
          .refine((text) => Buffer.byteLength(text) <= 65_536, 'must be at most 64 KB')
          .nullish()
          .meta({ description: 'For the buyer: the result, or why it failed' }),
      }),
      answers: { 200: paymentOut },
      errors: { 404: 'You have no such payment.', 409: 'Another outcome was reported, or the payment has ended.' },
      async handle({ caller, params, body: { status, answer = null } }) {
        return reply(200, shown(await checkouts.report(caller, params.id, { status, answer })))
      },
    }),
    route({
      ...common,
      params: z.object({ id: z.string() }),
      method: 'post',
      path: '/payments/:id/progress',
      summary: 'Show the buyer a line of progress while the work that a payment bought is under way',
      body: z.strictObject({
        text: plainLine(200).meta({ description: 'One line. At most 5 a second and 500 for a payment' }),
        percent: z.number().min(0).max(100).nullish().meta({ description: 'How much is done' }),
      }),
      answers: {
        200: z.object({
          shown: z.boolean().meta({ description: 'False where the work has ended or not begun: nothing is stored' }),
        }),
      },
      errors: { 404: 'You have no such payment.', 409: 'The payment has 500 lines already.' },
      async handle({ caller, params, body: { text, percent = null } }) {
        const line = { text, percent: percent === null ? null : Math.round(percent) }
        return reply(200, { shown: await checkouts.writeProgress(caller, params.id, line) })
      },
    }),
  ]
}

const BODY_BYTES_MAX = 131_072
const withoutSecret = z.object({ checkout: checkoutOut })
const withSecret = z.object({
  checkout: checkoutOut,
  secret: z.string().nullable().meta({
    description: 'Signs the deliveries; null in a replayed response, and where no workflow is called',
  }),
})
const soldOut = paymentOut.shape.payment.extend({
  input: z.record(z.string(), z.unknown()),
  delivery: paymentOut.shape.delivery,
})

/** Answers are stored for repeated requests; their secrets are not stored in plain text. */
function once(status: number, checkout: z.input<typeof checkoutOut>, secret: string | null): Reply {
  return { ...reply(status, { checkout, secret }), replayBody: { checkout, secret: null } }
}

export function bodyOf(checkout: Checkout, pay: string, now: Date): z.input<typeof checkoutOut> {
  const { id, price, leasedUntil, expiredAt, pausedAt, createdAt, updatedAt } = checkout
  const url = `${pay}/${id}`
  const status = statusOf(checkout, now)
  return {
    id,
    url,
    x402Url: url,
    mcpUrl: `${url}/mcp`,
    status,
    lifetime: checkout.lifetime,
    expiresAt: leasedUntil?.toISOString() ?? null,
    callbackUrl: checkout.callbackUrl,
    after: checkout.after,
    picture: checkout.picture,
    product: checkout.product,
    price: toWire(price),
    pricing: withAmounts(checkout.pricing, toWire),
    coupons: checkout.coupons,
    currency: 'USDC',
    network: checkout.network,
    recipient: checkout.recipient,
    fields: [...checkout.fields],
    redirectUrl: checkout.redirectUrl,
    testMode: checkout.testMode,
    responseMode: checkout.responseMode,
    preflight: checkout.preflight,
    onUnconfirmed: checkout.onUnconfirmed,
    onError: onErrorOf(checkout),
    capture: checkout.capture,
    runSeconds: checkout.runSeconds,
    refundOnFailure: checkout.refundOnFailure,
    embedOrigins: [...checkout.embedOrigins],
    trialRuns: checkout.trialRuns,
    trialsPerDay: checkout.trialsPerDay,
    plans: checkout.plans.map((plan) => planWith(plan, toWire)),
    chat: checkout.chat,
    notify: checkout.notify,
    source: checkout.source,
    version: checkout.version,
    pausedAt: pausedAt?.toISOString() ?? null,
    expiredAt: (expiredAt ?? (status === 'expired' ? leasedUntil : null))?.toISOString() ?? null,
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  }
}
