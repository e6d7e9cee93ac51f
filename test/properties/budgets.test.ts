import fc from 'fast-check'
import { usdc } from '../../service/kit/money.ts'
import type { Limit, WindowLimit } from '../../service/budgets/model.ts'
import { testDatabase, type TestDatabase } from '../harness/database.ts'
import { agentWith, callOf, policyOf, budgetsOn, outcomeOf } from '../budgets/harness.ts'

const HISTORIES = 160
const TOGETHER = 20
const SEED = Number(process.env['SEED'] ?? 20_261_121)

/** Time passes, the agent makes a call, or a hold ends. */
type Step =
  | { act: 'wait'; ms: number }
  | { act: 'ask'; amount: number }
  | { act: 'end'; which: number; captured: number; how: 'capture' | 'release' | 'expire' }
  | { act: 'repeat'; which: number }

const MINUTE = 60_000
const waits = fc.constantFrom(
  1,
  1_000,
  MINUTE - 1,
  MINUTE,
  61 * MINUTE,
  23 * 60 * MINUTE,
  24 * 60 * MINUTE,
  7 * 24 * 60 * MINUTE,
  31 * 24 * 60 * MINUTE,
)
const which = fc.nat(30)
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 2, arbitrary: waits.map((ms): Step => ({ act: 'wait', ms })) },
  { weight: 5, arbitrary: fc.integer({ min: 0, max: 40 }).map((amount): Step => ({ act: 'ask', amount })) },
  {
    weight: 3,
    arbitrary: fc.record({
      act: fc.constant('end' as const),
      which,
      captured: fc.nat(40),
      how: fc.constantFrom('capture' as const, 'release' as const, 'expire' as const),
    }),
  },
  { weight: 1, arbitrary: which.map((place): Step => ({ act: 'repeat', which: place })) },
)
const limit = fc.option(fc.integer({ min: 0, max: 120 }), { nil: undefined, freq: 2 })
const rules = fc.record({
  perCall: limit,
  perMinute: limit,
  perDay: limit,
  perWeek: limit,
  perMonth: limit,
  lifetime: fc.option(fc.integer({ min: 50, max: 400 }), { nil: undefined, freq: 2 }),
  rate: fc.option(fc.integer({ min: 0, max: 4 }), { nil: null, freq: 2 }),
  begins: fc.date({
    min: new Date('2026-01-01T00:00:00Z'),
    max: new Date('2032-12-31T00:00:00Z'),
    noInvalidDate: true,
  }),
  steps: fc.array(step, { minLength: 10, maxLength: 40 }),
})
type History = typeof rules extends fc.Arbitrary<infer T> ? T : never

describe('any history of an agent', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await testDatabase()
  })
  afterAll(async () => {
    await database.close()
  })

  test(`is decided as a list of all its calls says (seed ${String(SEED)})`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(rules, { minLength: TOGETHER, maxLength: TOGETHER }), async (histories) => {
        await Promise.all(histories.map(live))
      }),
      { numRuns: HISTORIES / TOGETHER, seed: SEED, endOnFailure: true },
    )
  })

  async function live({ rate, begins, steps, ...limits }: History): Promise<void> {
    let now = begins.getTime()
    const clock = { now: () => new Date(now) }
    // Each call goes to one of two processes.
    const processes = [budgetsOn(database.statements, clock), budgetsOn(database.statements, clock)]
    const world = processes[0]!
    const bounds = Object.fromEntries(
      Object.entries(limits).flatMap(([name, most]) => (most === undefined ? [] : [[name, BigInt(most)]])),
    ) as Partial<Record<Limit, bigint>>
    const agent = await agentWith(world, policyOf({ limits: bounds, rate: { callsPerMinute: rate } }), 1_000_000n)
    const calls: { id: string; at: number; amount: number; charged: number; open: boolean }[] = []
    for (const [place, one] of steps.entries()) {
      if (one.act === 'wait') now += one.ms
      else if (one.act === 'ask') {
        const call = { ...callOf(agent, BigInt(one.amount)), deadline: new Date(now + 10 * 366 * 86_400_000) }
        const outcome = await outcomeOf(processes[place % 2]!.budgets.reserve(call))
        expect([place, outcome]).toEqual([place, expected(one.amount)])
        if (outcome === 'allowed')
          calls.push({ id: call.id, at: now, amount: one.amount, charged: one.amount, open: true })
      } else {
        const call = calls[one.which % Math.max(calls.length, 1)]
        if (call === undefined) continue
        if (one.act === 'repeat') {
          const again = callOf(agent, BigInt(call.amount), {}, call.id)
          expect(await outcomeOf(processes[place % 2]!.budgets.reserve(again))).toBe('allowed')
        } else if (call.open) {
          const { id } = call
          const captured = Math.min(one.captured, call.amount)
          const command = { hold: id, owner: agent.owner, announcements: [] }
          if (one.how === 'capture') {
            await world.ledger.capture({
              ...command,
              amount: usdc(BigInt(captured)),
              shares: [],
              kind: 'capture',
              reference: null,
            })
          } else if (one.how === 'release') await world.ledger.release(command)
          else {
            await database.statements.run('UPDATE ledger_hold SET deadline = $2 WHERE id = $1', [id, new Date(0)])
            await world.ledger.sweep()
            // Another process's sweep may be ending it right now; it ends all the same.
            await database.statements.run('SELECT FROM ledger_hold WHERE id = $1 FOR UPDATE', [id])
            await world.ledger.sweep()
          }
          call.charged = one.how === 'capture' ? captured : 0
          call.open = false
        }
      }
    }

    /** Computed from the contract alone: it adds up the calls in the current window, one by one. */
    function expected(amount: number): string {
      if (amount > (limits.perCall ?? Infinity)) return 'perCall'
      for (const window of ['lifetime', 'perMonth', 'perWeek', 'perDay', 'perMinute'] as const) {
        const most = limits[window]
        const spent = calls
          .filter(({ at }) => nameOf(window, at) === nameOf(window, now))
          .reduce((sum, { charged }) => sum + charged, 0)
        if (most !== undefined && amount > 0 && spent + amount > most) return window
      }
      const recent = calls.filter(({ at }) => nameOf('perMinute', at) === nameOf('perMinute', now)).length
      return rate !== null && recent >= rate ? 'callsPerMinute' : 'allowed'
    }
  }
})

/** The window's calendar name, computed in another way than the service does. */
function nameOf(window: WindowLimit, at: number): string {
  const iso = new Date(at).toISOString()
  switch (window) {
    case 'perMinute':
      return iso.slice(0, 16)
    case 'perDay':
      return iso.slice(0, 10)
    case 'perMonth':
      return iso.slice(0, 7)
    case 'perWeek':
      // The fifth of January 1970 was the first Monday.
      return String(Math.floor((at / 86_400_000 - 4) / 7))
    case 'lifetime':
      return ''
  }
}
