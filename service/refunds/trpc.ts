import { z } from 'zod'
import { actKey, asked, keyed, named, person, router } from '../api/trpc.ts'
import { refundBody, signatureBody, toRefund, toWholePayment } from './http.ts'
import type { Payments } from './service/payments.ts'

/** The dashboard's procedures for payments of all products. */
export function paymentsRouter(payments: Payments) {
  return router({
    get: person
      .input(asked(named))
      .query(async ({ ctx, input }) => toWholePayment(await payments.get(ctx.caller, input.id))),
    refund: keyed.input(asked(refundBody.extend(named.shape).extend(actKey))).mutation(({ ctx, input }) =>
      ctx.once(input, async (operation) => {
        const { id: paymentId, amount = null, reason, from } = input
        return toRefund(await payments.refund(ctx.caller, { paymentId, amount, reason, from }, operation))
      }),
    ),
    signRefund: person
      .input(asked(signatureBody.extend(named.shape).extend({ refundId: z.string() })))
      .mutation(async ({ ctx, input: { id: paymentId, refundId, signature } }) =>
        toRefund(await payments.sign(ctx.caller, { paymentId, refundId, signature })),
      ),
  })
}
