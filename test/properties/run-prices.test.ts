import fc from 'fast-check'
import { usdc } from '../../service/kit/money.ts'
import type { LanguageModel } from '../../service/marketplace/model/asset.ts'
import { bill, modelCost, quote, type Terms } from '../../service/marketplace/rules/price.ts'

const amount = fc.bigInt({ min: 0n, max: 50_000_000n }).map(usdc)
const tokens = fc.integer({ min: 0, max: 200_000 })
const model: fc.Arbitrary<LanguageModel> = fc.record({
  id: fc.constant('m'),
  name: fc.constant('M'),
  tier: fc.constant('fast' as const),
  inputPrice: amount,
  outputPrice: amount,
  outputTokensMax: fc.integer({ min: 1, max: 65_536 }),
})
const terms: fc.Arbitrary<Terms> = fc.record({
  pricing: fc
    .record({ model: fc.constantFrom('per-run', 'per-token', 'per-second', 'free'), amount })
    .map((pricing) => (pricing.model === 'free' ? { ...pricing, amount: usdc(0n) } : pricing)),
  model: fc.option(model),
  limitMs: fc.integer({ min: 1_000, max: 180_000 }),
})
const measures = fc.record({
  usage: fc.option(fc.record({ promptTokens: tokens, completionTokens: tokens })),
  durationMs: fc.integer({ min: 0, max: 400_000 }),
})
const seed = Number(process.env['SEED'] ?? 20_261_121)
const options = { numRuns: 5_000, seed }

describe('the price of a run', () => {
  test('is never more than its hold, and the share never more than the charge', () => {
    fc.assert(
      fc.property(terms, tokens, measures, fc.integer({ min: 0, max: 10_000 }), (runTerms, prompt, used, fee) => {
        const { lock, price, payer } = quote(runTerms, prompt)
        const { charged, cost, share } = bill(runTerms, lock, used, fee)
        expect(price <= lock && charged <= lock && cost <= price && share <= charged && share >= 0n).toBe(true)
        expect(payer === 'owner').toBe(runTerms.pricing.model === 'free' && lock > 0n)
        if (runTerms.pricing.model === 'free') expect([cost, share]).toEqual([0n, 0n])
        else expect(cost).toBe(charged)
      }),
      options,
    )
  })

  test("pays the model first, then the platform's fee, and the creator the rest", () => {
    fc.assert(
      fc.property(terms, tokens, measures, fc.integer({ min: 0, max: 10_000 }), (runTerms, prompt, used, fee) => {
        const { lock } = quote(runTerms, prompt)
        const { charged, share } = bill(runTerms, lock, used, fee)
        const own = modelCost(runTerms.model, used.usage)
        const rest = charged > own ? charged - own : 0n
        if (runTerms.pricing.model !== 'free') expect(share).toBe(rest - (rest * BigInt(fee)) / 10_000n)
        // What was foreseen is always enough for the model.
        const foreseen = used.usage !== null && used.usage.promptTokens <= prompt && runTerms.model !== null
        if (foreseen && used.usage!.completionTokens <= runTerms.model!.outputTokensMax) {
          expect(charged >= own).toBe(true)
        }
      }),
      options,
    )
  })

  test('is the usage within the hold: per thousand tokens, per second begun, or per run', () => {
    const of = (pricing: Terms['pricing'], used: Parameters<typeof bill>[2]) => {
      const runTerms: Terms = { pricing, model: null, limitMs: 30_000 }
      return bill(runTerms, usdc(1_000_000_000n), used, 0).charged
    }
    const usage = { promptTokens: 300, completionTokens: 201 }
    expect(of({ model: 'per-run', amount: usdc(5n) }, { usage, durationMs: 9 })).toBe(5n)
    expect(of({ model: 'per-token', amount: usdc(1_000n) }, { usage, durationMs: 9 })).toBe(501n)
    expect(of({ model: 'per-token', amount: usdc(1n) }, { usage, durationMs: 9 })).toBe(1n)
    expect(of({ model: 'per-second', amount: usdc(7n) }, { usage: null, durationMs: 2_001 })).toBe(21n)
    expect(of({ model: 'per-second', amount: usdc(7n) }, { usage: null, durationMs: 0 })).toBe(7n)
  })
})
