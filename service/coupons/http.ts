import { z } from 'zod'
import { reply, route, type AnyRoute } from '../api/route.ts'
import { isId } from '../kit/ids.ts'
import { toWire } from '../kit/money.ts'
import { amountOut, page, positiveAmount, timestamp } from '../kit/wire.ts'
import type { Coupon, CouponLimits, CouponTerms } from './model.ts'
import type { Coupons } from './service.ts'

const limits = {
  max: z
    .int()
    .min(1)
    .max(1_000_000_000)
    .nullish()
    .meta({ description: 'How many purchases it is for, the first ones' }),
  perCustomer: z.int().min(1).max(1_000_000).nullish().meta({ description: 'How many purchases of one wallet' }),
  until: z.iso
    .datetime('must be a time like 2026-12-31T23:00:00Z')
    .transform((text) => new Date(text))
    .nullish()
    .meta({ description: 'No purchase begins after it', format: 'date-time' }),
  checkouts: z
    .array(
      z
        .string()
        .max(100)
        .refine((text) => isId('chk', text), 'must be the id of a checkout'),
    )
    .min(1)
    .max(100)
    .nullish()
    .meta({ description: 'The only checkouts that take it; absent or null: all that take coupons' }),
}

/** What an owner sends for a new coupon. */
export const couponBody = z
  .strictObject({
    code: z
      .string()
      .max(100)
      .transform((text) => text.trim().toUpperCase())
      .pipe(z.string().regex(/^[A-Z0-9-]{3,40}$/, 'must be 3 to 40 letters, digits and -'))
      .meta({ description: 'What buyers type, in any case' }),
    percent: z.int().min(1).max(100).nullish().meta({ description: 'Off the price. Either this or an amount' }),
    amount: positiveAmount.nullish(),
    ...limits,
  })
  .refine(({ percent, amount }) => (percent ?? null) === null || (amount ?? null) === null, {
    path: ['amount'],
    message: 'must be absent with a percent',
  })
  .refine(({ percent, amount }) => (percent ?? null) !== null || (amount ?? null) !== null, {
    path: ['percent'],
    message: 'is required, unless there is an amount',
  })
  .meta({ id: 'CouponTerms' })

export const couponExample = { code: 'SPRING', percent: 20 }

/** What an owner changes. What is absent stays; null takes a limit away. */
export const limitsBody = z.strictObject(limits).meta({ id: 'CouponChange' })

export const couponOut = z
  .object({
    id: z.string(),
    code: z.string(),
    percent: z.int().nullable(),
    amount: amountOut.nullable(),
    max: z.int().nullable(),
    perCustomer: z.int().nullable(),
    until: timestamp.nullable(),
    checkouts: z.array(z.string()).nullable(),
    used: z.int().meta({ description: 'Purchases with it, without those that ended unpaid' }),
    tested: z.int().meta({ description: 'The same for simulated ones, and in production for those with test USDC' }),
    archivedAt: timestamp.nullable(),
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({ id: 'Coupon' })

export function toTerms(body: z.output<typeof couponBody>): CouponTerms {
  const { code, percent = null, amount = null, max = null, perCustomer = null, until = null, checkouts = null } = body
  return { code, percent, amount, max, perCustomer, until, checkouts }
}

export function toLimits(body: z.output<typeof limitsBody>): Partial<CouponLimits> {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined))
}

export function toCouponOut(coupon: Coupon): z.input<typeof couponOut> {
  const { id, code, percent, amount, max, perCustomer, until, checkouts, used, tested } = coupon
  return {
    id,
    code,
    percent,
    max,
    perCustomer,
    used,
    tested,
    amount: amount === null ? null : toWire(amount),
    until: until?.toISOString() ?? null,
    checkouts: checkouts === null ? null : [...checkouts],
    archivedAt: coupon.archivedAt?.toISOString() ?? null,
    createdAt: coupon.createdAt.toISOString(),
    updatedAt: coupon.updatedAt.toISOString(),
  }
}

const common = { tag: 'Coupons', auth: 'person' } as const
const one = { params: z.object({ id: z.string() }), errors: { 404: 'You have no such coupon.' } }
const shown = { 200: z.object({ coupon: couponOut }) }

/** `/coupons`, for sellers. */
export function couponRoutes(coupons: Coupons): AnyRoute[] {
  return [
    route({
      ...common,
      method: 'post',
      path: '/coupons',
      summary: 'Create a code that makes purchases at your checkouts cheaper',
      idempotent: true,
      body: couponBody,
      example: couponExample,
      answers: { 201: z.object({ coupon: couponOut }) },
      errors: { 409: 'You have a coupon with this code, or the Idempotency-Key was used for another request.' },
      async handle({ caller, body, operation }) {
        return reply(201, { coupon: toCouponOut(await coupons.create(caller, toTerms(body), operation)) })
      },
    }),
    route({
      ...common,
      method: 'get',
      path: '/coupons',
      summary: 'Your coupons in this environment, newest first',
      query: page.extend({
        archived: z
          .enum(['true', 'false'])
          .default('false')
          .meta({ description: 'Those that are archived, in place of the others' }),
      }),
      answers: { 200: z.object({ coupons: z.array(couponOut), total: z.int(), limit: z.int(), offset: z.int() }) },
      async handle({ caller, query: { archived, limit, offset } }) {
        const { coupons: found, total } = await coupons.list(caller, archived === 'true', { limit, offset })
        return reply(200, { coupons: found.map(toCouponOut), total, limit, offset })
      },
    }),
    route({
      ...common,
      ...one,
      method: 'get',
      path: '/coupons/:id',
      summary: 'One coupon, also if it is archived',
      answers: shown,
      handle: async ({ caller, params }) => reply(200, { coupon: toCouponOut(await coupons.get(caller, params.id)) }),
    }),
    route({
      ...common,
      ...one,
      method: 'patch',
      path: '/coupons/:id',
      summary: 'Change the limits of a coupon; what it takes off stays',
      body: limitsBody,
      answers: shown,
      errors: { ...one.errors, 409: 'The coupon is archived.' },
      async handle({ caller, params, body }) {
        return reply(200, { coupon: toCouponOut(await coupons.change(caller, params.id, toLimits(body))) })
      },
    }),
    route({
      ...common,
      ...one,
      method: 'post',
      path: '/coupons/:id/archive',
      summary: 'End a coupon at once, also for prices that were shown with it; its code is free for a new one',
      answers: shown,
      async handle({ caller, params }) {
        return reply(200, { coupon: toCouponOut(await coupons.archive(caller, params.id)) })
      },
    }),
  ]
}
