import { z } from 'zod'
import { reply, route, type AnyRoute } from '../api/route.ts'
import type { Address } from '../chain/model.ts'
import type { Pass } from './model.ts'
import type { Passes } from './service/passes.ts'
import { passBody, passOut } from './service/shown.ts'

const common = { tag: 'Passes', auth: 'person' } as const
const one = { params: z.object({ id: z.string() }), errors: { 404: 'You have no such pass.' } }

/** `/passes`, for sellers. */
export function passRoutes(passes: Passes, now: () => Date): AnyRoute[] {
  const toBody = (pass: Pass) => passBody(pass, now())
  return [
    route({
      ...common,
      method: 'get',
      path: '/passes',
      summary: 'Passes that customers have bought at your checkouts, newest first',
      query: passQuery,
      answers: { 200: z.object({ passes: z.array(passOut), cursor: z.string().nullable() }) },
      async handle({ caller, query: { checkout = null, holder = null, limit, cursor = null } }) {
        const found = await passes.list(caller, { checkoutId: checkout, holder, customer: null }, { limit, cursor })
        return reply(200, { passes: found.passes.map(toBody), cursor: found.cursor })
      },
    }),
    route({
      ...common,
      ...one,
      method: 'get',
      path: '/passes/:id',
      summary: 'One pass',
      answers: { 200: z.object({ pass: passOut }) },
      handle: async ({ caller, params }) => reply(200, { pass: toBody(await passes.get(caller, params.id)) }),
    }),
    route({
      ...common,
      ...one,
      method: 'post',
      path: '/passes/:id/end',
      summary: 'End a pass: it cannot be used any more. Its payment is not refunded by this',
      answers: { 200: z.object({ pass: passOut }) },
      handle: async ({ caller, params }) => reply(200, { pass: toBody(await passes.end(caller, params.id)) }),
    }),
  ]
}

const passQuery = z.object({
  checkout: z.string().max(100).optional(),
  holder: z
    .string()
    .regex(/^0x[0-9a-fA-F]{40}$/, 'must be an address')
    .transform((text) => text.toLowerCase() as Address)
    .optional()
    .meta({ description: 'The wallet that paid' }),
  limit: z
    .string()
    .regex(/^\d{1,3}$/, 'must be a whole number')
    .transform(Number)
    .refine((value) => value >= 1 && value <= 100, 'must be from 1 to 100')
    .default(20)
    .meta({ type: 'integer', minimum: 1, maximum: 100, default: 20 }),
  cursor: z.string().max(100).optional().meta({ description: 'From an earlier answer' }),
})
