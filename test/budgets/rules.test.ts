import fc from 'fast-check'
import { usdc } from '../../service/kit/money.ts'
import type { Expense } from '../../service/budgets/model.ts'
import { decide, warnings } from '../../service/budgets/rules/decide.ts'
import { contradictions } from '../../service/budgets/rules/contradictions.ts'
import { covers, matches } from '../../service/budgets/rules/patterns.ts'
import { count, emptyUsage } from '../../service/budgets/rules/windows.ts'
import { policyOf } from './harness.ts'

const now = new Date('2026-05-05T05:05:05.000Z')
const nothing = emptyUsage(now)
const PLAIN = { approved: false, defaultPerDay: null }

function decisionOn(
  policy: ReturnType<typeof policyOf>,
  expense: Partial<Expense>,
  status: 'active' | 'paused' = 'active',
): string {
  const whole: Expense = { kind: 'run', target: 'x', alias: null, domain: null, amount: usdc(0n), ...expense }
  const decision = decide({ status, policy }, nothing, whole, PLAIN)
  return decision.outcome === 'refused' ? decision.refusal.rule : decision.outcome
}

describe('patterns', () => {
  test.each([
    ['seo-audit', 'seo-audit', true],
    ['seo-audit', 'seo-audits', false],
    ['seo-*', 'seo-audit', true],
    ['seo-*', 'seo-', true],
    ['seo-*', 'seo', false],
    ['*', '', true],
    ['*-audit', 'seo-audit', true],
    ['*-audit', 'audit', false],
    ['a*b*c', 'a-b-b-c', true],
    ['a*b*c', 'acb', false],
    ['a*bc*c', 'abc', false],
    ['ab*ba', 'aba', false],
    ['**', 'x', true],
    ['*.example.com', 'example.com', false],
    ['*.example.com', 'api.example.com', true],
    ['*.example.com', 'api.example.com.evil.test', false],
    ['a.c', 'abc', false],
  ])('%s and %s: %s', (pattern, text, expected) => {
    expect(matches(pattern, text)).toBe(expected)
  })

  test('match like their regular expression', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '-'), maxLength: 12 })
    const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '-', '*'), maxLength: 8 })
    fc.assert(
      fc.property(pattern, text, (one, other) => {
        expect(matches(one, other)).toBe(new RegExp(`^${one.replaceAll('*', '[^]*')}$`).test(other))
      }),
      { numRuns: 5_000, seed: 10 },
    )
  })

  test('cover another pattern only if they match all of its texts', () => {
    const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 5 })
    const text = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 8 })
    fc.assert(
      fc.property(pattern, pattern, text, (wide, narrow, one) => {
        if (covers(wide, narrow) && matches(narrow, one)) expect(matches(wide, one)).toBe(true)
      }),
      { numRuns: 20_000, seed: 11 },
    )
  })

  // One that tries every way to place the stars would not come to an end.
  test('with a hundred stars are decided for a long text', () => {
    expect(matches('*a'.repeat(100), `${'a'.repeat(2_000)}b`)).toBe(false)
  })
})

describe('lists', () => {
  test('an allow list denies the rest, deny wins, and each list covers its own kind only', () => {
    const policy = policyOf({
      tools: { allow: ['search-*'], deny: ['search-private'] },
      rdas: { allow: [], deny: [] },
      domains: { allow: null, deny: ['*.evil.test'] },
      limits: { perDay: 5_000_000n },
    })
    expect(decisionOn(policy, { kind: 'tool', target: 'search-web' })).toBe('allowed')
    expect(decisionOn(policy, { kind: 'tool', target: 'search-private' })).toBe('tools.deny')
    expect(decisionOn(policy, { kind: 'tool', target: 'mail-send' })).toBe('tools.allow')
    expect(decisionOn(policy, { kind: 'run', target: 'search-web' })).toBe('rdas.allow')
    expect(decisionOn(policy, { kind: 'pay', target: 'https://a.test/x', domain: 'a.test' })).toBe('allowed')
  })

  test('match a host in any case, with or without its port, and with a final dot', () => {
    const policy = policyOf({
      domains: { allow: ['api.example.com', 'other.test:8443'], deny: [] },
      limits: { perDay: 5_000_000n },
    })
    for (const domain of [
      'api.example.com',
      'API.Example.com',
      'api.example.com.',
      'api.example.com:444',
      'other.test:8443',
    ]) {
      expect([domain, decisionOn(policy, { kind: 'pay', domain })]).toEqual([domain, 'allowed'])
    }
    for (const domain of ['example.com', 'api.example.com.evil.test', 'other.test', 'other.test:443']) {
      expect([domain, decisionOn(policy, { kind: 'pay', domain })]).toEqual([domain, 'domains.allow'])
    }
  })

  test("match an asset's slug by its id, too", () => {
    const policy = policyOf({ rdas: { allow: null, deny: ['rda_1'] } })
    expect(decisionOn(policy, { target: 'some-slug', alias: 'rda_1' })).toBe('rdas.deny')
  })
})

describe('limits', () => {
  test('are required for payments to outside addresses, and not for runs', () => {
    expect(decisionOn(policyOf(), { kind: 'pay' })).toBe('limits')
    expect(decisionOn(policyOf({ approvalAbove: usdc(1n) }), { kind: 'pay', amount: usdc(1n) })).toBe('limits')
    expect(decisionOn(policyOf(), { kind: 'run' })).toBe('allowed')
    expect(decisionOn(policyOf(), { kind: 'pay', isFree: true })).toBe('allowed')
    expect(decisionOn(policyOf(), { kind: 'pay', isFree: true }, 'paused')).toBe('paused')
    for (const limit of ['perCall', 'perMinute', 'perDay', 'perWeek', 'perMonth', 'lifetime'] as const) {
      expect([limit, decisionOn(policyOf({ limits: { [limit]: 9_000_000n } }), { kind: 'pay' })]).toEqual([
        limit,
        'allowed',
      ])
    }
  })

  test('are exact to the micro-dollar', () => {
    const policy = policyOf({ limits: { perCall: 5n, perDay: 12n } })
    expect(decisionOn(policy, { amount: usdc(5n) })).toBe('allowed')
    expect(decisionOn(policy, { amount: usdc(6n) })).toBe('perCall')
    const outcome = (spent: bigint) =>
      decide(
        { status: 'active', policy },
        count(nothing, usdc(spent)),
        { kind: 'run', target: 'x', alias: null, domain: null, amount: usdc(5n) },
        PLAIN,
      ).outcome
    expect(outcome(7n)).toBe('allowed')
    expect(outcome(8n)).toBe('refused')
  })

  test.each(['perCall', 'perMinute', 'perDay', 'perWeek', 'perMonth', 'lifetime'] as const)(
    '%s of 0 allows free calls only',
    (limit) => {
      const policy = policyOf({ limits: { [limit]: 0n } })
      expect(decisionOn(policy, { amount: usdc(1n) })).toBe(limit)
      expect(decisionOn(policy, { amount: usdc(0n) })).toBe('allowed')
    },
  )

  test('refuse every call at a rate of 0, or while the agent is paused', () => {
    expect(decisionOn(policyOf({ rate: { callsPerMinute: 0 } }), {})).toBe('callsPerMinute')
    expect(decisionOn(policyOf(), {}, 'paused')).toBe('paused')
  })

  test('refuse a call before a person is asked to approve it', () => {
    const policy = policyOf({ approvalAbove: usdc(3n), limits: { perCall: 10n } })
    expect(decisionOn(policy, { amount: usdc(3n) })).toBe('allowed')
    expect(decisionOn(policy, { amount: usdc(4n) })).toBe('held')
    expect(decisionOn(policy, { amount: usdc(11n) })).toBe('perCall')
  })
})

test('a warning is due when its share is reached, rounded up', () => {
  const policy = policyOf({
    limits: { perDay: 3n, perMonth: 100n },
    alerts: [
      { at: 0.8, limit: null },
      { at: 0.5, limit: 'perMonth' },
    ],
  })
  const due = (before: bigint, after: bigint) =>
    warnings(policy, count(nothing, usdc(before)), count(nothing, usdc(after))).map(
      ({ limit, at }) => `${limit} ${String(at)}`,
    )
  expect(due(0n, 2n)).toEqual([])
  expect(due(2n, 3n)).toEqual(['perDay 0.8'])
  expect(due(3n, 4n)).toEqual([])
  expect(due(49n, 50n)).toEqual(['perMonth 0.5'])
  expect(due(0n, 100n)).toEqual(['perMonth 0.8', 'perDay 0.8', 'perMonth 0.5'])
})

describe('contradictions are explained', () => {
  test.each([
    [{ limits: { perCall: 5n, perDay: 3n } }, /perCall is higher than limits.perDay/],
    [{ limits: { perMinute: 9n, perDay: 8n, lifetime: 7n } }, /perMinute is higher than limits.lifetime/],
    [{ limits: { perDay: 0n } }, /perDay is 0/],
    [{ limits: { perWeek: 9n, perMonth: 5n } }, /only in a week in which a month begins/],
    [{ rate: { callsPerMinute: 0 } }, /no call is allowed/],
    [{ tools: { allow: [], deny: [] } }, /tools.allow is an empty list/],
    [{ tools: { allow: ['a-b'], deny: ['a-*'] } }, /"a-b" has no effect/],
    [{ rdas: { allow: ['a-*', 'a-b'], deny: [] } }, /"a-b" is already covered by "a-\*"/],
    [{ domains: { allow: null, deny: ['*'] } }, /none is allowed/],
    [{ approvalAbove: usdc(5n), limits: { perCall: 5n } }, /approvalAbove is never reached/],
    [{ alerts: [{ at: 0.5, limit: 'perDay' as const }] }, /perDay is not set/],
    [{ onExceeded: 'pause' as const }, /onExceeded is pause/],
  ])('%o', (rules, sentence) => {
    expect(contradictions(policyOf(rules)).join('\n')).toMatch(sentence)
  })

  test('and sound rules have none', () => {
    const sound = policyOf({
      limits: { perCall: 1n, perMinute: 2n, perDay: 3n, perWeek: 4n, perMonth: 5n, lifetime: 6n },
      tools: { allow: ['a-*', 'b'], deny: ['a-secret'] },
      alerts: [{ at: 0.8, limit: null }],
      onExceeded: 'pause',
    })
    expect(contradictions(sound)).toEqual([])
  })
})
