import type { Coupon, Discount } from '../../coupons/model.ts'
import { invalid } from '../../kit/errors.ts'
import type { Field } from '../../kit/fields.ts'
import type { Plan } from '../../passes/model.ts'
import { isRecord, type Raw } from '../../kit/schema/merge.ts'
import { largest, LARGEST, least, toDecimal, usdc, ZERO, type Usdc } from '../../kit/money.ts'
import type { Sale } from '../../sales/model.ts'
import type { Choice, Lines, Pricing, Terms } from '../model.ts'

/** What decides about a price. */
export type Priced = Pick<Terms, 'price' | 'pricing' | 'coupons' | 'plans' | 'fields'>

/** The most that can be bought at once. */
export const QUANTITY_MAX = 10_000

/** What a choice costs. `input`: the form's values; without the one that decides, the listed price holds. */
export function priceOf(terms: Priced, input: Raw, choice: Choice, coupon: Discount | null): Lines {
  const { pricing, coupons } = terms
  const plan = planOf(terms, choice.plan)
  const unit = plan?.price ?? unitOf(terms, input, choice)
  const quantity = plan === null ? quantityOf(pricing, choice) : 1
  if (plan !== null && choice.quantity !== undefined) throw withPlan('quantity')
  if (plan !== null && choice.amount !== undefined) throw withPlan('amount')
  if (!coupons && choice.coupon !== undefined) {
    throw invalid({ 'choice.coupon': 'must be absent: this checkout takes no codes' })
  }
  return withDiscount({ unit, quantity, subtotal: usdc(unit * BigInt(quantity)) }, coupon)
}

/** The plan that the buyer chose. Null where a single run is bought. */
export function planOf({ plans }: Pick<Terms, 'plans'>, id: string | undefined): Plan | null {
  if (id === undefined) return null
  const plan = plans.find((one) => one.id === id)
  if (plan === undefined) throw invalid({ 'choice.plan': 'must be the id of a plan of this checkout' })
  return plan
}

/**
 * A plan, a pass and a trial give runs as they are listed: an option that costs more is bought for itself. `named`: the
 * field's name in the request.
 */
export function assertListed(terms: Priced, input: Raw, named: (field: string) => string): void {
  const { price, pricing } = terms
  if (pricing.kind !== 'byField' || unitOf(terms, input, {}) <= price) return
  throw invalid({
    [named(pricing.field)]:
      `must be an option for ${toDecimal(price)} USDC: plans, passes and trial runs do not include those that cost more. Buy it as a single run`,
  })
}

function withPlan(part: 'quantity' | 'amount'): Error {
  return invalid({ [`choice.${part}`]: 'must be absent with a plan, which has its own price' })
}

function withDiscount(before: Pick<Lines, 'unit' | 'quantity' | 'subtotal'>, coupon: Discount | null): Lines {
  const { subtotal } = before
  const discount = coupon === null ? ZERO : discountOf(subtotal, coupon)
  return { ...before, coupon: coupon?.code ?? null, discount, total: usdc(subtotal - discount) }
}

/** There is nothing to sign for: what a code makes free is had by `free` in the pay call. */
export function assertCosts({ total }: Pick<Lines, 'total'>): void {
  if (total > ZERO) return
  throw invalid({
    'choice.coupon': 'takes off the whole price, so there is nothing to pay: send free: true to the pay call instead',
  })
}

/** What a code makes free is bought once, by a buyer of whom nothing is known. */
export function assertFree({ total }: Pick<Lines, 'total'>, { plan }: Choice, coupon: Coupon | null): void {
  if (total > ZERO || coupon === null) throw invalid({ free: 'must be absent: this purchase costs something' })
  if (plan !== undefined) throw invalid({ 'choice.plan': 'must be absent where a code takes off the whole price' })
  if (coupon.perCustomer !== null) {
    throw invalid({
      'choice.coupon':
        'is limited for each customer, and takes off the whole price: without a payment customers cannot be counted. Ask the seller for another code',
    })
  }
}

/** A percentage is rounded down to whole micro-USDC: what cannot be divided is the seller's. Never more than all. */
function discountOf(subtotal: Usdc, { percent, amount }: Discount): Usdc {
  if (percent !== null) return usdc((subtotal * BigInt(percent)) / 100n)
  return least(subtotal, amount ?? ZERO)
}

function unitOf({ price, pricing, fields }: Priced, input: Raw, { amount }: Choice): Usdc {
  if (pricing.kind === 'choose') return amountOf(pricing, amount ?? price)
  if (amount !== undefined) throw invalid({ 'choice.amount': 'must be absent: buyers do not choose the price here' })
  if (pricing.kind !== 'byField') return price
  const { field, prices } = pricing
  const option = input[field] ?? fields.find(({ name }) => name === field)?.default
  return typeof option === 'string' && Object.hasOwn(prices, option) ? (prices[option] ?? price) : price
}

function amountOf({ min, max }: Pricing & { kind: 'choose' }, amount: Usdc): Usdc {
  if (amount < min) throw invalid({ 'choice.amount': `must be at least ${toDecimal(min)}` })
  if (max !== null && amount > max) throw invalid({ 'choice.amount': `must be at most ${toDecimal(max)}` })
  return amount
}

function quantityOf(pricing: Pricing, { quantity }: Choice): number {
  if (pricing.kind !== 'quantity') {
    if (quantity !== undefined) throw invalid({ 'choice.quantity': 'must be absent: this is sold one at a time' })
    return 1
  }
  const { min, max } = pricing
  const wanted = quantity ?? min
  if (wanted < min) throw invalid({ 'choice.quantity': `must be at least ${String(min)}` })
  if (wanted > max) throw invalid({ 'choice.quantity': `must be at most ${String(max)}` })
  return wanted
}

/** The terms with the price that they list: where buyers decide, it follows from what they can choose. */
export function withListedPrice<T extends Priced>(terms: T): T {
  const { pricing } = terms
  if (pricing.kind === 'choose') return { ...terms, price: pricing.suggested ?? pricing.min }
  if (pricing.kind !== 'byField') return terms
  const [first, ...others] = Object.values(pricing.prices)
  return first === undefined ? terms : { ...terms, price: least(first, ...others) }
}

/** The most that one payment can be. */
export function largestTotal({ price, pricing }: Priced): Usdc {
  switch (pricing.kind) {
    case 'fixed':
      return price
    case 'quantity':
      return usdc(price * BigInt(pricing.max))
    case 'choose':
      return pricing.max ?? LARGEST
    case 'byField':
      return largest(ZERO, ...Object.values(pricing.prices))
  }
}

/** Checks a price beyond what the schema can express. */
export function assertPricing(terms: Priced): void {
  const { price, pricing, fields } = terms
  switch (pricing.kind) {
    case 'fixed':
    case 'quantity':
      if (price === ZERO) throw invalid({ price: `is required with pricing.kind ${pricing.kind}` })
      break
    case 'choose':
      assertChoose(pricing)
      break
    case 'byField':
      assertByField(pricing, fields)
  }
  if (pricing.kind === 'quantity') {
    if (pricing.min > pricing.max) throw invalid({ 'pricing.max': 'must not be less than min' })
    if (largestTotal(terms) > LARGEST) {
      throw invalid({ 'pricing.max': `must be less: all together must cost at most ${toDecimal(LARGEST)} USDC` })
    }
  }
}

function assertChoose({ min, max, suggested }: Pricing & { kind: 'choose' }): void {
  if (max !== null && max < min) throw invalid({ 'pricing.max': 'must not be less than min' })
  if (suggested !== null && suggested < min) throw invalid({ 'pricing.suggested': 'must not be less than min' })
  if (suggested !== null && max !== null && suggested > max) {
    throw invalid({ 'pricing.suggested': 'must not be more than max' })
  }
}

function assertByField({ field, prices }: Pricing & { kind: 'byField' }, fields: readonly Field[]): void {
  const decides = fields.find(({ name }) => name === field)
  if (decides?.type !== 'select') throw invalid({ 'pricing.field': 'must be the name of a select field of the form' })
  if (!decides.required && decides.default === null) {
    throw invalid({ 'pricing.field': 'must be a field that is required or has a default: it decides the price' })
  }
  if (decides.showIf !== undefined) {
    throw invalid({ 'pricing.field': 'must be a field that is always shown: it decides the price' })
  }
  const options = decides.options ?? []
  const unpriced = options.find((option) => !Object.hasOwn(prices, option))
  if (unpriced !== undefined) throw invalid({ [`pricing.prices.${unpriced}`]: 'is required: each option has a price' })
  const unknown = Object.keys(prices).find((option) => !options.includes(option))
  if (unknown !== undefined) throw invalid({ [`pricing.prices.${unknown}`]: `is not an option of ${field}` })
}

/** The same price with its amounts in another form. */
export function withAmounts<From, To>(pricing: Pricing<From>, to: (amount: From) => To): Pricing<To> {
  switch (pricing.kind) {
    case 'fixed':
    case 'quantity':
      return pricing
    case 'choose': {
      const { kind, min, max, suggested } = pricing
      return {
        kind,
        min: to(min),
        max: max === null ? null : to(max),
        suggested: suggested === null ? null : to(suggested),
      }
    }
    case 'byField': {
      const { kind, field, prices } = pricing
      const priced = Object.entries(prices).map(([option, amount]): [string, To] => [option, to(amount)])
      return { kind, field, prices: Object.fromEntries(priced) }
    }
  }
}

export function linesWith<From, To>(lines: Lines<From>, to: (amount: From) => To): Lines<To> {
  const { unit, quantity, subtotal, coupon, discount, total } = lines
  return { unit: to(unit), quantity, subtotal: to(subtotal), coupon, discount: to(discount), total: to(total) }
}

/** Whether they say no more than the amount does: one, at its price, without a code. */
export function isPlain({ quantity, coupon, discount }: Lines): boolean {
  return quantity === 1 && coupon === null && discount === 0n
}

/** The lines of so many at one price, of which the rest of the total is a code's discount. */
export function linesOfTotal(
  total: Usdc,
  { unit, quantity, coupon }: Pick<Lines, 'unit' | 'quantity' | 'coupon'>,
): Lines {
  const subtotal = usdc(unit * BigInt(quantity))
  return { unit, quantity, subtotal, coupon, discount: usdc(subtotal - total), total }
}

/** What a sale stores about how its total came about. */
export function toStoredLines(lines: Lines): Lines<string> {
  return linesWith(lines, String)
}

/** Of a sale of an earlier release, which was of one thing. */
export function linesOf({ details, amount }: Pick<Sale, 'details' | 'amount'>): Lines {
  const { lines } = details
  if (!isRecord(lines)) return linesOfTotal(amount, { unit: amount, quantity: 1, coupon: null })
  return linesWith(lines as unknown as Lines<string>, (text) => usdc(BigInt(text)))
}
