import { z } from 'zod'
import { actKey, asked, firstOf, keyed, named, paging, person, router, someDays, withoutSecret } from '../api/trpc.ts'
import type { Clock } from '../kit/clock.ts'
import { toWire } from '../kit/money.ts'
import { toAnalyticsBody } from './http/analytics.ts'
import { newPaywall, paywallChange, toChange, toPaywallBody, toWanted } from './http/bodies.ts'
import { toPaymentBody } from './http/owner.ts'
import type { Paywall } from './model.ts'
import type { CustomerBalance } from './ports.ts'
import type { Paywalls } from './service/paywalls.ts'

/** The dashboard's paywall procedures. */
export function paywallsRouter(paywalls: Paywalls, { gate, clock }: { gate: string; clock: Clock }) {
  const toBody = (paywall: Paywall) => toPaywallBody(paywall, { gate, testToken: paywalls.testTokenOf(paywall) })
  return router({
    list: person.input(asked(paging)).query(async ({ ctx, input }) => {
      const { paywalls: found, total } = await paywalls.list(ctx.caller, input)
      return { paywalls: found.map(toBody), total }
    }),
    get: person.input(asked(named)).query(async ({ ctx, input }) => toBody(await paywalls.get(ctx.caller, input.id))),
    /** Only this answer and the one of `rotateSecret` contain the secret. */
    create: keyed.input(asked(newPaywall.extend(actKey))).mutation(({ ctx, input }) =>
      ctx.once(
        input,
        async (operation) => {
          const { paywall, secret } = await paywalls.create(ctx.caller, toWanted(input), operation)
          return { paywall: toBody(paywall), secret }
        },
        withoutSecret,
      ),
    ),
    /** A form calls this before its next step: it applies the rules of `create` and `change` to the terms so far. */
    check: person
      .input(asked(z.object({ id: named.shape.id.nullable(), body: paywallChange })))
      .mutation(async ({ ctx, input }) => {
        await paywalls.check(ctx.caller, input.id, toChange(input.body))
      }),
    change: person
      .input(asked(z.object({ id: named.shape.id, body: paywallChange })))
      .mutation(async ({ ctx, input }) => toBody(await paywalls.change(ctx.caller, input.id, toChange(input.body)))),
    remove: person
      .input(asked(named))
      .mutation(async ({ ctx, input }) => toBody(await paywalls.remove(ctx.caller, input.id))),
    rotateSecret: person.input(asked(named)).mutation(async ({ ctx, input }) => {
      const { paywall, secret } = await paywalls.rotateSecret(ctx.caller, input.id)
      return { paywall: toBody(paywall), secret }
    }),
    payments: person.input(asked(paging.extend(named.shape))).query(async ({ ctx, input: { id, ...rest } }) => {
      const { payments, total } = await paywalls.payments(ctx.caller, id, rest)
      return { payments: payments.map(toPaymentBody), total }
    }),
    /** What a customer has paid ahead, by e-mail address or wallet. */
    balances: person
      .input(asked(z.object({ customer: z.string().trim().min(1).max(254).toLowerCase() })))
      .query(async ({ ctx, input }) => ({
        balances: (await paywalls.balancesOf(ctx.caller, input.customer)).map(toBalance),
      })),
    analytics: person.input(asked(someDays.extend(named.shape))).query(async ({ ctx, input }) => {
      const dayOf = (moment: Date): string => moment.toISOString().slice(0, 10)
      const span = { from: dayOf(firstOf(input, clock)), to: dayOf(clock.now()) }
      return toAnalyticsBody(await paywalls.analytics(ctx.caller, input.id, span), span)
    }),
  })
}

function toBalance({ paywallId, name, network, payer, available, held, paid, drawn }: CustomerBalance) {
  const amounts = { available: toWire(available), held: toWire(held), paid: toWire(paid), used: toWire(drawn) }
  return { paywallId, name, network, payer, ...amounts }
}
