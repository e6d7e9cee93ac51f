import { generator } from '../harness/random.ts'
import { simulateHotRow, simulateParts } from './hot-account.ts'
import { LEDGER_COST, MEASURED } from './measured.ts'
import { gasOf, simulateSponsors, sponsorsFor } from './sponsors.ts'

const SETTING = { blockSeconds: 2, gasPerBlock: 60_000_000, seconds: 60 }

describe('the simulation of sponsors', () => {
  test.each(MEASURED.settlements)('matches the measurement with $callers waiting callers', ({ callers, perSecond }) => {
    const load = { kind: 'closed', callers } as const
    const outcome = simulateSponsors({ ...SETTING, sponsors: 1, load, random: generator(1) })
    expect(outcome.perSecond / perSecond).toBeGreaterThan(0.85)
    expect(outcome.perSecond / perSecond).toBeLessThan(1.15)
  })

  test('limits one sponsor by its pending transactions', () => {
    const load = { kind: 'open', perSecond: 1_000 } as const
    const outcome = simulateSponsors({ ...SETTING, sponsors: 1, load, random: generator(2) })
    // Sixteen transactions of fifty, a block of two seconds.
    expect(outcome.perSecond).toBeGreaterThan(360)
    expect(outcome.perSecond).toBeLessThanOrEqual(401)
    expect(outcome.waiting).toBeGreaterThan(10_000)
  })

  test('no number of sponsors gets more through than the gas that is ours', () => {
    const gasPerBlock = 10_000_000
    const load = { kind: 'open', perSecond: 400 } as const
    const outcome = simulateSponsors({ ...SETTING, gasPerBlock, sponsors: 20, load, random: generator(3) })
    expect(outcome.gasPerSecond).toBeLessThanOrEqual(gasPerBlock / 2)
    expect(outcome.perSecond).toBeLessThan(gasPerBlock / 2 / (gasOf(50) / 50))
    expect(sponsorsFor(400, { ...SETTING, gasPerBlock, random: generator(4) })).toBeNull()
  })

  test('uses the measured gas of a batch', () => {
    for (const [payments, each] of [
      [10, 53_592],
      [25, 51_058],
      [50, 50_215],
    ] as const)
      expect(gasOf(payments) / payments / each).toBeCloseTo(1, 2)
  })
})

describe('the simulation of a hot account', () => {
  const row = { flightMost: 256, cost: LEDGER_COST, seconds: 5 }

  test.each(MEASURED.hotWallet)('matches the measurement with $callers waiting callers', ({ callers, perSecond }) => {
    const outcome = simulateHotRow({ ...row, processes: 1, callers })
    expect(outcome.perSecond / perSecond).toBeGreaterThan(0.85)
    expect(outcome.perSecond / perSecond).toBeLessThan(1.15)
  })

  test('more processes do not make one row faster', () => {
    const one = simulateHotRow({ ...row, processes: 1, callers: 256 })
    const eight = simulateHotRow({ ...row, processes: 8, callers: 256 })
    expect(eight.perSecond).toBeLessThan(one.perSecond)
  })

  test('an account in parts refuses no charge that the whole could pay', () => {
    for (const balance of [1, 4, 16, 1_000]) {
      for (const parts of [1, 4, 16]) {
        const outcome = simulateParts({ parts, balance, charges: 20_000, random: generator(balance + parts) })
        expect(outcome.falselyRefused).toBe(0)
      }
    }
  })

  test('the richer the account, the rarer a part has to ask the others', () => {
    const pulls = [16, 160, 1_600, 16_000].map(
      (balance) => simulateParts({ parts: 16, balance, charges: 50_000, random: generator(balance) }).pullsPerThousand,
    )
    expect(pulls).toEqual(pulls.toSorted((a, b) => b - a))
    expect(pulls[0]).toBeGreaterThan(100)
    expect(pulls.at(-1)).toBeLessThan(5)
  })
})
