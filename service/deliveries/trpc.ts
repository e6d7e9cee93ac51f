import { z } from 'zod'
import { actKey, asked, keyed, named, newOperation, paging, person, router, withoutSecret } from '../api/trpc.ts'
import { accountOf } from '../kit/caller.ts'
import type { Clock } from '../kit/clock.ts'
import { toDelivery, toDetail } from './http/deliveries.ts'
import { changedEndpointBody, newEndpointBody, testBody, toEndpoint, toTests } from './http/endpoints.ts'
import { DELIVERY_STATES } from './model.ts'
import type { Deliveries } from './service/deliveries.ts'

/** The dashboard's procedures: deliveries to an account's receivers, and the endpoints that subscribe to events. */
export function deliveriesRouters(deliveries: Deliveries, clock: Clock) {
  return { deliveries: sentRouter(deliveries), webhooks: endpointsRouter(deliveries, clock) }
}

function sentRouter(deliveries: Deliveries) {
  return router({
    list: person.input(asked(filter)).query(async ({ ctx, input: { subject, status, target, ...rest } }) => {
      const wanted = { subject: subject ?? null, state: status ?? null, target: target ?? null }
      const { deliveries: found, total } = await deliveries.list(ctx.caller, wanted, rest)
      return { deliveries: found.map(toDelivery), total }
    }),
    get: person
      .input(asked(named))
      .query(async ({ ctx, input }) => toDetail(await deliveries.get(ctx.caller, input.id))),
    redeliver: keyed
      .input(asked(named.extend(actKey)))
      .mutation(({ ctx, input }) =>
        ctx.once(input, async (operation) =>
          toDetail(await deliveries.redeliver(accountOf(ctx.caller), input.id, operation)),
        ),
      ),
  })
}

function endpointsRouter({ endpoints }: Deliveries, clock: Clock) {
  return router({
    list: person.input(asked(paging)).query(async ({ ctx, input }) => {
      const { endpoints: found, total } = await endpoints.list(ctx.caller, input)
      return { endpoints: found.map(toEndpoint), total }
    }),
    get: person
      .input(asked(named))
      .query(async ({ ctx, input }) => toEndpoint(await endpoints.get(ctx.caller, input.id))),
    /** Only this answer and the one of `rotate` contain the secret. */
    create: keyed.input(asked(newEndpointBody.extend(actKey))).mutation(({ ctx, input }) =>
      ctx.once(
        input,
        async (operation) => {
          const wanted = { url: input.url, events: input.events, secret: input.secret ?? null }
          const { endpoint, secret } = await endpoints.create(ctx.caller, wanted, operation)
          return { endpoint: toEndpoint(endpoint), secret }
        },
        withoutSecret,
      ),
    ),
    change: person.input(asked(changedEndpointBody.extend(named.shape))).mutation(async ({ ctx, input }) => {
      const change = { url: input.url ?? null, events: input.events ?? null, status: input.status ?? null }
      return toEndpoint(await endpoints.change(ctx.caller, input.id, change))
    }),
    remove: person.input(asked(named)).mutation(async ({ ctx, input }) => {
      await endpoints.remove(ctx.caller, input.id)
    }),
    rotate: person.input(asked(named)).mutation(async ({ ctx, input }) => {
      const { endpoint, secret } = await endpoints.rotate(ctx.caller, input.id, newOperation(clock))
      return { endpoint: toEndpoint(endpoint), secret }
    }),
    test: person
      .input(asked(testBody.extend(named.shape)))
      .mutation(async ({ ctx, input }) =>
        toTests(await endpoints.test(ctx.caller, input.id, input.event ?? null, newOperation(clock))),
      ),
  })
}

const filter = paging.extend({
  subject: z.string().max(100).optional(),
  status: z.enum(DELIVERY_STATES).optional(),
  target: z.string().max(100).optional(),
})
