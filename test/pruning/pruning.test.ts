import { retentionPolicies } from '../../service/wiring/tables.ts'
import type { Retention } from '../../service/kit/tables.ts'
import { createPruning, due } from '../../service/pruning/service.ts'
import { createPruningStore, pruneStatement, STRETCH } from '../../service/pruning/store.ts'
import { testDatabase, type TestDatabase } from '../harness/database.ts'
import { GROUND, ROWS } from './rows.ts'

describe('pruning', () => {
  const DAYS = { deliveries: 365, decisions: 400, draws: 90, answers: 30, reconciliations: 90 }
  const POLICIES = retentionPolicies(DAYS)
  const NOW = new Date('2031-05-17T12:00:00Z')
  const RETENTIONS = due(POLICIES, NOW)
  let database: TestDatabase
  const removed = new Map<string, number>()
  let drawn = 0

  beforeAll(async () => {
    database = await testDatabase()
    await database.pool.query(GROUND)
  })
  afterAll(() => database.close())

  const prune = (policies = POLICIES): Promise<void> =>
    createPruning({
      store: createPruningStore(database.statements),
      policies,
      removed: (table, rows) => removed.set(table, (removed.get(table) ?? 0) + rows),
    }).prune(NOW, new AbortController().signal)

  async function make(text: string | undefined, at: Date, from: number, rows = 1): Promise<void> {
    for (let number = from; number < from + rows; number++) await database.statements.run(text ?? '', [at, number])
  }

  async function there(table: string): Promise<number> {
    const text = ROWS[table]?.there ?? `SELECT count(*)::int AS there FROM ${table}`
    const [row] = await database.statements.run<{ there: number }>(text, [])
    return row?.there ?? -1
  }

  test('every table says what becomes of its rows', async () => {
    const tables = await database.statements.run<{ name: string }>(
      `SELECT c.relname::text AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
       WHERE n.nspname = 'public' AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relname <> '_prisma_migrations'`,
      [],
    )
    // A new table needs its line in its folder's `tables.ts`, also when its rows are kept for ever.
    expect(Object.keys(POLICIES).sort()).toEqual(tables.map(({ name }) => name).sort())
  })

  test('every retention has rows to be tried with', () => {
    expect(RETENTIONS.map(({ table }) => table).sort()).toEqual(Object.keys(ROWS).sort())
  })

  describe.each(RETENTIONS)('$table', ({ table, retention, before }) => {
    const old = new Date(before.getTime() - 2 * 86_400_000)
    const young = new Date(before.getTime() + 2 * 86_400_000)

    test('removes old rows and keeps the others', async () => {
      const { expired, retained } = ROWS[table] ?? { expired: '' }
      const [oldest, newest] = [4, 3]
      await make(expired, old, 1, oldest)
      await make(retained, old, 101, retained === undefined ? 0 : 2)
      await make(expired, young, 201, newest)
      const before = await there(table)
      await prune({ [table]: retention })
      expect(before - (await there(table))).toBe(oldest)
      expect(removed.get(table)).toBe(oldest)
      await prune({ [table]: retention })
      expect(before - (await there(table))).toBe(oldest)
      if (table === 'paywall_draw') drawn += oldest
    })

    test('reads a limited number of rows, along an index', async () => {
      const plan = await planOf(table, retention)
      // The lease's few rows are read as they are.
      if (table !== 'lease') expect(plan).not.toMatch(new RegExp(`Seq Scan on ${table} `))
      expect(plan).toMatch(/Limit/)
      expect(plan).toMatch(/Tid Scan/)
    })
  })

  test('never removes rows with unlimited retention', async () => {
    await make(ROWS['paywall_draw']?.expired, new Date('2001-01-01'), 301)
    const rows = await there('paywall_draw')
    await prune(retentionPolicies({ ...DAYS, draws: 0 }))
    expect(await there('paywall_draw')).toBe(rows)
  })

  test('skips rows that must stay, however many come first', async () => {
    const policies = { delivery_attempt: POLICIES['delivery_attempt'] as Retention }
    const old = new Date('2029-01-01')
    await make(ROWS['delivery_attempt']?.retained, old, 1_000)
    await make(ROWS['delivery_attempt']?.expired, old, 1_001)
    await database.statements.run(
      `INSERT INTO delivery_attempt (delivery_id, at, duration_ms)
       SELECT 'dlv_' || lpad(of::text, 26, '0'), $1, 1 FROM generate_series(1, $2::int) i, (VALUES (1000), (1001)) made (of)
       ORDER BY of, i`,
      [old, STRETCH + 100],
    )
    const rows = await there('delivery_attempt')
    await prune(policies)
    expect(rows - (await there('delivery_attempt'))).toBe(STRETCH + 101)
  })

  test('leaves a locked row for the next round', async () => {
    const { tool_answer: retention } = POLICIES
    await make(ROWS['tool_answer']?.expired, new Date('2030-01-01'), 401, 2)
    const rows = await there('tool_answer')
    await database.another().statements.together(async (inside) => {
      await inside.run(`SELECT FROM tool_answer WHERE call_id LIKE '%401' FOR UPDATE`, [])
      await prune({ tool_answer: retention as Retention })
      expect(rows - (await there('tool_answer'))).toBe(1)
    })
    await prune({ tool_answer: retention as Retention })
    expect(rows - (await there('tool_answer'))).toBe(2)
  })

  test('prunes the other tables when one fails', async () => {
    await make(ROWS['tool_answer']?.expired, new Date('2030-01-01'), 501)
    const rows = await there('tool_answer')
    const broken: Retention = { keptMs: 1, age: 'at', key: [['id', 'bigint']], says: 'nothing' }
    await expect(prune({ nowhere: broken, tool_answer: POLICIES['tool_answer'] as Retention })).rejects.toThrow(
      /pruned/,
    )
    expect(rows - (await there('tool_answer'))).toBe(1)
  })

  test('stops when its signal is aborted', async () => {
    await make(ROWS['tool_answer']?.expired, new Date('2030-01-01'), 601)
    const rows = await there('tool_answer')
    const pruning = createPruning({
      store: createPruningStore(database.statements),
      policies: POLICIES,
      removed: () => undefined,
    })
    await pruning.prune(NOW, AbortSignal.abort())
    expect(await there('tool_answer')).toBe(rows)
  })

  test("a draw that goes is counted in its customer's day, and goes no other way", async () => {
    const days = await database.statements.run<{ count: bigint; amount: bigint }>(
      'SELECT sum(count)::bigint AS count, sum(amount)::bigint AS amount FROM paywall_draw_day',
      [],
    )
    expect(drawn).toBeGreaterThan(0)
    expect(days).toEqual([{ count: BigInt(drawn), amount: BigInt(3 * drawn) }])
    await expect(database.statements.run('DELETE FROM paywall_draw', [])).rejects.toThrow(/never changed/)
  })

  async function planOf(table: string, retention: Retention): Promise<string> {
    const client = await database.pool.connect()
    try {
      // A young database's tables are so small that reading all of them is right; what a large one does is asked for.
      await client.query('BEGIN; SET LOCAL enable_seqscan = off')
      const { rows } = await client.query<Record<'QUERY PLAN', string>>(
        `EXPLAIN (GENERIC_PLAN) ${pruneStatement(table, retention)}`,
      )
      return rows.map((row) => row['QUERY PLAN']).join('\n')
    } finally {
      await client.query('ROLLBACK')
      client.release()
    }
  }
})
