import { renderSVG } from 'uqr'
import { z } from 'zod'
import { actKey, asked, firstOf, keyed, named, newOperation, paging, person } from '../api/trpc.ts'
import { router, someDays, withoutSecret } from '../api/trpc.ts'
import type { Clock } from '../kit/clock.ts'
import { toWire } from '../kit/money.ts'
import { changeBody, inputBody, shown, termsBody, toChange, toDraftTerms, toTerms } from './http/bodies.ts'
import { bodyOf } from './http/owner.ts'
import type { Checkout, CheckoutView } from './model.ts'
import type { Checkouts } from './service/checkouts.ts'

/** The dashboard's checkout procedures. `previewOf`: the page of a checkout, without a script. */
export function checkoutsRouter(
  checkouts: Checkouts,
  { pay, clock, previewOf }: { pay: string; clock: Clock; previewOf: (view: CheckoutView) => string },
) {
  const toBody = (checkout: Checkout) => bodyOf(checkout, pay, clock.now())
  return router({
    list: person.input(asked(paging)).query(async ({ ctx, input }) => {
      const { checkouts: found, total } = await checkouts.list(ctx.caller, input)
      return { checkouts: found.map(toBody), total }
    }),
    get: person.input(asked(named)).query(async ({ ctx, input }) => {
      const checkout = toBody(await checkouts.get(ctx.caller, input.id))
      return { ...checkout, qr: renderSVG(checkout.url, { border: 2 }) }
    }),
    /** Only this answer and the one of `rotateSecret` contain the secret. */
    create: keyed.input(asked(termsBody.extend(actKey))).mutation(({ ctx, input: { key, ...body } }) =>
      ctx.once(
        { key },
        async (operation) => {
          const { checkout, secret } = await checkouts.put(ctx.caller, toTerms(body), operation)
          return { checkout: toBody(checkout), secret }
        },
        withoutSecret,
      ),
    ),
    change: person
      .input(asked(z.object({ id: named.shape.id, body: changeBody })))
      .mutation(async ({ ctx, input }) => toBody(await checkouts.change(ctx.caller, input.id, toChange(input.body)))),
    /** The page that these terms would have. */
    preview: person.input(asked(changeBody)).mutation(async ({ ctx, input }) => ({
      html: previewOf(await checkouts.preview(ctx.caller, toDraftTerms(input))),
    })),
    payments: person.input(asked(paging.extend(named.shape))).query(async ({ ctx, input: { id, ...rest } }) => {
      const { sales, total } = await checkouts.sales(ctx.caller, id, rest)
      return { payments: sales.map(({ payment, delivery, input }) => ({ ...payment, input, delivery })), total }
    }),
    days: person.input(asked(someDays)).query(async ({ ctx, input }) => {
      const days = await checkouts.days(ctx.caller, firstOf(input, clock))
      return days.map(({ amount, ...rest }) => ({ ...rest, amount: toWire(amount) }))
    }),
    expire: person
      .input(asked(named))
      .mutation(async ({ ctx, input }) => toBody(await checkouts.expire(ctx.caller, input.id))),
    /** Only this answer contains the secret. */
    rotateSecret: person.input(asked(named)).mutation(async ({ ctx, input }) => {
      const { checkout, secret } = await checkouts.rotateSecret(ctx.caller, input.id, newOperation(clock))
      return { checkout: toBody(checkout), secret }
    }),
    testPayment: keyed
      .input(asked(named.extend({ ...actKey, input: inputBody.optional() })))
      .mutation(({ ctx, input }) =>
        ctx.once(input, async (operation) => {
          return shown(await checkouts.testPayment(ctx.caller, input.id, input.input ?? null, operation))
        }),
      ),
  })
}
