import fc from 'fast-check'
import type { Discount } from '../../service/coupons/model.ts'
import { DomainError } from '../../service/kit/errors.ts'
import { least, LARGEST, usdc, type Usdc } from '../../service/kit/money.ts'
import type { Choice, Lines, Pricing } from '../../service/checkouts/model.ts'
import { purchaseHash } from '../../service/checkouts/rules/choice.ts'
import {
  assertPricing,
  largestTotal,
  linesOf,
  priceOf,
  QUANTITY_MAX,
  toStoredLines,
  withListedPrice,
  type Priced,
} from '../../service/checkouts/rules/price.ts'

const SEED = Number(process.env['SEED'] ?? 20_261_124)
const RUNS = 2_000

const amount = fc.oneof(fc.bigInt({ min: 1n, max: LARGEST }), fc.bigInt({ min: 1n, max: 10_000_000n })).map(usdc)
const options = ['one', 'two', 'three']
const size = { name: 'size', label: 'Size', type: 'select' as const, required: true, options, default: null }
const fields = [{ ...size, placeholder: null, description: null, min: null, max: null, pattern: null }]
const quantity = fc.integer({ min: 1, max: QUANTITY_MAX })
const pricing: fc.Arbitrary<Pricing> = fc.oneof(
  fc.constant({ kind: 'fixed' } as const),
  fc.tuple(quantity, quantity).map((bounds): Pricing => {
    return { kind: 'quantity', min: Math.min(...bounds), max: Math.max(...bounds) }
  }),
  fc.tuple(amount, fc.option(amount)).map(([min, max]): Pricing => ({ kind: 'choose', min, max, suggested: null })),
  fc.tuple(amount, amount, amount).map(([one, two, three]): Pricing => {
    return { kind: 'byField', field: 'size', prices: { one, two, three } }
  }),
)
const terms: fc.Arbitrary<Priced> = fc
  .record({ price: amount, pricing, coupons: fc.constant(true), plans: fc.constant([]), fields: fc.constant(fields) })
  .filter((made) => refusalOf(() => assertPricing(made)) === null)
  .map(withListedPrice)
const choice: fc.Arbitrary<Choice> = fc.record({
  quantity: fc.option(quantity, { nil: undefined }),
  amount: fc.option(amount, { nil: undefined }),
})
const input = fc.constantFrom<Record<string, unknown>[]>(
  {},
  ...options.map((one) => ({ size: one })),
  { size: 'unknown' },
  { size: '__proto__' },
)
const coupon: fc.Arbitrary<Discount | null> = fc.option(
  fc.oneof(
    fc.integer({ min: 1, max: 100 }).map((percent) => ({ code: 'CODE', percent, amount: null })),
    amount.map((off) => ({ code: 'CODE', percent: null, amount: off })),
  ),
)

function refusalOf(act: () => unknown): DomainError | null {
  try {
    act()
    return null
  } catch (error) {
    if (error instanceof DomainError) return error
    throw error
  }
}

function check<Made>(made: fc.Arbitrary<Made>, holds: (made: Made) => void): void {
  fc.assert(fc.property(made, holds), { numRuns: RUNS, seed: SEED })
}

/** Null where it is refused. */
function linesFor(offered: Priced, values: object, chosen: Choice, used: Discount | null): Lines | null {
  return refusalOf(() => priceOf(offered, { ...values }, chosen, used)) === null
    ? priceOf(offered, { ...values }, chosen, used)
    : null
}

/** What buyers can choose, in every combination with what sellers can offer, and every code. */
describe('prices', () => {
  it('are refused by name, or are above 0 and within what one payment can be', () => {
    check(fc.tuple(terms, input, choice, coupon), ([offered, values, chosen, used]) => {
      const refusal = refusalOf(() => priceOf(offered, values, chosen, used))
      if (refusal !== null) {
        expect(Object.keys(refusal.fields['details'] as object)).toEqual([expect.stringMatching(/^choice\./)])
        return
      }
      const { unit, quantity: many, subtotal, discount, total } = priceOf(offered, values, chosen, used)
      expect(subtotal).toBe(unit * BigInt(many))
      expect(total).toBe(subtotal - discount)
      expect(discount >= 0n && total >= 0n && total <= subtotal).toBe(true)
      expect(subtotal <= LARGEST && subtotal <= largestTotal(offered)).toBe(true)
    })
  })

  it('have off exactly the percentage, rounded down to the micro-dollar, or the amount', () => {
    check(fc.tuple(terms, input, coupon), ([offered, values, used]) => {
      const lines = linesFor(offered, values, {}, used)
      if (lines === null || used === null) return
      const { subtotal, discount } = lines
      if (used.percent === null) expect(discount).toBe(least(used.amount ?? 0n, subtotal))
      else {
        const hundredths = subtotal * BigInt(used.percent)
        expect(discount * 100n <= hundredths && (discount + 1n) * 100n > hundredths).toBe(true)
      }
    })
  })

  it('can take off the whole price, and no more', () => {
    const all = { code: 'ALL', percent: 100, amount: null }
    check(fc.tuple(terms, input), ([offered, values]) => {
      const { total } = priceOf(offered, values, {}, null)
      for (const amount of [total, usdc(total + 1n)]) {
        const lines = linesFor(offered, values, {}, { code: 'SAME', percent: null, amount })
        expect(lines).toMatchObject({ discount: total, total: 0n })
      }
      expect(linesFor(offered, values, {}, all)).toMatchObject({ discount: total, total: 0n })
    })
  })

  it('grow with the quantity, with and without a code', () => {
    check(fc.tuple(terms, quantity, quantity, coupon), ([offered, one, other, used]) => {
      if (offered.pricing.kind !== 'quantity') return
      const { min, max } = offered.pricing
      const totals = [Math.min(one, other), Math.max(one, other)]
        .map((many) => Math.min(max, Math.max(min, many)))
        .map((many) => linesFor(offered, {}, { quantity: many }, used)?.total ?? 0n)
      expect(totals[0]! <= totals[1]!).toBe(true)
    })
  })

  it("are the buyer's chosen amount, within the bounds", () => {
    check(fc.tuple(terms, amount), ([offered, requested]) => {
      if (offered.pricing.kind !== 'choose') return
      const { min, max } = offered.pricing
      const isWithin = requested >= min && (max === null || requested <= max)
      expect(linesFor(offered, {}, { amount: requested }, null)?.total).toBe(isWithin ? requested : undefined)
    })
  })

  it('are stored in a sale to the micro-dollar; an older sale has quantity one', () => {
    check(fc.tuple(terms, input, coupon), ([offered, values, used]) => {
      const lines = linesFor(offered, values, {}, used)
      if (lines === null) return
      const details = JSON.parse(JSON.stringify({ lines: toStoredLines(lines) })) as Record<string, unknown>
      expect(linesOf({ details, amount: lines.total })).toEqual(lines)
      const old = linesOf({ details: {}, amount: lines.total })
      expect([old.unit, old.quantity, old.discount, old.total]).toEqual([lines.total, 1, 0n, lines.total])
    })
  })

  it('have a purchase hash that differs for each choice, and not for an empty one', () => {
    const money = usdc(1_000_000n) satisfies Usdc
    const choices: Choice[] = [
      {},
      { quantity: 1 },
      { quantity: 2 },
      { amount: money },
      { coupon: 'A' },
      { coupon: 'B' },
    ]
    const hashes = choices.map((one) => purchaseHash({ site: 'x' }, one).toString('hex'))
    expect(new Set(hashes).size).toBe(choices.length)
    expect(purchaseHash({ site: 'x' }, { quantity: undefined }).toString('hex')).toBe(hashes[0])
  })
})
