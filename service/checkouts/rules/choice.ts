import { toJsonSchema } from '../../kit/fields.ts'
import { canonicalHash } from '../../kit/hash.ts'
import { fromDecimal, toDecimal, toWire, type Usdc } from '../../kit/money.ts'
import type { Raw } from '../../kit/schema/merge.ts'
import type { Choice } from '../model.ts'
import type { Priced } from './price.ts'

/** In a body beside the fields. No field has such a name: theirs begin with a letter. */
export const CHOICE = '_choice'

/** What a body has for the fields, and its choice as it was sent. */
export function withoutChoice(body: Raw): { input: Raw; chosen: unknown } {
  const { [CHOICE]: chosen, ...input } = body
  return { input, chosen }
}

export function toWireChoice({ amount, ...choice }: Choice): Choice<number> {
  return amount === undefined ? choice : { ...choice, amount: toWire(amount) }
}

export function fromWireChoice({ amount, ...choice }: Choice<number>): Choice {
  return amount === undefined ? choice : { ...choice, amount: fromDecimal(String(amount)) }
}

/** Names the request: the same input and choice are the same purchase. */
export function purchaseHash(input: Raw, choice: Choice): Buffer {
  const chosen = Object.entries(choice).filter(([, value]) => value !== undefined)
  return canonicalHash(chosen.length === 0 ? input : [input, Object.fromEntries(chosen)])
}

/** The input for programs and models: the fields, and what they can choose besides. */
export function inputSchemaOf(checkout: Priced): Raw {
  const schema = toJsonSchema(checkout.fields)
  const choices = choicesOf(checkout)
  if (choices === null) return schema
  const choice = {
    type: 'object',
    description: 'What you choose besides the input. The price follows from it.',
    properties: choices,
    additionalProperties: false,
  }
  return { ...schema, properties: { ...(schema['properties'] as Raw), [CHOICE]: choice } }
}

function choicesOf(terms: Priced): Raw | null {
  const choices = { ...chosenPrice(terms), ...(terms.coupons ? { coupon: CODE } : {}), ...plansOf(terms) }
  return Object.keys(choices).length === 0 ? null : choices
}

function plansOf({ plans }: Priced): Raw {
  if (plans.length === 0) return {}
  const each = plans.map(({ id, name, price }) => `${id}: ${name}, ${toDecimal(price)} USDC`)
  return { plan: { type: 'string', enum: plans.map(({ id }) => id), description: `Buys a plan. ${each.join('; ')}` } }
}

const CODE = { type: 'string', maxLength: 40, description: 'A code for a discount, if you have one' }

function chosenPrice({ price, pricing }: Priced): Raw {
  if (pricing.kind === 'quantity') {
    const { min, max } = pricing
    const description = `How many, for ${toDecimal(price)} USDC each`
    return { quantity: { type: 'integer', minimum: min, maximum: max, default: min, description } }
  }
  if (pricing.kind !== 'choose') return {}
  const { min, max } = pricing
  const bounds = { minimum: toWire(min), ...(max === null ? {} : { maximum: toWire(max) }) }
  return { amount: { type: 'number', ...bounds, default: toWire(price), description: 'What you pay, in USDC' } }
}

/** The price for a reader. An amount where it depends on nothing. */
export function priceInWords({ price, pricing }: Priced): Usdc | string {
  switch (pricing.kind) {
    case 'fixed':
      return price
    case 'quantity':
      return `${toDecimal(price)} USDC each, ${String(pricing.min)} to ${String(pricing.max)} of them`
    case 'choose':
      return `what you choose, from ${toDecimal(pricing.min)} USDC${pricing.max === null ? '' : ` to ${toDecimal(pricing.max)} USDC`}`
    case 'byField': {
      const { field, prices } = pricing
      const each = Object.entries(prices).map(([option, amount]) => `${toDecimal(amount)} USDC with ${option}`)
      return `by ${field}: ${each.slice(0, 20).join(', ')}${each.length > 20 ? ' and others' : ''}`
    }
  }
}
