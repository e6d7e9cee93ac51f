import { z } from 'zod'
import { reply, route, type AnyRoute } from '../../api/route.ts'
import { isWebAddress, plainLine, plainText } from '../../kit/fields.ts'
import { positiveAmount, timestamp } from '../../kit/wire.ts'
import type { PaymentRequest } from '../model.ts'
import type { CheckoutPages } from '../ports.ts'
import { requestView } from '../rules/requests.ts'
import type { Checkouts } from '../service/checkouts.ts'
import { commonOf, requestOut } from './answers.ts'

/** What a seller asks a buyer for within an order. */
export function requestRoutes(checkouts: Checkouts, now: () => Date): AnyRoute[] {
  const common = { tag: 'Checkouts', auth: 'person', params: z.object({ id: z.string() }) } as const
  const toBody = (request: PaymentRequest) => ownRequest(checkouts, request, now())
  return [
    route({
      ...common,
      method: 'post',
      path: '/payments/:id/requests',
      summary: 'Ask the buyer of a payment for a further amount, which is paid as a payment of its own',
      idempotent: true,
      query: z.object({
        waits: z.literal('true').optional().meta({
          description:
            'The work waits until the request has ended: refused while the answer to the delivery is awaited as its result',
        }),
      }),
      body: z.strictObject({
        amount: positiveAmount,
        note: plainLine(200).meta({ description: 'What it is for. The buyer reads it' }),
        expiresInSeconds: z.int().min(60).max(604_800).optional().meta({
          description: 'How long the buyer has for it. Defaults to a day, at most a week',
        }),
        callbackUrl: plainText(2_048).refine(isWebAddress, 'must be an http or https address').nullish().meta({
          description: 'Is sent how it ended: `paid`, `refused` or `expired`; signed with your signing secret',
        }),
      }),
      answers: { 201: z.object({ request: ownOut }) },
      errors: {
        404: 'You have no such payment.',
        409: 'The payment has failed or was refunded, has three open requests, or had twenty; or its work may not wait.',
      },
      async handle({ caller, params, operation, body, query }) {
        const { amount, note, expiresInSeconds = DAY_SECONDS, callbackUrl = null } = body
        const wanted = { amount, note, expiresInSeconds, callbackUrl, waits: query.waits === 'true' }
        return reply(201, { request: toBody(await checkouts.ask(caller, params.id, wanted, operation)) })
      },
    }),
    route({
      ...common,
      method: 'get',
      path: '/payments/:id/requests',
      summary: 'The further amounts that the buyer of a payment was asked for, oldest first',
      answers: { 200: z.object({ requests: z.array(ownOut) }) },
      errors: { 404: 'You have no such payment.' },
      async handle({ caller, params }) {
        return reply(200, { requests: (await checkouts.requests(caller, params.id)).map(toBody) })
      },
    }),
  ]
}

const ownOut = requestOut
  .extend({
    of: z.string().meta({ description: 'The payment whose buyer is asked' }),
    checkoutId: z.string(),
    callbackUrl: z.string().nullable(),
    createdAt: timestamp,
    endedAt: timestamp.nullable(),
  })
  .meta({ id: 'PaymentRequest' })

/** As its owner sees it. */
export function ownRequest(checkouts: Checkouts, request: PaymentRequest, now: Date): z.input<typeof ownOut> {
  return {
    ...requestView(request, checkouts.addressOf(request.checkoutId), now),
    of: request.paymentId,
    checkoutId: request.checkoutId,
    callbackUrl: request.callbackUrl,
    createdAt: request.createdAt.toISOString(),
    endedAt: request.endedAt?.toISOString() ?? null,
  }
}

/** The buyer's answer, where it is no payment. */
export function refusalRoute(checkouts: Checkouts, pages: CheckoutPages, now: () => Date): AnyRoute {
  return route({
    ...commonOf(pages),
    method: 'post',
    path: '/:chk/payments/:pay/requests/:request/refuse',
    summary: 'Refuse a further amount, with the token of the payment in X-Payment-Token',
    limit: 'pay',
    params: z.object({ chk: z.string(), pay: z.string(), request: z.string() }),
    answers: { 200: z.object({ request: requestOut }) },
    errors: {
      404: 'There is no such request, or the token is that of another payment.',
      409: 'It was paid or has expired, or a payment of it is under way.',
    },
    async handle({ params, header }) {
      const refusal = { payment: params.pay, token: header('x-payment-token') ?? null, id: params.request }
      const request = await checkouts.refuse(params.chk, refusal)
      const body = requestView(request, checkouts.addressOf(request.checkoutId), now())
      return { ...reply(200, { request: body }), headers: { 'Cache-Control': 'no-store' } }
    },
  })
}

const DAY_SECONDS = 86_400
