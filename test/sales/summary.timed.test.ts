import { newId } from '../../service/kit/ids.ts'
import { spanOf } from '../../service/kit/clock.ts'
import { createSummaryStore } from '../../service/sales/store/summary.ts'
import { createCheckoutStore } from '../../service/checkouts/store/checkouts.ts'
import { testService, type TestService } from '../harness/service.ts'

const DAY_MS = 86_400_000

describe('the summary of sales', () => {
  let service: TestService
  beforeAll(async () => {
    service = await testService()
  })
  afterAll(() => service.close())

  test('of 100,000 sales is read from indexes', async () => {
    const { caller } = await service.person()
    const { statements } = service.database
    const now = service.clock.now()
    const days = 120
    const chk = newId('chk', now)
    const ids = Array.from({ length: days }, (_, day) =>
      newId('pay', new Date(now.getTime() - day * DAY_MS)).slice(0, 14),
    )
    // As large as real ones: the request and the input are most of a row. Half of the customers buy again and again.
    await statements.run(
      `INSERT INTO sale (id, product, subject, user_id, environment, state, amount, network, recipient, payer, simulated,
         digest, request, input_hash, details, tx_hash, reason, created_at, ended_at)
       SELECT ($2::text[])[1 + i % $3::int] || lpad(i::text, 16, '0'), 'checkout', $4, $1, 'sandbox',
         (CASE WHEN i % 50 = 0 THEN 'failed' ELSE 'paid' END)::sale_state, 1000000 + i, 'base-sepolia', '0x' || repeat('a1', 20),
         '0x' || lpad(to_hex(i % 20000), 40, '0'), false, sha256(i::text::bytea), json_build_object('x', repeat('y', 900)),
         sha256(i::text::bytea), json_build_object('input', repeat('z', 300), 'onPage', true, 'receipt',
           CASE WHEN i % 2 = 0 THEN json_build_object('email', 'buyer' || CASE WHEN i % 4 = 0 THEN i ELSE i % 5000 END || '@example.com') END),
         CASE WHEN i % 50 <> 0 THEN '0x' || lpad(to_hex(i), 64, '0') END, CASE WHEN i % 50 = 0 THEN 'reason_' || i % 7 END,
         $5::timestamptz - (i % $3::int) * interval '1 day', $5
       FROM generate_series(1, 100000) i`,
      [caller.user.id, ids, days, chk, now],
    )
    await statements.run(
      `INSERT INTO checkout_day (day, checkout_id, user_id, environment, opened)
       SELECT ($2::timestamptz AT TIME ZONE 'UTC')::date - d, 'chk_' || lpad(c::text, 26, '0'), $1, 'sandbox', 10
       FROM generate_series(0, 119) d, generate_series(1, 50) c`,
      [caller.user.id, now],
    )
    await statements.run('VACUUM ANALYZE sale, sale_customer, checkout_day', [])
    const owner = { userId: caller.user.id, environment: 'sandbox' } as const
    const day = (back: number): string => new Date(now.getTime() - back * DAY_MS).toISOString().slice(0, 10)
    const store = createSummaryStore(statements)
    const checkouts = createCheckoutStore(statements)
    for (const length of [30, 60]) {
      const span = spanOf(day(length - 1), day(0))
      const durations: Record<string, number[]> = {}
      for (let times = 0; times < 5; times++) {
        for (const [name, work] of Object.entries({
          days: () => store.days(owner, span),
          customers: () => store.customers(owner, span),
          failures: () => store.failures(owner, span),
          conversion: () => checkouts.conversion(owner, span),
        })) {
          const began = performance.now()
          await work()
          ;(durations[name] ??= []).push(performance.now() - began)
        }
      }
      for (const [name, all] of Object.entries(durations)) {
        const median = all.sort((a, b) => a - b)[2] ?? 0
        process.stderr.write(
          `summary of ${String(length)} days and as many before, of 100,000 sales: ${name} in ${median.toFixed(0)} ms\n`,
        )
        expect(median).toBeLessThan(2_000)
      }
      const sums = await store.days(owner, span)
      expect(sums).toHaveLength(2 * length)
      const [counted] = await statements.run<{ returning: bigint; added: bigint }>(
        `WITH sold AS (SELECT coalesce(lower(details #>> '{receipt,email}'), payer) AS key, min(created_at) FILTER (WHERE created_at >= $2) AS at, min(created_at) AS first
           FROM sale WHERE user_id = $1 AND state = 'paid' GROUP BY 1)
         SELECT count(*) FILTER (WHERE first < $2 AND at IS NOT NULL) AS returning, count(*) FILTER (WHERE first >= $2) AS added FROM sold`,
        [caller.user.id, span.from],
      )
      const { now: found } = await store.customers(owner, span)
      expect(found).toEqual({ returning: Number(counted?.returning), added: Number(counted?.added) })
    }
  })
})
