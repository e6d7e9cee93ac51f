import fc from 'fast-check'
import type { Plan } from '../../service/passes/model.ts'
import { runsLeftOf, statusOf } from '../../service/passes/model.ts'
import { granted, remindAtOf, type Holding } from '../../service/passes/rules.ts'
import { usdc } from '../../service/kit/money.ts'

const DAY_MS = 86_400_000
const START = new Date('2026-11-24T12:00:00Z')
const common = { id: 'plan', name: 'Plan', price: usdc(1_000_000n) }
const runs = fc.integer({ min: 1, max: 100_000 })
const plan: fc.Arbitrary<Plan> = fc.oneof(
  runs.map((many): Plan => ({ ...common, kind: 'runs', runs: many })),
  fc
    .record({ days: fc.integer({ min: 1, max: 3_660 }), runs: fc.option(runs) })
    .map((period): Plan => ({ ...common, kind: 'period', ...period })),
)

/** What a holder has after buying one plan several times, with so many milliseconds between. */
function holdings(one: Plan, pauses: readonly number[]): { holding: Holding; now: Date }[] {
  let now = START
  let holding: Holding | null = null
  return pauses.map((pause) => {
    now = new Date(now.getTime() + pause)
    holding = granted(one, holding, now)
    return { holding, now }
  })
}

describe('a plan bought for a pass', () => {
  const pauses = fc.array(fc.integer({ min: 0, max: 100 * DAY_MS }), { minLength: 1, maxLength: 12 })

  it('adds its runs, of which the purchase itself is one', () => {
    fc.assert(
      fc.property(plan, pauses, (one, times) => {
        const { holding } = holdings(one, times).at(-1)!
        expect(holding.used).toBe(times.length)
        expect(holding.runs).toBe(one.runs === null ? null : one.runs * times.length)
        const left = runsLeftOf(holding)
        expect(left === null || left >= 0).toBe(true)
      }),
    )
  })

  it('adds its days to the later of now and the end, so that no paid day is lost or doubled', () => {
    fc.assert(
      fc.property(plan, pauses, (one, times) => {
        let before: Date | null = null
        for (const { holding, now } of holdings(one, times)) {
          if (one.kind === 'runs') {
            expect(holding.until).toBeNull()
            continue
          }
          const from: Date = before !== null && before > now ? before : now
          expect(holding.until!.getTime()).toBe(from.getTime() + one.days * DAY_MS)
          before = holding.until
        }
      }),
    )
  })

  it('is announced three days before its end, and not where the end is nearer', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 * DAY_MS }), (left) => {
        const until = new Date(START.getTime() + left)
        const at = remindAtOf(until, START)
        if (left > 3 * DAY_MS) expect(at!.getTime()).toBe(until.getTime() - 3 * DAY_MS)
        else expect(at).toBeNull()
      }),
    )
  })

  it('is active exactly while a run and time are left', () => {
    const state = fc.record({
      runs: fc.option(runs),
      used: fc.nat(100_000),
      left: fc.option(fc.integer({ min: -DAY_MS, max: DAY_MS })),
    })
    fc.assert(
      fc.property(state, ({ runs: many, used, left }) => {
        const until = left === null ? null : new Date(START.getTime() + left)
        const isOver = left !== null && left <= 0
        const isUsed = many !== null && used >= many
        const status = statusOf({ runs: many, used, until, endedAt: null }, START)
        expect(status).toBe(isOver ? 'ended' : isUsed ? 'used_up' : 'active')
        expect(statusOf({ runs: many, used, until, endedAt: START }, START)).toBe('ended')
      }),
    )
  })
})
