import { Registry } from 'prom-client'
import { databaseMetrics } from '../../service/wiring/metrics.ts'
import { createFigures } from '../../service/api/figures.ts'
import { Metrics } from '../../service/api/metrics.ts'
import { testDatabase, type TestDatabase } from '../harness/database.ts'
import { testService, type TestService } from '../harness/service.ts'

const NOW = new Date('2026-11-20T12:00:00Z')
const ago = (seconds: number) => new Date(NOW.getTime() - seconds * 1_000)
const TABLES = [
  ...['ledger_hold', 'facilitator_settlement', 'sale'],
  ...['spending_payment', 'wallet_withdrawal', 'run', 'delivery', 'outbox', 'wallet_cursor', 'wallet_reconciliation'],
]

describe('the figures', () => {
  let database: TestDatabase
  const before: Record<string, number> = {}

  beforeAll(async () => {
    database = await testDatabase()
    // A row says here only what the figures read: what else it needs to be whole is other tests' matter.
    for (const table of TABLES) await bare(database, table)
    Object.assign(before, await metrics())
  })
  afterAll(() => database.close())

  async function metrics(): Promise<Record<string, number>> {
    const read = await databaseMetrics(database.statements, {
      topics: ['a.topic', 'b.topic'],
      networks: ['base'],
    }).read(NOW)
    return Object.fromEntries(
      read.map(({ name, labels, value }) => [`${name} ${Object.values(labels ?? {}).join(' ')}`.trim(), value]),
    )
  }

  async function insert(table: string, row: Record<string, unknown>): Promise<void> {
    const names = Object.keys(row)
    const places = names.map((_name, place) => `$${String(place + 1)}`).join(', ')
    await database.pool.query(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${places})`, Object.values(row))
  }

  const run = 'run_01jd0000000000000000000000'
  const old = ago(90)
  test.each<[string, Record<string, unknown>, Record<string, number>]>([
    [
      'ledger_hold',
      { id: run, amount: 2_500_000, captured: 500_000, state: 'open', deadline: old },
      {
        'coinslot_holds_open run': 1,
        'coinslot_holds_usdc run': 2,
        coinslot_hold_overdue_seconds: 90,
      },
    ],
    [
      'ledger_hold',
      { id: 'whatever somebody sent', amount: 1, state: 'open', deadline: NOW },
      {
        'coinslot_holds_open other': 1,
      },
    ],
    [
      'facilitator_settlement',
      { network: 'base', value: 3_000_000, state: 'broadcast', claimed_at: old },
      {
        'coinslot_settlements_open base broadcast': 1,
        'coinslot_settlements_usdc base broadcast': 3,
        'coinslot_settlement_oldest_seconds base': 90,
      },
    ],
    [
      'sale',
      { product: 'checkout', state: 'settling', simulated: false, created_at: old },
      {
        'coinslot_payments_open checkout settling': 1,
        'coinslot_payment_oldest_seconds checkout': 90,
      },
    ],
    [
      'sale',
      { product: 'gate', simulated: false, state: 'settling', created_at: old },
      { 'coinslot_payments_open gate settling': 1 },
    ],
    [
      'sale',
      { product: 'tool', simulated: false, state: 'claimed', created_at: old },
      { 'coinslot_payments_open tool claimed': 1 },
    ],
    ['spending_payment', { state: 'signed', created_at: old }, { 'coinslot_payments_open agent signed': 1 }],
    [
      'wallet_withdrawal',
      { state: 'pending', amount: 7_000_000, created_at: old },
      {
        'coinslot_withdrawals_open pending': 1,
        'coinslot_withdrawals_usdc pending': 7,
        coinslot_withdrawal_oldest_seconds: 90,
      },
    ],
    ['run', { status: 'running' }, { 'coinslot_runs_open running': 1 }],
    [
      'delivery',
      { state: 'pending', due_at: old },
      {
        'coinslot_deliveries_open pending': 1,
        coinslot_delivery_overdue_seconds: 90,
      },
    ],
    ['delivery', { state: 'claimed' }, { 'coinslot_deliveries_open claimed': 1 }],
    [
      'outbox',
      { topic: 'a.topic', due_at: old },
      {
        'coinslot_queue_oldest_due_seconds a.topic': 90,
        'coinslot_queue_lag_seconds a.topic': 90,
      },
    ],
    [
      'outbox',
      { topic: 'b.topic', due_at: old, leased_until: ago(-5) },
      {
        'coinslot_queue_oldest_due_seconds b.topic': 90,
        'coinslot_queue_lag_seconds b.topic': 0,
      },
    ],
    ['outbox', { topic: 'b.topic', due_at: old, failed_at: old }, { 'coinslot_queue_dead b.topic': 1 }],
    ['lease', { name: 'sponsor base 0x00', holder: 'x', until: ago(-5) }, { 'coinslot_leases_held sponsor': 1 }],
    ['lease', { name: 'sweepers', holder: 'x', until: ago(-5) }, { 'coinslot_leases_held sweepers': 1 }],
    [
      'wallet_cursor',
      { network: 'base', block_number: 90, head: 100, at: old },
      {
        'coinslot_deposit_monitor_lag_blocks base': 10,
        'coinslot_deposit_monitor_silent_seconds base': 90,
      },
    ],
    ['wallet_reconciliation', { network: 'base', at: old }, { 'coinslot_reconciliation_age_seconds base': 90 }],
  ])('a row of %s shows: %j', async (table, row, shown) => {
    for (const [name, value] of Object.entries(shown))
      expect([name, before[name] ?? 0]).not.toEqual([name, value || -1])
    await insert(table, row)
    expect(await metrics()).toMatchObject(shown)
  })

  test('are none of a network that is not configured any more', async () => {
    await insert('wallet_cursor', { network: 'base-sepolia', block_number: 90, head: 100, at: old })
    await insert('wallet_reconciliation', { network: 'base-sepolia', at: old })
    expect(Object.keys(await metrics()).filter((name) => name.includes('base-sepolia'))).toEqual([])
  })

  test('come from one statement along indexes of open rows, also under a generic plan', async () => {
    for (const table of TABLES) await database.pool.query(`ANALYZE ${table}`)
    let statement = ''
    await databaseMetrics(
      { run: (text) => Promise.resolve(((statement = text), [])) },
      { topics: [], networks: [] },
    ).read(NOW)
    const client = await database.pool.connect()
    try {
      await client.query('SET enable_seqscan = off')
      const { rows } = await client.query<{ 'QUERY PLAN': string }>(`EXPLAIN (GENERIC_PLAN) ${statement}`)
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
      // What is small by nature may be read whole: leases, cursors.
      const whole = [...plan.matchAll(/Seq Scan on (\w+)/g)].map(([, table]) => table)
      expect(whole.filter((table) => table !== 'lease' && table !== 'wallet_cursor')).toEqual([])
      for (const index of INDEXES) expect(plan).toContain(index)
    } finally {
      client.release(true)
    }
  })
})

const INDEXES = [
  ...['ledger_hold_open', 'facilitator_settlement_open'],
  ...['sale_promised', 'spending_payment_open', 'wallet_withdrawal_open', 'run_open', 'delivery_due'],
  ...['delivery_claimed', 'outbox_due', 'outbox_failed'],
]

describe('reading them', () => {
  test('a second service in one process measures the process with the same metrics, and leaves nothing running', () => {
    const [one, other] = [new Metrics(), new Metrics()]
    for (const name of ['nodejs_gc_duration_seconds', 'nodejs_eventloop_lag_seconds']) {
      expect(one.registry.getSingleMetric(name)).toBeDefined()
      expect(one.registry.getSingleMetric(name)).toBe(other.registry.getSingleMetric(name))
    }
  })

  test('costs one query per interval for all readers, and never fails for one broken source', async () => {
    const registry = new Registry()
    const figures = createFigures(registry, 60_000)
    let readings = 0
    let fails = false
    figures.add({
      source: 'counted',
      declared: [{ name: 'counted', help: 'c' }],
      read: () => Promise.resolve([{ name: 'counted', value: ++readings }]),
    })
    await Promise.all([figures.read(), figures.read(), figures.read()])
    await figures.read()
    expect(readings).toBe(1)

    const metrics = new Metrics(0)
    metrics.collect({
      source: 'broken',
      declared: [
        { name: 'fine', help: 'f' },
        { name: 'labelled', help: 'l', labels: ['of'] },
      ],
      read: () =>
        fails
          ? Promise.reject(new Error('away'))
          : Promise.resolve([
              { name: 'fine', value: 1 },
              { name: 'labelled', labels: { of: 'it' }, value: 2 },
            ]),
    })
    expect(await metrics.page()).toMatch(/^fine 1$[^]*^labelled\{of="it"\} 2$/m)
    fails = true
    const page = await metrics.page()
    expect(page).toMatch(/^coinslot_figures_failed_total\{source="broken"\} 1$/m)
    expect(page).not.toMatch(/^(fine|labelled)[ {]/m)
  })
})

describe('a service', () => {
  let service: TestService
  beforeAll(async () => {
    service = await testService({ METRICS_KEEP_MS: '0' })
  })
  afterAll(() => service.close())

  const page = async () => (await service.call('GET', '/metrics')).text

  test('counts refusals by their code and times routes by their pattern', async () => {
    const person = await service.person()
    for (const id of ['a', 'b', 'c']) await person.call('GET', `/v1/runs/${id}`)
    await service.call('POST', '/v1/run', { body: {} })
    await service.call('GET', '/trpc/wallet.balance')
    const text = await page()
    expect(text).toMatch(/^coinslot_refusals_total\{code="run_not_found"\} 3$/m)
    expect(text).toMatch(/^coinslot_refusals_total\{code="unauthenticated"\} 2$/m)
    expect(text).toMatch(
      /^coinslot_http_request_seconds_count\{method="GET",route="\/v1\/runs\/:id",status="404"\} 3$/m,
    )
  })

  test('does not turn unknown paths into labels', async () => {
    const routes = async () => new Set((await page()).match(/route="[^"]*"/g))
    await service.call('GET', '/nowhere/at/all')
    const before = await routes()
    for (let number = 0; number < 15; number++) {
      const path = `/made-up-${String(number)}`
      for (const under of ['', '/v1', '/p', '/trpc', '/tools', '/gate', '/auth', '/facilitator', '/tools/mcp']) {
        await service.call('GET', under + path)
      }
    }
    const after = await routes()
    expect([...after].filter((route) => route.includes('made-up'))).toEqual([])
    expect(after.size - before.size).toBeLessThan(12)
  })

  test("reports its connection pool and the database's figures", async () => {
    const held = await service.database.pool.connect()
    const text = await page()
    held.release()
    expect(Number(/^coinslot_database_pool_busy (\d+)$/m.exec(text)?.[1])).toBeGreaterThan(0)
    expect(text).toMatch(/^coinslot_database_pool_max 20$/m)
    expect(Number(/^coinslot_database_connections (\d+)$/m.exec(text)?.[1])).toBeGreaterThan(0)
    expect(text).toMatch(/^coinslot_queue_dead\{topic="marketplace\.execute"\} 0$/m)
    expect(text).toMatch(/^nodejs_eventloop_lag_p99_seconds /m)
  })

  test('answers also while the database does not', async () => {
    const locking = await service.testDatabase.pool.connect()
    await locking.query('BEGIN; LOCK TABLE ledger_hold IN ACCESS EXCLUSIVE MODE')
    for (const failures of [1, 2]) {
      const { status, text } = await service.call('GET', '/metrics')
      expect(status).toBe(200)
      expect(text).toContain(`coinslot_figures_failed_total{source="database"} ${String(failures)}\n`)
      expect(text).not.toMatch(/^coinslot_queue_dead\{/m)
      // However often it is scraped, one connection waits.
      expect(text).toMatch(/^coinslot_database_pool_busy 1$/m)
    }
    await locking.query('ROLLBACK')
    locking.release()
    expect(await page()).toMatch(/^coinslot_queue_dead\{/m)
  })
})

async function bare({ pool }: TestDatabase, table: string): Promise<void> {
  const { rows } = await pool.query<{ statement: string }>(
    `SELECT format('ALTER TABLE %I DROP CONSTRAINT %I CASCADE', conrelid::regclass, conname) AS statement
       FROM pg_constraint WHERE conrelid = $1::regclass AND contype IN ('c', 'f', 'p')
     UNION ALL
     SELECT format('ALTER TABLE %I ALTER COLUMN %I DROP NOT NULL', $1::regclass, attname)
       FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND attnotnull AND attidentity = ''`,
    [table],
  )
  for (const { statement } of rows) await pool.query(statement)
}
