import { createRates, localMoney, ratesIn } from '../../service/pages/rates.ts'
import { until } from '../harness/until.ts'

const RATES = { EUR: 0.92, GBP: 0.79, JPY: 151.2 }
const HOUR_MS = 3_600_000
const ignore = () => undefined

describe('the value of a price in its reader’s currency', () => {
  test.each([
    ['de-AT,de;q=0.9,en;q=0.8', { currency: 'EUR', rate: 0.92 }],
    ['en-GB', { currency: 'GBP', rate: 0.79 }],
    ['fr', { currency: 'EUR', rate: 0.92 }],
    ['ja', { currency: 'JPY', rate: 151.2 }],
    ['zh-Hant-JP', { currency: 'JPY', rate: 151.2 }],
    ['en-US,en;q=0.9', null],
    ['en', null],
    // Its rate is not known.
    ['de-CH', null],
    ['*', null],
    ['', null],
    ['xx-__proto__', null],
    ['-', null],
  ])('for %s', (accepted, local) => {
    expect(localMoney(RATES, { accepted })).toEqual(local)
    expect(localMoney(null, { accepted })).toBeNull()
  })

  test('is of a rate that is a number, of a currency', () => {
    const given = { EUR: 0.92, GBP: '0.79', CHF: 0, SEK: -1, XXXX: 1, NOK: 1e300, constructor: 2, DKK: null }
    expect(ratesIn(JSON.stringify({ base: 'USD', rates: given }))).toEqual({ EUR: 0.92 })
    for (const text of ['', '[]', '{}', '{"rates":[]}', '{"rates":{"EUR":"1"}}', '<html>']) {
      expect(() => ratesIn(text)).toThrow()
    }
  })

  test('is asked for once an hour, kept for a day, and waited for by nobody', async () => {
    let now = 0
    let asked = 0
    let answer: () => Promise<string> = () => Promise.resolve(JSON.stringify({ rates: RATES }))
    const ask = (): Promise<string> => {
      asked++
      return answer()
    }
    const rates = createRates({
      ask,
      clock: { now: () => new Date(now) },
      log: { info: ignore, warn: ignore, error: ignore },
    })
    expect(rates()).toBeNull()
    await until(() => rates() !== null)
    expect([rates(), asked]).toEqual([RATES, 1])
    now += HOUR_MS - 1
    expect([rates(), asked]).toEqual([RATES, 1])
    answer = () => Promise.reject(new Error('away'))
    now += 1
    expect([rates(), asked]).toEqual([RATES, 2])
    // The source is away: asked again a minute later, not by every page.
    await until(() => {
      now += 20_000
      rates()
      return asked === 3
    })
    expect(now).toBeGreaterThanOrEqual(HOUR_MS + 60_000)
    now = 24 * HOUR_MS
    expect(rates()).toBeNull()
  })
})
