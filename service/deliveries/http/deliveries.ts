import { z } from 'zod'
import { reply, route, type AnyRoute } from '../../api/route.ts'
import { accountOf } from '../../kit/caller.ts'
import { page, timestamp } from '../../kit/wire.ts'
import { DELIVERY_STATES, type Attempt, type DeliveryDetail, type DeliveryView } from '../model.ts'
import type { Deliveries } from '../service/deliveries.ts'

export function deliveryRoutes(deliveries: Deliveries): AnyRoute[] {
  return [
    route({
      method: 'get',
      path: '/deliveries',
      summary: 'Deliveries to your receivers, newest first',
      tag: 'Webhooks',
      auth: 'person',
      query: filter,
      answers: {
        200: z.object({ deliveries: z.array(deliveryBody), total: z.int(), limit: z.int(), offset: z.int() }),
      },
      async handle({ caller, query: { limit, offset, subject, status, target } }) {
        const wanted = { subject: subject ?? null, state: status ?? null, target: target ?? null }
        const { deliveries: listed, total } = await deliveries.list(caller, wanted, { limit, offset })
        return reply(200, { deliveries: listed.map(toDelivery), total, limit, offset })
      },
    }),
    route({
      method: 'get',
      path: '/deliveries/:id',
      summary: 'One delivery, with every attempt',
      tag: 'Webhooks',
      auth: 'person',
      params: named,
      answers: { 200: z.object({ delivery: detailBody }) },
      errors: MISSING,
      handle: async ({ caller, params }) => reply(200, { delivery: toDetail(await deliveries.get(caller, params.id)) }),
    }),
    route({
      method: 'post',
      path: '/deliveries/:id/redeliver',
      summary: 'Redeliver now with the same webhook-id; it can be claimed again',
      tag: 'Webhooks',
      auth: 'person',
      idempotent: true,
      params: named,
      answers: { 202: z.object({ delivery: detailBody }) },
      errors: { ...MISSING, 409: 'Its webhook endpoint is disabled or deleted.' },
      async handle({ caller, params, operation }) {
        const delivery = await deliveries.redeliver(accountOf(caller), params.id, operation)
        return reply(202, { delivery: toDetail(delivery) })
      },
    }),
    route({
      method: 'post',
      path: '/deliveries/:id/claim',
      summary: 'Claim a delivery before you act on it: true for the first caller, false for all others',
      tag: 'Webhooks',
      auth: 'person',
      idempotent: true,
      params: named,
      answers: { 200: z.object({ claimed: z.boolean() }) },
      errors: MISSING,
      async handle({ caller, params, operation }) {
        return reply(200, await deliveries.claim(accountOf(caller), params.id, operation))
      },
    }),
  ]
}

const MISSING = { 404: 'You have no such delivery in this environment.' }
const named = z.object({ id: z.string() })

const filter = page.extend({
  subject: z.string().max(100).optional().meta({ description: 'The subject of the delivery: pay_…, run_…, evt_…' }),
  status: z.enum(DELIVERY_STATES).optional(),
  target: z.string().max(100).optional().meta({ description: 'The id of a checkout or a webhook endpoint' }),
})

const deliveryBody = z
  .object({
    id: z.string().meta({ description: 'The webhook-id' }),
    subject: z.string(),
    target: z.string().nullable(),
    url: z.string(),
    status: z.enum(DELIVERY_STATES),
    attemptCount: z.int(),
    lastStatus: z.int().nullable(),
    lastError: z.string().nullable(),
    lastAttemptAt: timestamp.nullable(),
    nextAttemptAt: timestamp.nullable(),
    claimedAt: timestamp.nullable(),
    deliveredAt: timestamp.nullable(),
    createdAt: timestamp,
  })
  .meta({ id: 'Delivery' })

const attemptBody = z.object({
  at: timestamp,
  durationMs: z.int(),
  status: z.int().nullable(),
  error: z.string().nullable(),
  answer: z.string().nullable().meta({ description: 'The first 2 KB of the answer' }),
})

const detailBody = deliveryBody
  .extend({
    body: z.string().meta({
      description:
        'The body that is signed and sent, as text: JSON, in which `input` is what the customer of a checkout filled in',
    }),
    attempts: z.array(attemptBody),
  })
  .meta({ id: 'DeliveryDetail' })

export function toDelivery(delivery: DeliveryView): z.infer<typeof deliveryBody> {
  return {
    id: delivery.id,
    subject: delivery.subject,
    target: delivery.target,
    url: delivery.url,
    status: delivery.state,
    attemptCount: delivery.attempts,
    lastStatus: delivery.lastStatus,
    lastError: delivery.lastError,
    lastAttemptAt: delivery.lastAttemptAt?.toISOString() ?? null,
    nextAttemptAt: delivery.nextAttemptAt?.toISOString() ?? null,
    claimedAt: delivery.claimedAt?.toISOString() ?? null,
    deliveredAt: delivery.deliveredAt?.toISOString() ?? null,
    createdAt: delivery.createdAt.toISOString(),
  }
}

export function toDetail(delivery: DeliveryDetail): z.infer<typeof detailBody> {
  return { ...toDelivery(delivery), body: delivery.body, attempts: delivery.history.map(toAttempt) }
}

function toAttempt({ at, durationMs, status, error, answer }: Attempt): z.infer<typeof attemptBody> {
  return { at: at.toISOString(), durationMs, status, error, answer: answer?.slice(0, SHOWN) ?? null }
}

/** Some deliveries store longer answers, for the buyer; the list of attempts is for people to read. */
const SHOWN = 2_048
