import { z } from 'zod'
import { actKey, asked, keyed, named, paging, person, router } from '../api/trpc.ts'
import { couponBody, couponExample, limitsBody, toCouponOut, toLimits, toTerms } from './http.ts'
import type { Coupons } from './service.ts'

/** The dashboard's procedures for coupons. */
export function couponsRouter(coupons: Coupons) {
  return router({
    list: person
      .input(asked(paging.extend({ archived: z.boolean().optional() })))
      .query(async ({ ctx, input: { archived = false, ...rest } }) => {
        const { coupons: found, total } = await coupons.list(ctx.caller, archived, rest)
        return { coupons: found.map(toCouponOut), total }
      }),
    create: keyed
      .input(asked(couponBody.safeExtend(actKey), couponExample))
      .mutation(({ ctx, input: { key, ...body } }) =>
        ctx.once({ key }, async (operation) => toCouponOut(await coupons.create(ctx.caller, toTerms(body), operation))),
      ),
    change: person
      .input(asked(z.object({ id: named.shape.id, body: limitsBody })))
      .mutation(async ({ ctx, input }) =>
        toCouponOut(await coupons.change(ctx.caller, input.id, toLimits(input.body))),
      ),
    archive: person
      .input(asked(named))
      .mutation(async ({ ctx, input }) => toCouponOut(await coupons.archive(ctx.caller, input.id))),
  })
}
