import { z } from 'zod'
import { actKey, asked, keyed, named, newOperation, paging, person } from '../api/trpc.ts'
import { router, spanExample, spanInput, toSpan, withoutSecret } from '../api/trpc.ts'
import type { Clock } from '../kit/clock.ts'
import { shown } from './http/answers.ts'
import { changeBody, termsBody, termsExample, toChange, toDraftTerms, toTerms } from './http/bodies.ts'
import { inputBody } from './service/bodies.ts'
import { qrOf } from './service/presenter.ts'
import { bodyOf } from './http/owner.ts'
import { ownRequest } from './http/requests.ts'
import type { Checkout } from './model.ts'
import { stepOf } from './rules/requests.ts'
import type { CheckoutView } from './views.ts'
import type { Converted } from './stores.ts'
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
      return { ...checkout, qr: qrOf(checkout.url) }
    }),
    /** Only this answer and the one of `rotateSecret` contain the secret. */
    create: keyed.input(asked(termsBody.extend(actKey), termsExample)).mutation(({ ctx, input: { key, ...body } }) =>
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
    /** The further amounts that the buyer of a payment was asked for, oldest first. */
    requests: person.input(asked(named)).query(async ({ ctx, input }) => {
      const found = await checkouts.requests(ctx.caller, input.id)
      return found.map((request) => ({ ...ownRequest(checkouts, request, clock.now()), step: stepOf(request) }))
    }),
    /** How often payment pages were opened and paid, and the same of as many days before. The first is the sum of all. */
    conversion: person.input(asked(spanInput, spanExample)).query(async ({ ctx, input }) => {
      const [all, ...each] = await checkouts.conversion(ctx.caller, toSpan(input))
      return { all: all ?? NONE, each }
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

const NONE: Converted = { id: null, name: null, opened: 0, paid: 0, before: { opened: 0, paid: 0 }, checkouts: 0 }
