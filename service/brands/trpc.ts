import { asked, person, router } from '../api/trpc.ts'
import { brandBody } from './http.ts'
import type { Brands } from './service.ts'

/** The dashboard's procedures for how an account shows itself. */
export function brandRouter(brands: Brands) {
  return router({
    get: person.query(({ ctx }) => brands.get(ctx.caller)),
    change: person.input(asked(brandBody)).mutation(({ ctx, input }) => brands.change(ctx.caller, input)),
  })
}
