import { refusalOf } from '../../service/dashboard/browser/pages/wallet/withdrawal.ts'
import { tickOf } from '../../service/ui-kit/format.ts'

test('ticks of a small axis are told apart, those of a large one are short', () => {
  expect([0, 0.0025, 0.005, 0.0075, 0.01].map(tickOf)).toEqual(['0', '0.0025', '0.005', '0.0075', '0.01'])
  expect([0.00000025, 0.000001].map(tickOf)).toEqual(['0.00000025', '0.000001'])
  expect([1, 2.5, 1_500, 2_000_000].map(tickOf)).toEqual(['1', '2.5', '1.5K', '2M'])
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
