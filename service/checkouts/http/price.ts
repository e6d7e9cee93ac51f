import { z } from 'zod'
import { decode } from '../../kit/decode.ts'
import { invalid } from '../../kit/errors.ts'
import { plainLine } from '../../kit/fields.ts'
import { fromDecimal } from '../../kit/money.ts'
import { isRecord, type Raw } from '../../kit/schema/merge.ts'
import { amountOut, positiveAmount } from '../../kit/wire.ts'
import type { Choice, Pricing } from '../model.ts'
import { CHOICE, withoutChoice } from '../rules/choice.ts'
import { QUANTITY_MAX } from '../rules/price.ts'
import { choiceBody, codeBody, planId, quantity } from '../service/bodies.ts'
import type { Chosen } from '../service/product.ts'

/** As many as a select field has. */
const OPTIONS_MAX = 100

/** How a seller wants the price to come about. */
export const pricingBody = z
  .discriminatedUnion(
    'kind',
    [
      z.strictObject({ kind: z.literal('fixed') }),
      z.strictObject({ kind: z.literal('quantity'), min: quantity.nullish(), max: quantity }),
      z.strictObject({
        kind: z.literal('choose'),
        min: positiveAmount,
        max: positiveAmount.nullish(),
        suggested: positiveAmount.nullish(),
      }),
      z.strictObject({
        kind: z.literal('byField'),
        field: z.string().max(64),
        prices: z
          .record(z.string().max(200), positiveAmount)
          .refine(
            (prices) => Object.keys(prices).length <= OPTIONS_MAX,
            `must have at most ${String(OPTIONS_MAX)} options`,
          )
          .meta({ maxProperties: OPTIONS_MAX }),
      }),
    ],
    { error: 'must be an object whose kind is fixed, quantity, choose or byField' },
  )
  .transform((sent): Pricing => {
    if (sent.kind === 'quantity') return { ...sent, min: sent.min ?? 1 }
    if (sent.kind === 'choose') return { ...sent, max: sent.max ?? null, suggested: sent.suggested ?? null }
    return sent
  })
  .meta({
    id: 'CheckoutPricing',
    description:
      '`fixed`: the price. `quantity`: the price is for each, and the buyer takes from `min` (1) to `max`. `choose`: the buyer chooses the amount. `byField`: the option of a select field decides. Defaults to `fixed`',
  })

export const pricingOut = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('fixed') }),
  z.object({ kind: z.literal('quantity'), min: z.int(), max: z.int() }),
  z.object({
    kind: z.literal('choose'),
    min: amountOut,
    max: amountOut.nullable(),
    suggested: amountOut.nullable(),
  }),
  z.object({ kind: z.literal('byField'), field: z.string(), prices: z.record(z.string(), amountOut).readonly() }),
])

/** The same in the address of a request that has nothing but fields in its body. */
export const choiceQuery = {
  quantity: z
    .string()
    .regex(/^\d{1,5}$/, 'must be a whole number')
    .transform(Number)
    .refine((many) => many >= 1 && many <= QUANTITY_MAX, `must be from 1 to ${String(QUANTITY_MAX)}`)
    .optional()
    .meta({ type: 'integer', minimum: 1, maximum: QUANTITY_MAX, description: 'How many to buy, where it is sold so' }),
  amount: z
    .string()
    .regex(/^\d{1,10}(\.\d{1,6})?$/, 'must be an amount with at most 6 decimals')
    .transform((text) => fromDecimal(text))
    .optional()
    .meta({
      type: 'number',
      minimum: 0,
      maximum: 9_999_999_999,
      description: 'What you pay in USDC, where buyers choose it',
    }),
  coupon: codeBody.optional().meta({ description: 'A code for a discount' }),
  plan: planId.optional().meta({ description: 'The id of the plan to buy; a single run without it' }),
}

export const linesOut = z
  .object({
    unit: amountOut,
    quantity: z.int(),
    subtotal: amountOut,
    coupon: z.string().nullable().meta({ description: 'The code that was used' }),
    discount: amountOut,
    total: amountOut,
  })
  .meta({ id: 'CheckoutLines', description: 'How the total came about' })

/** The input and the choice in the body of an agent's request, or the choice in its address. */
export function toChosen(body: Raw, from: string, query: Choice = {}): Chosen {
  const { input, chosen } = withoutChoice(body)
  const inAddress = Object.values(query).some((value) => value !== undefined)
  if (chosen === undefined) return { input, choice: query, from }
  if (inAddress) throw invalid({ [CHOICE]: 'must be absent: the address has a choice already' })
  const { [CHOICE]: choice } = decode(z.object({ [CHOICE]: choiceBody }), { [CHOICE]: chosen }, CHOICE) as {
    [CHOICE]: Choice
  }
  return { input, choice, from }
}

/** The body of a request for a quote: fields that are not filled in yet may be absent. */
export const quoteBody = z
  .strictObject({
    input: z
      .custom<Raw>(isRecord, 'must be an object')
      .meta({ override: { type: 'object', description: "Values of the checkout's fields; only those that matter" } })
      .optional(),
    choice: choiceBody.optional(),
  })
  .optional()

const idOfPlan = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,39}$/, 'must be at most 40 lower-case letters, digits and hyphens')
const runsOfPlan = z.int().min(1).max(100_000)

/** The plans of a checkout, as its owner sends them. */
export const plansBody = z
  .array(
    z.discriminatedUnion('kind', [
      z.strictObject({
        id: idOfPlan,
        name: plainLine(80),
        price: positiveAmount,
        kind: z.literal('runs'),
        runs: runsOfPlan.meta({ description: 'The purchase itself is the first of them' }),
      }),
      z.strictObject({
        id: idOfPlan,
        name: plainLine(80),
        price: positiveAmount,
        kind: z.literal('period'),
        days: z.int().min(1).max(3_660),
        runs: runsOfPlan.nullish().meta({ description: 'The most runs in the period' }),
      }),
    ]),
  )
  .max(10)

export const planOut = z.object({
  id: z.string(),
  name: z.string(),
  price: amountOut,
  kind: z.enum(['runs', 'period']),
  runs: z.int().nullable(),
  days: z.int().optional(),
})
