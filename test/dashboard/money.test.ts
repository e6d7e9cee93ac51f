import fc from 'fast-check'
import { refusalOf } from '../../service/dashboard/browser/pages/wallet/withdrawal.ts'
import { axisOf, tickOf } from '../../service/ui-kit/format.ts'

test('axis ticks are distinct on a small axis and short on a large one', () => {
  expect([0, 0.0025, 0.005, 0.0075, 0.01].map(tickOf)).toEqual(['0', '0.0025', '0.005', '0.0075', '0.01'])
  expect([0.00000025, 0.000001].map(tickOf)).toEqual(['0.00000025', '0.000001'])
  expect([1, 2.5, 1_500, 2_000_000].map(tickOf)).toEqual(['1', '2.5', '1.5K', '2M'])
})

test('an axis has equal round steps from zero, distinct ticks, and the largest value in its last step', () => {
  expect(axisOf(0.01, { areWhole: false })).toEqual([0, 0.002, 0.004, 0.006, 0.008, 0.01])
  expect(axisOf(25, { areWhole: false })).toEqual([0, 5, 10, 15, 20, 25])
  expect(axisOf(1, { areWhole: true })).toEqual([0, 1])
  expect(axisOf(13, { areWhole: true })).toEqual([0, 5, 10, 15])
  const amount = fc.integer({ min: 1, max: 2 ** 52 }).map((micro) => micro / 1e6)
  const count = fc.integer({ min: 1, max: 2 ** 50 })
  fc.assert(
    fc.property(
      fc.oneof(fc.tuple(amount, fc.constant(false)), fc.tuple(count, fc.constant(true))),
      ([most, areWhole]) => {
        const ticks = axisOf(most, { areWhole })
        const [zero, step = 0] = ticks
        const last = ticks.at(-1) ?? 0
        expect(zero).toBe(0)
        expect(ticks.length).toBeGreaterThanOrEqual(2)
        expect(ticks.length).toBeLessThanOrEqual(6)
        expect(last).toBeGreaterThanOrEqual(most * (1 - 1e-8))
        // The last step is needed.
        expect(last - step).toBeLessThan(most)
        expect(['1', '2', '25', '5']).toContain(step.toExponential().replace('.', '').split('e')[0])
        ticks.forEach((tick, place) => expect(tick).toBeCloseTo(step * place, 8 - Math.ceil(Math.log10(last))))
        if (areWhole) expect(ticks.every((tick) => Number.isInteger(tick))).toBe(true)
        expect(new Set(ticks.map(tickOf)).size).toBe(ticks.length)
      },
    ),
  )
})

describe('why an amount cannot be withdrawn', () => {
  const terms = { available: 25, minimum: 1, left: 10, paused: false }
  test.each([
    ['within everything', 10, terms, null],
    ['nothing typed', Number.NaN, terms, null],
    ['more than is available', 999, terms, 'The wallet has 25.00 USDC available. Enter that or less.'],
    ['more than may leave today', 11, terms, '10.00 USDC may still be withdrawn today. Enter that or less.'],
    ['too little', 0.5, terms, 'A withdrawal must be at least 1.00 USDC.'],
    ['no limit', 25, { ...terms, left: null }, null],
    ['paused', 5, { ...terms, paused: true }, 'Withdrawals are paused by the operator. Try again later.'],
  ])('%s', (_, amount, of, sentence) => {
    expect(refusalOf(amount, of)).toBe(sentence)
  })
})
