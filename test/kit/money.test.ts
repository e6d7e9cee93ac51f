import fc from 'fast-check'
import { fromWire, LARGEST, toWire, usdc } from '../../service/kit/money.ts'

describe('money on the wire', () => {
  test('survives a round trip, to the micro-dollar', () => {
    // Up to where a double has room for six decimals.
    const micro = fc.bigInt({ min: 0n, max: 8_589_934_592_000_000n })
    fc.assert(fc.property(micro, (amount) => fromWire(toWire(usdc(amount))) === amount))
  })

  test('is parsed exactly from its decimal', () => {
    const amount = fc.tuple(fc.nat({ max: 999_999_999 }), fc.nat({ max: 999_999 }))
    fc.assert(
      fc.property(amount, ([whole, fraction]) => {
        const literal = `${String(whole)}.${String(fraction).padStart(6, '0')}`
        return fromWire(Number(literal)) === BigInt(whole) * 1_000_000n + BigInt(fraction)
      }),
    )
  })

  test('with more than six decimals is refused, never rounded', () => {
    const digits = fc.tuple(fc.nat({ max: 999_999 }), fc.integer({ min: 1, max: 9_999_999 }))
    fc.assert(
      fc.property(
        digits.filter(([, fraction]) => fraction % 10 !== 0),
        ([whole, fraction]) =>
          fromWire(Number(`${String(whole)}.${String(fraction).padStart(7, '0')}`)) === 'must have at most 6 decimals',
      ),
    )
  })

  test.each([
    [Number.NaN, 'must be a finite number'],
    [Infinity, 'must be a finite number'],
    [-0.000001, 'must not be negative'],
    [9_007_199_254.1, 'must be at most 9007199254'],
    [1e21, 'must be at most 9007199254'],
    [1e-7, 'must have at most 6 decimals'],
    [5e-324, 'must have at most 6 decimals'],
    [9_007_199_254, LARGEST],
    [0, 0n],
    [-0, 0n],
    [0.1, 100_000n],
    [0.000001, 1n],
  ])('%s is %s', (value, expected) => {
    expect(fromWire(value)).toBe(expected)
  })

  test.each([
    [0n, 0],
    [1n, 0.000001],
    [-1_500_000n, -1.5],
    [25_000_000n, 25],
  ])('%s goes out as %s', (micro, expected) => {
    expect(toWire(usdc(micro))).toBe(expected)
  })
})
