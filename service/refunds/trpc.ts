import { z } from 'zod'
import { actKey, asked, keyed, named, person, placeOf, router, spanExample, spanInput, toSpan } from '../api/trpc.ts'
import { toWire, usdc } from '../kit/money.ts'
import {
  CUSTOMER_ORDERS,
  PRODUCTS,
  receiptTo,
  rightOf,
  type Customer,
  type CustomerCounts,
  type NamedSale,
  type Sale,
  type SaleDay,
  type SaleFilter,
} from '../sales/model.ts'
import { filters, refundBody, signatureBody, toFilter, toPayment, toRefund, toWholePayment } from './http.ts'
import { calledAt } from './model.ts'
import { sentenceOf } from '../x402/reasons.ts'
import type { Payments } from './service/payments.ts'

/** The dashboard's procedures for payments of all products. `proofOf`: the page that verifies a sale's signed receipt. */
export function paymentsRouter(payments: Payments, proofOf: (sale: Sale) => { verifyUrl: string | null }) {
  return router({
    /** Newest first; `next` is `before` of the page after it. */
    list: person.input(asked(wanted)).query(async ({ ctx, input: { limit, before = null, ...filter } }) => {
      const { sales, next } = await payments.older(ctx.caller, toListed(filter), { limit, before })
      return { payments: sales.map(toLine), next }
    }),
    /** `next` is `before` of the page after it. */
    customers: person
      .input(asked(customerPage))
      .query(async ({ ctx, input: { search = null, before = null, ...rest } }) => {
        const { customers, next } = await payments.customers(ctx.caller, { ...rest, search, before })
        return { customers: customers.map(toCustomer), next }
      }),
    customer: person
      .input(asked(z.object({ id: customerKey })))
      .query(async ({ ctx, input }) => toCustomer(await payments.customer(ctx.caller, input.id))),
    /** Revenue, customers and failed payments, by UTC day, and the sums of as many days before. */
    summary: person.input(asked(spanInput, spanExample)).query(async ({ ctx, input }) => {
      const { days, customers, failures } = await payments.summary(ctx.caller, toSpan(input))
      const now = days.filter(({ isNow }) => isNow)
      const before = days.filter(({ isNow }) => !isNow)
      return {
        now: { ...toSums(now), ...toCounts(customers.now) },
        before: { ...toSums(before), ...toCounts(customers.before) },
        days: now.map(({ day, ...rest }) => ({ day, ...toSums([rest]) })),
        failures: failures.map(({ reason, count }) => ({ reason: reason === null ? null : sentenceOf(reason), count })),
      }
    }),
    get: person.input(asked(named)).query(async ({ ctx, input }) => {
      const payment = await payments.get(ctx.caller, input.id)
      return {
        ...toWholePayment(payment),
        ...toBought(payment.sale),
        ...transferOf(payment),
        verifyUrl: proofOf(payment.sale).verifyUrl,
      }
    }),
    refund: keyed.input(asked(refundBody.extend(named.shape).extend(actKey))).mutation(({ ctx, input }) =>
      ctx.once(input, async (operation, keyHash, mayHaveBegun) => {
        const { id: paymentId, amount = null, reason, from } = input
        const wanted = { paymentId, amount, reason, from, keyHash, mayHaveBegun }
        return toRefund(await payments.refund(ctx.caller, wanted, operation))
      }),
    ),
    signRefund: person
      .input(asked(signatureBody.extend(named.shape).extend({ refundId: named.shape.id })))
      .mutation(async ({ ctx, input: { id: paymentId, refundId, signature } }) =>
        toRefund(await payments.sign(ctx.caller, { paymentId, refundId, signature })),
      ),
  })
}

const customer = z
  .string()
  .trim()
  .max(254, 'must have at most 254 characters')
  .toLowerCase()
  .refine(
    (text) => ADDRESS.test(text) || z.email().safeParse(text).success,
    'must be an e-mail address, or the address that paid: 0x and 40 hexadecimal digits',
  )

const ADDRESS = /^0x[0-9a-f]{40}$/

const { state, from, to, refunded } = filters

const pageOf = z.object({
  // An export reads large pages.
  limit: z.int().min(1).max(500).default(20),
  before: placeOf('pay'),
})

const customerKey = z.string().trim().max(254, 'must have at most 254 characters').toLowerCase()

const customerPage = z.object({
  limit: pageOf.shape.limit,
  order: z.enum(CUSTOMER_ORDERS).default('last'),
  search: customerKey.optional(),
  before: customerKey.optional(),
})

const wanted = pageOf.extend({
  product: z.enum(PRODUCTS).optional(),
  state,
  from,
  to,
  refunded,
  customer: customer.optional(),
})

function toListed({ customer: of, ...rest }: Omit<z.output<typeof wanted>, 'limit' | 'before'>): SaleFilter {
  if (of === undefined) return toFilter(rest)
  return ADDRESS.test(of) ? toFilter({ ...rest, payer: of as `0x${string}` }) : { ...toFilter(rest), email: of }
}

function toLine(named: NamedSale) {
  return { ...toPayment(named), email: receiptTo(named.sale)?.email ?? null, ...transferOf(named) }
}

/** A transfer of an exchange comes from an address of many: who that is, its seller decides. */
function transferOf({ byTransfer, sentFrom }: Pick<NamedSale, 'byTransfer' | 'sentFrom'>) {
  return { byTransfer, sentFrom: [...sentFrom] }
}

function toCustomer({ key, email, payer, payments, paid, refunded, firstAt, lastAt, ...rest }: Customer) {
  const sums = { paid: toWire(paid), refunded: toWire(refunded) }
  const times = { firstAt: firstAt.toISOString(), lastAt: lastAt.toISOString() }
  return { id: key, email, payer, ...transferOf(rest), payments, ...sums, ...times }
}

/** What the customer sent, and where: each product stores what it has. */
function toBought(sale: Sale) {
  const { input } = sale.details
  return {
    email: receiptTo(sale)?.email ?? null,
    input: typeof input === 'object' && input !== null ? (input as Readonly<Record<string, unknown>>) : null,
    ...calledAt(sale),
    endedAt: sale.endedAt?.toISOString() ?? null,
    free: rightOf(sale)?.kind ?? null,
  }
}

/** What went back is not revenue. */
function toSums(days: readonly Omit<SaleDay, 'day' | 'isNow'>[]) {
  const sum = (of: (day: Omit<SaleDay, 'day' | 'isNow'>) => bigint) => days.reduce((all, day) => all + of(day), 0n)
  const count = (of: (day: Omit<SaleDay, 'day' | 'isNow'>) => number) => days.reduce((all, day) => all + of(day), 0)
  return {
    revenue: toWire(usdc(sum(({ paid, refunded }) => paid - refunded))),
    refunded: toWire(usdc(sum(({ refunded }) => refunded))),
    payments: count(({ payments }) => payments),
    failed: count(({ failed }) => failed),
  }
}

function toCounts({ added, returning }: CustomerCounts) {
  return { newCustomers: added, returningCustomers: returning }
}
