import { z } from 'zod'
import { asked, named, paging, person, router } from '../api/trpc.ts'
import type { Clock } from '../kit/clock.ts'
import { passBody } from './service/shown.ts'
import type { Pass } from './model.ts'
import type { Passes } from './service/passes.ts'

/** Passes of one checkout or one customer, or all of them. */
const listed = paging.extend({
  checkout: z.string().max(100).optional(),
  customer: z.string().trim().max(254).toLowerCase().optional(),
})

/** The dashboard's procedures for passes. */
export function passesRouter(passes: Passes, clock: Clock) {
  const toBody = (pass: Pass) => passBody(pass, clock.now())
  return router({
    list: person.input(asked(listed)).query(async ({ ctx, input: { checkout = null, customer = null, ...page } }) => {
      const filter = { checkoutId: checkout, holder: null, customer }
      const { passes: found, total } = await passes.page(ctx.caller, filter, page)
      return { passes: found.map(toBody), total }
    }),
    /** Its payment stays as it is. */
    end: person.input(asked(named)).mutation(async ({ ctx, input }) => toBody(await passes.end(ctx.caller, input.id))),
  })
}
