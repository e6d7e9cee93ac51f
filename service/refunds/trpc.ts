import { actKey, asked, keyed, named, paging, person, router } from '../api/trpc.ts'
import { filterInput, refundBody, toFilter, toPayment, toRefund, toWholePayment } from './http.ts'
import type { Payments } from './service/payments.ts'

/** The dashboard's procedures for payments of all products. */
export function paymentsRouter(payments: Payments) {
  return router({
    list: person.input(asked(paging.extend(filterInput.shape))).query(async ({ ctx, input }) => {
      const { limit, offset, ...filter } = input
      const { sales, total } = await payments.list(ctx.caller, toFilter(filter), { limit, offset })
      return { payments: sales.map(toPayment), total }
    }),
    get: person
      .input(asked(named))
      .query(async ({ ctx, input }) => toWholePayment(await payments.get(ctx.caller, input.id))),
    refund: keyed.input(asked(refundBody.extend(named.shape).extend(actKey))).mutation(({ ctx, input }) =>
      ctx.once(input, async (operation) => {
        const { id: paymentId, amount = null, reason } = input
        return toRefund(await payments.refund(ctx.caller, { paymentId, amount, reason }, operation))
      }),
    ),
  })
}
