import { usdc } from '../../service/kit/money.ts'
import { decide } from '../../service/budgets/rules/decide.ts'
import { count, emptyUsage, endOf, giveBack, roll, startOf } from '../../service/budgets/rules/windows.ts'
import type { Expense, Usage, WindowLimit } from '../../service/budgets/model.ts'
import { policyOf } from './harness.ts'

/** The last moment of one window and the first of the next. */
const BOUNDARIES: [WindowLimit, string, string][] = [
  ['perMinute', '2026-03-10T10:00:59.999Z', '2026-03-10T10:01:00.000Z'],
  ['perMinute', '2026-12-31T23:59:59.999Z', '2027-01-01T00:00:00.000Z'],
  ['perDay', '2026-03-10T23:59:59.999Z', '2026-03-11T00:00:00.000Z'],
  // A leap day is a day of its own; other years have none.
  ['perDay', '2028-02-28T23:59:59.999Z', '2028-02-29T00:00:00.000Z'],
  ['perDay', '2028-02-29T23:59:59.999Z', '2028-03-01T00:00:00.000Z'],
  ['perDay', '2026-02-28T23:59:59.999Z', '2026-03-01T00:00:00.000Z'],
  // Where summer time begins and ends elsewhere, UTC has its 24 hours.
  ['perDay', '2026-03-29T23:59:59.999Z', '2026-03-30T00:00:00.000Z'],
  ['perDay', '2026-10-25T23:59:59.999Z', '2026-10-26T00:00:00.000Z'],
  // Sunday night; also over the year's end, and over a leap day.
  ['perWeek', '2026-03-15T23:59:59.999Z', '2026-03-16T00:00:00.000Z'],
  ['perWeek', '2027-01-03T23:59:59.999Z', '2027-01-04T00:00:00.000Z'],
  ['perWeek', '2028-03-05T23:59:59.999Z', '2028-03-06T00:00:00.000Z'],
  ['perMonth', '2026-01-31T23:59:59.999Z', '2026-02-01T00:00:00.000Z'],
  ['perMonth', '2026-02-28T23:59:59.999Z', '2026-03-01T00:00:00.000Z'],
  ['perMonth', '2028-02-29T23:59:59.999Z', '2028-03-01T00:00:00.000Z'],
  ['perMonth', '2100-02-28T23:59:59.999Z', '2100-03-01T00:00:00.000Z'],
  ['perMonth', '2026-04-30T23:59:59.999Z', '2026-05-01T00:00:00.000Z'],
  ['perMonth', '2026-12-31T23:59:59.999Z', '2027-01-01T00:00:00.000Z'],
]

/** Moments that look like boundaries and are none. */
const INSIDE: [WindowLimit, string, string][] = [
  ['perDay', '2026-03-10T00:00:00.000Z', '2026-03-10T23:59:59.999Z'],
  ['perWeek', '2026-03-09T00:00:00.000Z', '2026-03-15T23:59:59.999Z'],
  // A new year, a new month and a leap day inside one week.
  ['perWeek', '2026-12-31T23:59:59.999Z', '2027-01-01T00:00:00.000Z'],
  ['perWeek', '2026-04-30T23:59:59.999Z', '2026-05-01T00:00:00.000Z'],
  ['perWeek', '2028-02-29T12:00:00.000Z', '2028-03-01T12:00:00.000Z'],
  ['perMonth', '2028-02-28T23:59:59.999Z', '2028-02-29T00:00:00.000Z'],
  ['perMonth', '2026-03-01T00:00:00.000Z', '2026-03-31T23:59:59.999Z'],
  ['lifetime', '2026-12-31T23:59:59.999Z', '2099-01-01T00:00:00.000Z'],
]

const PLAIN = { approved: false, defaultPerDay: null }
const expense: Expense = { kind: 'run', target: 'x', alias: null, domain: null, amount: usdc(1n) }

function fullAt(window: WindowLimit, at: string): { verdictAt(later: string): string; usage: Usage } {
  const agent = { status: 'active' as const, policy: policyOf({ limits: { [window]: 10n } }) }
  const usage = count(emptyUsage(new Date(at)), usdc(10n))
  return { usage, verdictAt: (later) => decide(agent, roll(usage, new Date(later)), expense, PLAIN).outcome }
}

test.each(BOUNDARIES)('%s: a window full at %s is empty at %s', (window, last, first) => {
  const { verdictAt, usage } = fullAt(window, last)
  expect(verdictAt(last)).toBe('refused')
  expect(verdictAt(first)).toBe('allowed')
  expect(startOf(window, new Date(first)).toISOString()).toBe(first)
  expect(endOf(window, new Date(last))?.toISOString()).toBe(first)
  expect(roll(usage, new Date(first))[window]).toBe(0n)
})

test.each(INSIDE)('%s: a window full at %s is still full at %s', (window, at, later) => {
  expect(fullAt(window, at).verdictAt(later)).toBe('refused')
})

test('a refusal names when its window ends', () => {
  const agent = { status: 'active' as const, policy: policyOf({ limits: { perWeek: 10n } }) }
  const usage = count(emptyUsage(new Date('2026-12-31T12:00:00.000Z')), usdc(10n))
  const decision = decide(agent, usage, expense, PLAIN)
  expect(decision).toMatchObject({
    outcome: 'refused',
    refusal: { rule: 'perWeek', spent: 10n, requested: 1n, limit: 10n, resetsAt: new Date('2027-01-04T00:00:00.000Z') },
  })
})

test('of several full windows the refusal names the longest, which ends last', () => {
  const agent = { status: 'active' as const, policy: policyOf({ limits: { perMinute: 5n, perDay: 5n, perMonth: 5n } }) }
  const usage = count(emptyUsage(new Date('2026-05-05T05:05:05.000Z')), usdc(5n))
  expect(decide(agent, usage, expense, PLAIN)).toMatchObject({
    refusal: { rule: 'perMonth', resetsAt: new Date('2026-06-01T00:00:00.000Z') },
  })
})

test('calls are counted per minute, and start over with the next', () => {
  const agent = { status: 'active' as const, policy: policyOf({ rate: { callsPerMinute: 2 } }) }
  const once = count(emptyUsage(new Date('2026-05-05T05:05:59.999Z')), usdc(0n))
  const twice = count(once, usdc(0n))
  expect(decide(agent, once, expense, PLAIN).outcome).toBe('allowed')
  expect(decide(agent, twice, expense, PLAIN)).toMatchObject({
    outcome: 'refused',
    refusal: { rule: 'callsPerMinute', spent: 2 },
  })
  expect(decide(agent, roll(twice, new Date('2026-05-05T05:06:00.000Z')), expense, PLAIN).outcome).toBe('allowed')
})

test('a returned amount is subtracted only from windows that are still open', () => {
  const at = new Date('2026-01-31T23:59:30.000Z')
  const later = roll(count(emptyUsage(at), usdc(10n)), new Date('2026-02-01T00:00:30.000Z'))
  const released = giveBack(count(later, usdc(3n)), at, usdc(10n))
  // Saturday to Sunday: the week goes on, day and month are others.
  expect(released).toMatchObject({ perMinute: 3n, perDay: 3n, perWeek: 3n, perMonth: 3n, lifetime: 3n, calls: 1 })
})

test('a clock that is behind uses the newest window counted in', () => {
  const agent = { status: 'active' as const, policy: policyOf({ limits: { perDay: 10n } }) }
  const usage = count(emptyUsage(new Date('2026-05-06T00:00:00.001Z')), usdc(10n))
  const behind = roll(usage, new Date('2026-05-05T23:59:59.999Z'))
  expect(behind.at).toEqual(usage.at)
  expect(decide(agent, behind, expense, PLAIN).outcome).toBe('refused')
})
