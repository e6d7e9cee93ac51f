import fc from 'fast-check'
import { openDatabase, type Database } from '../../service/database/client.ts'
import type { Clock } from '../../service/kit/clock.ts'
import { DomainError } from '../../service/kit/errors.ts'
import { usdc } from '../../service/kit/money.ts'
import type { OutflowKind, OutflowSettings } from '../../service/outflow/model.ts'
import { createOutflow } from '../../service/outflow/service.ts'
import { createOutflowStore } from '../../service/outflow/store.ts'
import { TestClock } from '../harness/clock.ts'
import { testDatabase, type TestDatabase } from '../harness/database.ts'

const TO = '0x833589fcd6edb6e08f4c7c32d4f71b54bda02914'
const DAY_MS = 86_400_000

describe('the counter of outgoing money', () => {
  let database: TestDatabase
  /** As many processes: each has its own connections and its own counter. */
  let processes: Database[]
  const clock = new TestClock()
  let names = 0

  beforeAll(async () => {
    database = await testDatabase()
    processes = [1, 2, 3].map(() => openDatabase({ url: database.url, poolMax: 4 }))
  })
  beforeEach(() => database.statements.run('TRUNCATE outflow, outflow_step, outflow_switch', []))
  afterAll(async () => {
    await Promise.all(processes.map((process) => process.close()))
    await database.close()
  })

  const settingsOf = (
    limits: Partial<
      Record<'perDay' | 'totalPerDay' | 'withdrawalsPerDay' | 'refundsPerDay' | 'paymentsPerDay', number>
    >,
    more: Partial<OutflowSettings> = {},
  ): OutflowSettings => ({
    paused: false,
    allowList: [],
    purchasesAbove: usdc(10n),
    limits: {
      perDay: limits.perDay === undefined ? null : usdc(BigInt(limits.perDay)),
      totalPerDay: limits.totalPerDay === undefined ? null : usdc(BigInt(limits.totalPerDay)),
      withdrawalsPerDay: limits.withdrawalsPerDay ?? null,
      refundsPerDay: limits.refundsPerDay ?? null,
      paymentsPerDay: limits.paymentsPerDay ?? null,
    },
    ...more,
  })

  function counterAt(process: Database, settings: OutflowSettings, by: Clock = clock) {
    const outflow = createOutflow({ store: createOutflowStore(process.statements), clock: by, settings })
    return {
      ...outflow,
      /** What became of it: `left`, or the code of the refusal. */
      take: (userId: string, amount: number, kind: OutflowKind = 'pay', id = `out_${String(++names)}`) =>
        process.statements
          .together((inside) =>
            outflow.take(
              {
                id,
                owner: { userId, environment: 'sandbox' },
                kind,
                to: kind === 'account' ? null : TO,
                amount: usdc(BigInt(amount)),
              },
              inside,
            ),
          )
          .then(
            () => 'left',
            (error: unknown) => (error instanceof DomainError ? error.code : String(error)),
          ),
      back: (id: string, taken = 0) =>
        process.statements.together((inside) => outflow.giveBack(id, inside, usdc(BigInt(taken)))),
    }
  }

  test('never exceeds a limit, for any order of outflows in three processes', async () => {
    const act = fc.record({
      process: fc.nat(2),
      user: fc.constantFrom('usr_a', 'usr_b', 'usr_c'),
      kind: fc.constantFrom<OutflowKind>('withdrawal', 'pay', 'refund', 'account'),
      amount: fc.integer({ min: 1, max: 60 }),
      back: fc.boolean(),
      taken: fc.nat(60),
    })
    const property = fc.asyncProperty(fc.array(act, { minLength: 20, maxLength: 40 }), async (acts) => {
      await database.statements.run('TRUNCATE outflow, outflow_step', [])
      const counters = processes.map((process) => counterAt(process, settingsOf({ perDay: 100, totalPerDay: 170 })))
      await Promise.all(
        acts.map(async ({ process, user, kind, amount, back, taken }) => {
          const id = `out_${String(++names)}`
          const outcome = await counters[process]!.take(user, amount, kind, id)
          expect(['left', 'withdrawal_limit']).toContain(outcome)
          if (back && outcome === 'left') await counters[(process + 1) % 3]!.back(id, taken)
        }),
      )
      const rows = await database.statements.run<{ user_id: string; left: bigint; outside: bigint }>(
        `SELECT user_id, sum(amount)::bigint AS left,
           coalesce(sum(amount) FILTER (WHERE kind <> 'account'), 0)::bigint AS outside
         FROM outflow WHERE returned_at IS NULL GROUP BY 1`,
        [],
      )
      for (const { left } of rows) expect(left).toBeLessThanOrEqual(100n)
      const total = rows.reduce((sum, { outside }) => sum + outside, 0n)
      expect(total).toBeLessThanOrEqual(170n)
      const sums = await database.statements.run<{ account: string; amount: bigint }>(
        'SELECT account, sum(amount)::bigint AS amount FROM outflow_step GROUP BY 1 HAVING sum(amount) > 0',
        [],
      )
      const expected = new Map(rows.map(({ user_id, left }) => [`sandbox/${user_id}`, left]))
      if (total > 0n) expected.set('sandbox/', total)
      expect(new Map(sums.map(({ account, amount }) => [account, amount]))).toEqual(expected)
      // Not one micro-USDC less than the limit either: what is free can be taken.
      const free = Math.min(100 - Number(expected.get('sandbox/usr_a') ?? 0n), 170 - Number(total))
      if (free > 0) expect(await counters[0]!.take('usr_a', free)).toBe('left')
      expect(await counters[1]!.take('usr_a', 1)).toBe('withdrawal_limit')
    })
    await fc.assert(property, { numRuns: 15, seed: 20_261_122 })
  })

  test('counts the last 24 hours to the millisecond', async () => {
    let at = Date.parse('2031-05-17T12:03:04.567Z')
    const standing = { now: () => new Date(at) }
    const { take } = counterAt(database, settingsOf({ perDay: 100 }), standing)
    expect(await take('usr_d', 60)).toBe('left')
    at += 7 * 60_000 + 123
    expect(await take('usr_d', 40)).toBe('left')
    expect(await take('usr_d', 1)).toBe('withdrawal_limit')
    at += DAY_MS - 7 * 60_000 - 124
    expect(await take('usr_d', 1)).toBe('withdrawal_limit')
    at += 1
    expect([await take('usr_d', 61), await take('usr_d', 60)]).toEqual(['withdrawal_limit', 'left'])
  })

  test('counts one id once, and gives it back once', async () => {
    const { take, back } = counterAt(database, settingsOf({ perDay: 100 }))
    expect([await take('usr_e', 80, 'pay', 'same'), await take('usr_e', 80, 'pay', 'same')]).toEqual(['left', 'left'])
    expect(await take('usr_e', 21)).toBe('withdrawal_limit')
    await Promise.all([back('same'), back('same'), back('never counted')])
    expect([await take('usr_e', 100), await take('usr_e', 1)]).toEqual(['left', 'withdrawal_limit'])
  })

  test('frees an amount that was given back, also where a day begins in the middle of a step', async () => {
    let at = Date.parse('2031-05-17T12:03:04.567Z')
    const { take, back } = counterAt(database, settingsOf({ perDay: 100 }), { now: () => new Date(at) })
    expect(await take('usr_h', 60, 'pay', 'returned')).toBe('left')
    await back('returned')
    // The 24 hours begin at 12:01, and the first whole step of them at 12:10.
    at += DAY_MS - 2 * 60_000
    expect(await take('usr_h', 100)).toBe('left')
  })

  test('is paused for every process by the switch, and for good by the environment', async () => {
    const [one, other] = processes.map((process) => counterAt(process, settingsOf({})))
    await one!.setPaused(true)
    expect([await other!.take('usr_f', 1), await other!.isPaused()]).toEqual(['payouts_paused', true])
    await other!.setPaused(false)
    expect(await one!.take('usr_f', 1)).toBe('left')
    const hard = counterAt(database, settingsOf({}, { paused: true }))
    expect(await hard.take('usr_f', 1)).toBe('payouts_paused')
  })

  test('makes a purchase wait for no outflow of another account', async () => {
    const settings = settingsOf({ perDay: 100, totalPerDay: 170 })
    const purchase = (userId: string) => {
      const owner = { userId, environment: 'sandbox' } as const
      return { id: `out_${String(++names)}`, owner, kind: 'account', to: null, amount: usdc(60n) } as const
    }
    const [one, other] = processes.map(({ statements }) =>
      createOutflow({ store: createOutflowStore(statements), clock, settings }),
    )
    await processes[0]!.statements.together(async (inside) => {
      await one!.take({ ...purchase('usr_j'), kind: 'withdrawal', to: TO }, inside)
      await processes[1]!.statements.together(async (beside) => {
        await beside.run(`SET LOCAL lock_timeout = '10s'`, [])
        await other!.take(purchase('usr_k'), beside)
      })
    })
    const { take } = counterAt(database, settings)
    expect(await Promise.all([take('usr_j', 41, 'account'), take('usr_k', 41)])).toEqual([
      'withdrawal_limit',
      'withdrawal_limit',
    ])
  })

  test.each<OutflowKind>(['account', 'withdrawal'])(
    'reads few rows for one %s, however many purchases were made in the day before',
    async (kind) => {
      const now = new Date('2031-05-17T12:03:04.567Z')
      await database.statements.run(
        `INSERT INTO outflow (id, environment, user_id, kind, amount, at)
         SELECT 'many_' || n, 'sandbox', 'usr_' || n % 20, 'account', 1, $1::timestamptz - n * interval '2 seconds'
         FROM generate_series(1, 43200) n`,
        [now],
      )
      await database.pool.query('ANALYZE outflow')
      const settings = settingsOf({ perDay: 1_000, totalPerDay: 1_000, withdrawalsPerDay: 3 })
      const outflow = createOutflow({
        store: createOutflowStore(database.statements),
        clock: { now: () => now },
        settings,
      })
      const read = await database.statements.together(async (inside) => {
        const owner = { userId: 'usr_1', environment: 'sandbox' } as const
        // The figures of a connection may still have what it read in the transactions of the last second.
        const rows = `SELECT seq_tup_read + idx_tup_fetch AS rows FROM pg_stat_xact_user_tables WHERE relname = 'outflow'`
        const [before] = await inside.run<{ rows: bigint }>(rows, [])
        await outflow.take({ id: 'one', owner, kind, to: kind === 'account' ? null : TO, amount: usdc(1n) }, inside)
        const [after] = await inside.run<{ rows: bigint }>(rows, [])
        return Number(after!.rows - before!.rows)
      })
      // Of the oldest, partial step of ten minutes its own: one in forty seconds.
      expect(read).toBeLessThan(25)
    },
  )

  test('limits the number of withdrawals, refunds and payments separately, and the recipients of each kind', async () => {
    const { take } = counterAt(database, settingsOf({ withdrawalsPerDay: 2, refundsPerDay: 3, paymentsPerDay: 1 }))
    const outcomes = await Promise.all([1, 1, 1, 1].map((amount) => take('usr_g', amount, 'withdrawal')))
    expect(outcomes.sort()).toEqual(['left', 'left', 'quota_exceeded', 'quota_exceeded'])
    const refunds = await Promise.all([1, 1, 1, 1].map((amount) => take('usr_g', amount, 'refund')))
    expect(refunds.sort()).toEqual(['left', 'left', 'left', 'quota_exceeded'])
    const payments = await Promise.all([1, 1].map((amount) => take('usr_g', amount, 'pay')))
    expect(payments.sort()).toEqual(['left', 'quota_exceeded'])
    const listed = counterAt(database, settingsOf({}, { allowList: ['0x0000000000000000000000000000000000000001'] }))
    expect(await Promise.all([listed.take('usr_g', 1, 'pay'), listed.take('usr_g', 1, 'refund')])).toEqual([
      'recipient_not_allowed',
      'recipient_not_allowed',
    ])
  })

  test('counts how often only where that has a limit', async () => {
    const store = createOutflowStore(database.statements)
    const counts: number[] = []
    const leftSince: typeof store.leftSince = async (...asked) => {
      const left = await store.leftSince(...asked)
      counts.push(left.ofKind)
      return left
    }
    const outflowOf = { owner: { userId: 'usr_m', environment: 'sandbox' }, to: TO, amount: usdc(1n) } as const
    for (const [place, limits] of [{}, {}, { paymentsPerDay: 5, withdrawalsPerDay: 5, refundsPerDay: 5 }].entries()) {
      const outflow = createOutflow({ store: { ...store, leftSince }, clock, settings: settingsOf(limits) })
      for (const kind of ['pay', 'withdrawal', 'refund'] as const) {
        const one = { ...outflowOf, id: `counted_${kind}_${String(place)}`, kind }
        await database.statements.together((inside) => outflow.take(one, inside))
      }
    }
    expect(counts).toEqual([0, 0, 0, 0, 0, 0, 2, 2, 2])
  })
})
