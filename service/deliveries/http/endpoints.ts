import { z } from 'zod'
import { reply, route, type AnyRoute, type ServerEvent } from '../../api/route.ts'
import { isSigningSecret, SIGNING_SECRET_FAULT } from '../../kit/signing-secret.ts'
import { page, timestamp } from '../../kit/wire.ts'
import { EVENTS, type Endpoint, type FetchedDelivery } from '../model.ts'
import type { Deliveries } from '../service/deliveries.ts'
import type { TestEvent } from '../service/endpoints.ts'

export function endpointRoutes(deliveries: Deliveries): AnyRoute[] {
  const { endpoints } = deliveries
  return [
    route({
      method: 'get',
      path: '/webhook-endpoints',
      summary: 'Your webhook endpoints in this environment, newest first',
      tag: 'Webhooks',
      auth: 'person',
      query: page,
      answers: {
        200: z.object({ webhookEndpoints: z.array(endpointBody), total: z.int(), limit: z.int(), offset: z.int() }),
      },
      async handle({ caller, query }) {
        const { endpoints: listed, total } = await endpoints.list(caller, query)
        return reply(200, { webhookEndpoints: listed.map(toEndpoint), total, ...query })
      },
    }),
    route({
      method: 'post',
      path: '/webhook-endpoints',
      summary: 'Create a webhook endpoint; only this response contains its secret',
      tag: 'Webhooks',
      auth: 'person',
      idempotent: true,
      body: newEndpointBody,
      answers: { 201: withSecret },
      errors: { 409: 'You have too many webhook endpoints, or the Idempotency-Key was used for another request.' },
      async handle({ caller, body, operation }) {
        const { endpoint, secret } = await endpoints.create(caller, { ...body, secret: body.secret ?? null }, operation)
        return secretOnce(201, endpoint, secret)
      },
    }),
    ...routesOfOne(deliveries),
    ...fetchRoutes(deliveries),
  ]
}

function routesOfOne({ endpoints }: Deliveries): AnyRoute[] {
  return [
    route({
      method: 'get',
      path: '/webhook-endpoints/:id',
      summary: 'One of your webhook endpoints',
      tag: 'Webhooks',
      auth: 'person',
      params: named,
      answers: { 200: shown },
      errors: MISSING,
      handle: async ({ caller, params }) => reply(200, show(await endpoints.get(caller, params.id))),
    }),
    route({
      method: 'patch',
      path: '/webhook-endpoints/:id',
      summary: 'Change the address or events of an endpoint, or enable or disable it',
      tag: 'Webhooks',
      auth: 'person',
      params: named,
      body: changedEndpointBody,
      answers: { 200: shown },
      errors: MISSING,
      async handle({ caller, params, body }) {
        const change = { url: body.url ?? null, events: body.events ?? null, status: body.status ?? null }
        return reply(200, show(await endpoints.change(caller, params.id, change)))
      },
    }),
    route({
      method: 'delete',
      path: '/webhook-endpoints/:id',
      summary: 'Delete a webhook endpoint',
      tag: 'Webhooks',
      auth: 'person',
      params: named,
      answers: { 204: z.undefined() },
      errors: MISSING,
      async handle({ caller, params }) {
        await endpoints.remove(caller, params.id)
        return reply(204, undefined)
      },
    }),
    route({
      method: 'post',
      path: '/webhook-endpoints/:id/rotate-secret',
      summary: 'Rotate the secret of an endpoint; the old secret stays valid for 24 hours',
      tag: 'Webhooks',
      auth: 'person',
      idempotent: true,
      params: named,
      answers: { 200: withSecret },
      errors: MISSING,
      async handle({ caller, params, operation }) {
        const { endpoint, secret } = await endpoints.rotate(caller, params.id, operation)
        return secretOnce(200, endpoint, secret)
      },
    }),
    route({
      method: 'post',
      path: '/webhook-endpoints/:id/test',
      summary: 'Send a test event, with all fields, of each type that the endpoint subscribes to',
      tag: 'Webhooks',
      auth: 'person',
      idempotent: true,
      params: named,
      body: testBody.optional(),
      answers: { 202: testOut },
      errors: { ...MISSING, 409: 'The endpoint is disabled.' },
      async handle({ caller, params, body, operation }) {
        return reply(202, toTests(await endpoints.test(caller, params.id, body?.event ?? null, operation)))
      },
    }),
  ]
}

/** For programs without an address, such as a command line behind a home router. */
function fetchRoutes({ fetching }: Deliveries): AnyRoute[] {
  const common = { tag: 'Webhooks', auth: 'person', params: named, errors: FETCH_ERRORS } as const
  return [
    route({
      ...common,
      method: 'get',
      path: '/webhook-endpoints/:id/events',
      summary: 'Stream the events of a `listen:` endpoint, oldest first, until they are confirmed',
      answers: {
        200: z.string().meta({
          description:
            'Events `delivery`, each with `{id, turn, headers, body}`: the request that an address would get. `turn` grows with every redelivery and replay. At most 20 are on their way unconfirmed',
        }),
      },
      async handle({ caller, params }) {
        const follow = await fetching.follow(caller, params.id)
        return { status: 200, body: null, events: (gone) => toStream(follow(gone)) }
      },
    }),
    route({
      ...common,
      method: 'post',
      path: '/webhook-endpoints/:id/events/confirm',
      summary: 'Confirm events of a `listen:` endpoint; those that are not confirmed are streamed again',
      body: confirmBody,
      answers: { 204: z.undefined() },
      async handle({ caller, params, body }) {
        const handled = body.deliveries.map(({ turn = null, ...each }) => ({ ...each, turn }))
        await fetching.confirm(caller, params.id, handled)
        return reply(204, undefined)
      },
    }),
    route({
      ...common,
      method: 'post',
      path: '/webhook-endpoints/:id/events/replay',
      summary: 'Stream the events of a `listen:` endpoint again from a time on, at most seven days back',
      body: replayBody,
      answers: { 200: z.object({ replayed: z.int() }) },
      handle: async ({ caller, params, body }) =>
        reply(200, await fetching.replay(caller, params.id, new Date(body.since))),
    }),
  ]
}

async function* toStream(deliveries: AsyncIterable<FetchedDelivery>): AsyncIterable<ServerEvent> {
  for await (const delivery of deliveries) yield { event: 'delivery', id: delivery.id, data: delivery }
}

const confirmBody = z.strictObject({
  deliveries: z
    .array(
      z.strictObject({
        id: z.string().max(100),
        turn: z
          .int()
          .min(0)
          .max(2_147_483_647)
          .optional()
          .meta({ description: 'The turn that your program handled; a later one stays to be streamed' }),
        status: z.int().min(100).max(599).meta({ description: 'What your program answered' }),
      }),
    )
    .min(1)
    .max(100),
})

const replayBody = z.strictObject({ since: z.iso.datetime({ offset: true }) })

const MISSING = { 404: 'You have no such webhook endpoint in this environment.' }
const FETCH_ERRORS = { ...MISSING, 409: 'The endpoint is disabled, or its events are sent to an address.' }
const named = z.object({ id: z.string() })

const url = z
  .string()
  .max(2_000, 'must have at most 2000 characters')
  .meta({
    examples: ['https://example.com/hook'],
    description: 'An address; or `listen:` and a name, for a program that fetches its events',
  })

const events = z
  .array(z.enum(EVENTS))
  .min(1)
  .max(EVENTS.length)
  .transform((names) => [...new Set(names)])

export const newEndpointBody = z.strictObject({
  url,
  events,
  secret: z.string().refine(isSigningSecret, SIGNING_SECRET_FAULT).nullish().meta({
    description:
      'A secret that your receiver already has: whsec_ and base64, or 24 to 75 characters that are the key itself; generated when absent',
    minLength: 24,
    maxLength: 94,
  }),
})

export const changedEndpointBody = z.strictObject({
  url: url.optional(),
  events: events.optional(),
  status: z.enum(['enabled', 'disabled']).optional(),
})

export const testBody = z.strictObject({
  event: z
    .enum(EVENTS)
    .optional()
    .meta({ description: 'Send only this type, even if the endpoint does not subscribe to it' }),
})

const testOut = z.object({
  deliveryId: z.string().meta({ description: 'The id of the first delivery' }),
  deliveries: z.array(z.object({ id: z.string(), event: z.enum(EVENTS) })),
})

export function toTests(deliveries: readonly TestEvent[]): z.infer<typeof testOut> {
  const [first] = deliveries
  if (first === undefined) throw new Error('an endpoint subscribes to no event')
  return { deliveryId: first.id, deliveries: [...deliveries] }
}

const endpointBody = z
  .object({
    id: z.string(),
    url: z.string(),
    events: z.array(z.enum(EVENTS)),
    status: z.enum(['enabled', 'disabled']),
    failingSince: timestamp.nullable().meta({ description: 'Since when every delivery has failed' }),
    disabledAt: timestamp.nullable(),
    createdAt: timestamp,
  })
  .meta({ id: 'WebhookEndpoint' })

const shown = z.object({ webhookEndpoint: endpointBody })
const withSecret = z.object({
  webhookEndpoint: endpointBody,
  secret: z
    .string()
    .nullable()
    .meta({ description: 'whsec_…, or the secret that you chose; null in a replayed response' }),
})

function show(endpoint: Endpoint): z.infer<typeof shown> {
  return { webhookEndpoint: toEndpoint(endpoint) }
}

function secretOnce(status: number, endpoint: Endpoint, secret: string) {
  return { ...reply(status, { ...show(endpoint), secret }), replayBody: { ...show(endpoint), secret: null } }
}

export function toEndpoint(endpoint: Endpoint): z.infer<typeof endpointBody> {
  const { id, status } = endpoint
  return {
    id,
    url: endpoint.url,
    events: [...endpoint.events],
    status,
    failingSince: endpoint.failingSince?.toISOString() ?? null,
    disabledAt: endpoint.disabledAt?.toISOString() ?? null,
    createdAt: endpoint.createdAt.toISOString(),
  }
}
