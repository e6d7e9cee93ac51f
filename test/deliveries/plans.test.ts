import { DELIVERY_STATES, type DeliveryState } from '../../service/deliveries/model.ts'
import { newId } from '../../service/kit/ids.ts'
import { createDeliveryStore } from '../../service/deliveries/store/deliveries.ts'
import { ADD } from '../../service/deliveries/store/write.ts'
import { CLAIM } from '../../service/deliveries/store/claims.ts'
import { testDatabase } from '../harness/database.ts'

/*
 * A connection keeps the plan of a named statement from when the tables were young. What that plan reads from end
 * to end grows with every delivery.
 */
test.each(Object.entries({ ADD, CLAIM }))(
  'the plan of a young database for %s reads no table from end to end',
  async (_, text) => {
    const database = await testDatabase({ poolMax: 1 })
    const { rows } = await database.pool.query<{ 'QUERY PLAN': string }>(`EXPLAIN (GENERIC_PLAN) ${text}`)
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
    expect(plan).toMatch(/delivery/)
    expect(plan).not.toMatch(/Seq Scan on delivery/)
    await database.close()
  },
)

test('lists and counts of one state read only the deliveries in it, or those that have not arrived', async () => {
  const database = await testDatabase({ poolMax: 2 })
  const { pool, statements } = database
  await pool.query(
    `INSERT INTO delivery (id, user_id, environment, subject, url, body, headers, wait_ms, keep_bytes, on_unconfirmed,
       state, due_at, delivered_at, created_at)
     SELECT 'dlv_' || lpad(n::text, 26, '0'), 'usr_' || n % 2, 'sandbox', 'pay_' || n % 4, 'https://example.com', '{}', '{}', 15000, 2048,
       'hold', s.state, CASE WHEN s.state = 'pending' THEN now() END, CASE WHEN s.state = 'delivered' THEN now() END, now()
     FROM generate_series(1, 6000) AS n,
       LATERAL (SELECT CASE n WHEN 2 THEN 'exhausted' WHEN 4 THEN 'pending' ELSE 'delivered' END::delivery_state AS state) s`,
  )
  await pool.query('ANALYZE delivery')
  const sent: [string, readonly unknown[]][] = []
  const run: typeof statements.run = (text, values, name) => {
    sent.push([text, values])
    return statements.run(text, values, name)
  }
  const store = createDeliveryStore({ ...statements, run })
  const owner = { userId: 'usr_0', environment: 'sandbox' } as const
  const totalOf = async (state: DeliveryState | null, subject: string | null = null) =>
    (await store.list(owner, { state, subject, target: null }, { limit: 10, offset: 0 })).total
  for (let time = 0; time < 2; time++) {
    expect(await totalOf(null)).toBe(3_000)
    expect(await totalOf('delivered')).toBe(2_998)
    expect(await totalOf('delivered', 'pay_2')).toBe(1_499)
  }
  sent.length = 0
  for (const state of DELIVERY_STATES) {
    if (state !== 'delivered') expect(await totalOf(state)).toBe(state === 'exhausted' || state === 'pending' ? 1 : 0)
  }
  expect(sent).toHaveLength(10)
  for (const [text, values] of sent) {
    const { rows } = await pool.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${text}`, [...values])
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
    expect(plan).toMatch(/delivery_(undelivered|due|claimed)/)
  }
  await database.close()
})

test("the worker's statements scan no non-empty table from end to end", async () => {
  const database = await testDatabase({ poolMax: 1 })
  const { pool, statements } = database
  const store = createDeliveryStore(statements)
  const ids = [newId('dlv', new Date()), newId('dlv', new Date())]
  const run = async () => {
    const concluded = { at: new Date(), durationMs: 1, status: 200, error: null, answer: '' }
    const ended = { ...concluded, turn: 0, target: 'chk_1' }
    await store.load(ids)
    await store.confirm(ids.map((id) => ({ ...ended, id })))
    await store.lock(statements, ids)
    const course = {
      state: 'pending',
      place: 1,
      dueAt: new Date(),
      reopened: false,
      notice: null,
      error: null,
    } as const
    await store.redirect(
      statements,
      ids.map((id) => ({ ...course, id, attempt: concluded })),
    )
    await store.keep(
      statements,
      ids.map((id) => ({ ...ended, id })),
    )
    await store.postpone(
      statements,
      ids.map((id) => ({ id, turn: 0, dueAt: new Date() })),
    )
    await store.bySubject(null, ids)
  }
  // On the same connection that will run them again: the plans that it caches now are what the test is about.
  for (let time = 0; time < 10; time++) await run()
  await pool.query(
    `INSERT INTO delivery (id, user_id, environment, subject, url, body, headers, wait_ms, keep_bytes, on_unconfirmed,
       state, delivered_at, created_at)
     SELECT 'dlv_' || n, 'usr_1', 'sandbox', 'pay_' || n, 'https://example.com', '{}', '{}', 15000, 2048, 'hold',
       'delivered', now(), now()
     FROM generate_series(1, 20000) AS n`,
  )
  await pool.query('SELECT pg_stat_force_next_flush()')
  const scanned = async () => {
    const { rows } = await pool.query<{ seq: bigint }>(
      `SELECT seq_scan AS seq FROM pg_stat_user_tables WHERE relname = 'delivery'`,
    )
    return rows[0]!.seq
  }
  await pool.query('SELECT pg_stat_clear_snapshot()')
  const before = await scanned()
  await run()
  await pool.query('SELECT pg_stat_force_next_flush()')
  expect(await scanned()).toBe(before)
  await database.close()
})
