import { renderSVG } from 'uqr'
import { actKey, asked, firstOf, keyed, named, newOperation, paging, person, router, someDays } from '../api/trpc.ts'
import type { Clock } from '../kit/clock.ts'
import { toWire } from '../kit/money.ts'
import { inputBody, shown } from './http/bodies.ts'
import { bodyOf } from './http/owner.ts'
import type { Checkout } from './model.ts'
import type { Checkouts } from './service/checkouts.ts'

/** The dashboard's checkout procedures. Workflows create checkouts, not the dashboard. */
export function checkoutsRouter(checkouts: Checkouts, { pay, clock }: { pay: string; clock: Clock }) {
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
