import fc from 'fast-check'
import { parseJson } from '../../service/edge/json.ts'

const parse = (text: string): unknown => parseJson(Buffer.from(text))

describe('JSON on the way in', () => {
  test('is what JSON.parse makes of it, for anything that JavaScript can write', () => {
    fc.assert(fc.property(fc.json(), (text) => expect(parse(text)).toEqual(JSON.parse(text))))
  })

  test('every number that JavaScript writes is taken as it is', () => {
    const finite = fc.double({ noNaN: true, noDefaultInfinity: true })
    fc.assert(
      fc.property(finite, (value) => Object.is(parse(JSON.stringify(value)), JSON.parse(JSON.stringify(value)))),
    )
  })

  test.each([
    '1.0000000000000000001',
    '9007199254740993',
    '0.1000000000000000055',
    '1e400',
    '1e-400',
    '9007199254.0000001',
  ])('%s cannot be held, so it is no number', (literal) => {
    const { amount } = parse(`{"amount": ${literal}}`) as { amount: unknown }
    expect(typeof amount).toBe('object')
    // In free-form data it still goes through as the nearest number.
    expect(JSON.stringify({ amount })).toBe(JSON.stringify({ amount: Number(literal) }))
  })

  test.each(['1.50000000000000000000', '100000000000000000000', '1e2', '0.1e1', '-0.0', '1234567890123456e-1'])(
    '%s can, however it is written',
    (literal) => {
      expect(parse(literal)).toBe(Number(literal))
    },
  )

  test('a string of digits stays a string', () => {
    expect(parse('{"card": "4111111111111111111111"}')).toEqual({ card: '4111111111111111111111' })
  })
})
