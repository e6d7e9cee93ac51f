import { randomBytes } from 'node:crypto'
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { migrate } from '../../service/database/migrate.ts'
import { emptyDatabase } from '../harness/database.ts'
import { until } from '../harness/until.ts'

const MIGRATIONS = path.resolve(import.meta.dirname, '../../prisma/migrations')
const RULE = '20261130051000_real_sales'
const RECOUNT = '20261130051200_recount_real_sales'

/** The version before counted what was paid with test money in production; its processes may still run. */
describe('sums with test money of the version before', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'coinslot-migrations-'))
  let database: Awaited<ReturnType<typeof emptyDatabase>>
  let client: pg.Client
  let other: pg.Client

  beforeEach(async () => {
    database = await emptyDatabase()
    await upTo(RULE)
    ;[client, other] = [await connect(), await connect()]
    for (const environment of ['production', 'sandbox']) await addGate(environment)
  })
  afterEach(async () => {
    await client.end()
    await other.end()
    await database.drop()
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  /** Applies the migrations before this one. */
  async function upTo(end: string): Promise<void> {
    for (const name of readdirSync(MIGRATIONS)) {
      if (name < end) cpSync(path.join(MIGRATIONS, name), path.join(folder, name), { recursive: true })
      else rmSync(path.join(folder, name), { recursive: true, force: true })
    }
    await migrate(database.url, folder)
  }

  async function connect(): Promise<pg.Client> {
    const opened = new pg.Client({ connectionString: database.url })
    await opened.connect()
    return opened
  }

  const addGate = (environment: string) =>
    client.query(
      `INSERT INTO paywall (id, user_id, environment, slug, name, upstream_url, routes, network, recipient, test_mode, status, milestones,
         header_names, headers_sealed, secret_sealed, version, earlier, created_at, updated_at)
       VALUES ('pwl_' || $1::text, 'usr_1', $1::environment, 'gate-' || $1::text, 'Gate', 'https://a.example', '[]', 'base-sepolia', '0x1', false,
         'active', '{}', '{}', '', '', 1, '[]', now(), now())`,
      [environment],
    )

  let count = 0
  /** A sale is claimed here; the trigger counts its customer once it is paid. */
  async function add(on: pg.Client, over: Partial<SaleRow>): Promise<SaleRow> {
    const row: SaleRow = {
      ...{ id: `pay_${String(++count).padStart(6, '0')}`, product: 'checkout', environment: 'production' },
      ...{ network: 'base-sepolia', payer: '0xaa', amount: 1_000, email: null, ...over },
    }
    const details = {
      route: 'GET /a',
      ...(row.email === null ? {} : { receipt: { email: row.email, language: 'en' } }),
    }
    const subject = row.product === 'gate' ? `pwl_${row.environment}` : 'chk_1'
    await on.query(
      `INSERT INTO sale (id, product, subject, user_id, environment, state, amount, network, recipient, payer, simulated, digest, request,
         input_hash, details, created_at)
       VALUES ($1, $2::sale_product, $3, 'usr_1', $4::environment, 'claimed', $5, $6, '0x1', $7, false, $8, '{}', $8, $9::json,
         '2026-11-20T10:00:00Z'::timestamptz + $10::int * interval '1 s')`,
      [
        ...[row.id, row.product, subject, row.environment, row.amount, row.network, row.payer],
        ...[randomBytes(32), JSON.stringify(details), count],
      ],
    )
    return row
  }

  const PAY = `UPDATE sale SET state = 'paid', tx_hash = '0x' || id, ended_at = created_at WHERE id = $1`
  const COUNT = [
    'UPDATE paywall SET revenue = revenue + $2 WHERE id = $1 AND $3::text IS NOT NULL',
    `WITH customer AS (
       INSERT INTO paywall_customer AS c (paywall_id, payer, payments, revenue, first_at) VALUES ($1, $3, 1, $2, now())
       ON CONFLICT (paywall_id, payer) DO UPDATE SET payments = c.payments + 1, revenue = c.revenue + excluded.revenue RETURNING payments
     )
     UPDATE paywall SET customers = customers + 1 FROM customer WHERE id = $1 AND customer.payments = 1`,
    `INSERT INTO paywall_day AS d (paywall_id, day, route, outcome, count, amount) SELECT $1, '2026-11-20', 'GET /a', 'paid', 1, $2 WHERE $3::text IS NOT NULL
     ON CONFLICT (paywall_id, day, route, outcome) DO UPDATE SET count = d.count + 1, amount = d.amount + excluded.amount`,
  ]
  /** As a process of the version before does it, in the caller's transaction: it counts every payment at a gate. */
  async function pay(on: pg.Client, { id, product, environment, amount, payer }: SaleRow): Promise<void> {
    await on.query(PAY, [id])
    if (product !== 'gate') return
    for (const text of COUNT) await on.query(text, [`pwl_${environment}`, amount, payer])
  }
  async function sell(over: Partial<SaleRow>): Promise<void> {
    const row = await add(client, over)
    await client.query('BEGIN')
    await pay(client, row)
    await client.query('COMMIT')
  }

  const all = async (text: string) => (await client.query<Record<string, unknown>>(text)).rows
  const customers = () =>
    all(`SELECT environment, key, payer, payments::int, paid::int, refunded::int, last_id, first_at = last_at AS once FROM sale_customer
         ORDER BY environment, key`)
  const gates = () =>
    all(`SELECT p.environment, p.revenue::int, p.customers, d.count::int AS payments, d.amount::int AS paid,
           (SELECT json_agg(json_build_array(c.payer, c.payments, c.revenue) ORDER BY c.payer) FROM paywall_customer c WHERE c.paywall_id = p.id) AS each
         FROM paywall p LEFT JOIN paywall_day d ON d.paywall_id = p.id AND d.outcome = 'paid' ORDER BY p.environment`)

  test('are those of the sales with real money after it, and in the sandbox those of all', async () => {
    await sell({ email: 'both@example.com', network: 'base', payer: '0xb1' })
    const refunded = await add(client, { email: 'both@example.com', network: 'base', payer: '0xb2', amount: 5_000 })
    await pay(client, refunded)
    await client.query(`UPDATE sale SET refunded = 2000 WHERE id = $1`, [refunded.id])
    await sell({ email: 'BOTH@example.com', payer: '0xb3', amount: 70_000 })
    await sell({ email: 'test@example.com', amount: 70_000 })
    await sell({ email: 'real@example.com', network: 'base', amount: 9 })
    await sell({ environment: 'sandbox', email: 'test@example.com', amount: 11 })
    for (const environment of ['production', 'sandbox']) {
      await sell({ product: 'gate', environment, payer: '0xc1', amount: 300 })
      await sell({ product: 'gate', environment, payer: '0xc2', amount: 400 })
    }
    await sell({ product: 'gate', network: 'base', payer: '0xc2', amount: 20 })
    await sell({ product: 'gate', network: 'base', payer: '0xc3', amount: 1 })
    const before = { customers: await customers(), gates: await gates() }
    expect(before.gates[1]).toMatchObject({ environment: 'production', revenue: 721, customers: 3, payments: 4 })
    await migrate(database.url)
    expect(await gates()).toEqual([
      before.gates[0],
      {
        ...{ environment: 'production', revenue: 21, customers: 2, payments: 2, paid: 21 },
        each: [
          ['0xc2', 1, 20],
          ['0xc3', 1, 1],
        ],
      },
    ])
    const ofSandbox = before.customers.filter(({ environment }) => environment === 'sandbox')
    expect(ofSandbox).toHaveLength(3)
    const once = { environment: 'production', payments: 1, refunded: 0, once: true, last_id: expect.any(String) }
    expect(await customers()).toEqual([
      ...ofSandbox,
      { ...once, key: '0xc2', payer: '0xc2', paid: 20 },
      { ...once, key: '0xc3', payer: '0xc3', paid: 1 },
      {
        ...{ ...once, key: 'both@example.com', payer: '0xb2', payments: 2, paid: 6_000, refunded: 2_000 },
        ...{ last_id: refunded.id, once: false },
      },
      { ...once, key: 'real@example.com', payer: '0xaa', paid: 9 },
    ])
  })

  test('have a payment that was under way when the rule came, and none that begins after it', async () => {
    const [early, late] = [
      await add(client, { product: 'gate', payer: '0xd1', amount: 300 }),
      await add(client, { product: 'gate', payer: '0xd2', amount: 400 }),
    ]
    await other.query('BEGIN')
    await pay(other, early)
    const migrated = migrate(database.url)
    await until(
      async () => (await all(`SELECT FROM pg_locks WHERE relation = 'sale'::regclass AND NOT granted`)).length > 0,
    )
    await other.query('COMMIT')
    await migrated
    expect(await gates()).toMatchObject([{}, { revenue: 0, customers: 0, payments: 0, paid: 0, each: null }])
    expect(await customers()).toEqual([])
    // It counts as before, so its transaction is undone; a process of this version ends the sale.
    await other.query('BEGIN')
    await pay(other, late)
    await expect(other.query('COMMIT')).rejects.toThrow('which a gate does not count')
    await other.query(PAY, [late.id])
    expect(await gates()).toMatchObject([{}, { revenue: 0, customers: 0 }])
    expect(await customers()).toEqual([])
  })

  test('passes are of the network of their payments, and of the real one where both have paid', async () => {
    const bought = async (pass: string, network: SaleRow['network']): Promise<void> => {
      const { id } = await add(client, { network })
      await client.query('INSERT INTO pass_sale (sale_id, pass_id, runs) VALUES ($1, $2, 5)', [id, pass])
    }
    for (const [at, id] of ['pas_real', 'pas_test', 'pas_both'].entries()) {
      await client.query(
        `INSERT INTO pass (id, checkout_id, user_id, environment, plan_id, plan_name, holder, simulated, token_hash, runs, used, created_at)
         VALUES ($1, 'chk_1', 'usr_1', 'production', 'ten', 'Ten', '0xaa', false, $2, 10, 0, now())`,
        [id, Buffer.from([at])],
      )
    }
    await bought('pas_real', 'base')
    await bought('pas_both', 'base')
    await bought('pas_both', 'base-sepolia')
    await bought('pas_test', 'base-sepolia')
    await migrate(database.url)
    expect(await all('SELECT id, network FROM pass ORDER BY id')).toEqual([
      { id: 'pas_both', network: 'base' },
      { id: 'pas_real', network: 'base' },
      { id: 'pas_test', network: 'base-sepolia' },
    ])
  })

  test('places in tiers are those of the network that a gate has now', async () => {
    await client.query(`UPDATE paywall SET network = 'base'`)
    const gate = { product: 'gate', payer: '0xf1', amount: 10 } as const
    for (const network of ['base-sepolia', 'base-sepolia', 'base'] as const) {
      const row = await add(client, { ...gate, network })
      const window = JSON.stringify({ route: 'GET /a', windowStart: '1970-01-01T00:00:00.000Z' })
      await client.query('UPDATE sale SET details = $2::json WHERE id = $1', [row.id, window])
      await client.query(PAY, [row.id])
    }
    const place = (payer: string, ...counts: number[]) =>
      client.query(
        `INSERT INTO paywall_tier (paywall_id, route, payer, window_start, taken, paid, tier)
         VALUES ('pwl_production', 'GET /a', $1, 'epoch', $2, $3, 1)`,
        [payer, ...counts],
      )
    await place('0xf1', 4, 3)
    await place('0xf2', 2, 2)
    await migrate(database.url)
    // As a process of the version before writes it.
    await place('0xf3', 1, 0)
    expect(await all('SELECT payer, network, taken, paid FROM paywall_tier ORDER BY payer')).toEqual([
      { payer: '0xf1', network: 'base', taken: 2, paid: 1 },
      { payer: '0xf2', network: 'base', taken: 2, paid: 2 },
      { payer: '0xf3', network: 'base', taken: 1, paid: 0 },
    ])
  })

  test('have what is paid while they are counted', async () => {
    const wrong = { email: 'both@example.com', payer: '0xe1', amount: 500 }
    await sell(wrong)
    await sell({ ...wrong, email: 'gone@example.com' })
    await upTo(RECOUNT)
    const real = { ...wrong, network: 'base', amount: 7 } as const
    await sell(real)
    await other.query('BEGIN')
    await pay(other, await add(other, real))
    // Later migrations may wait for the payment.
    await upTo(`${RECOUNT}~`)
    await other.query('COMMIT')
    await migrate(database.url)
    expect(await customers()).toMatchObject([{ key: 'both@example.com', payments: 2, paid: 14, once: false }])
    await sell({ ...real, email: 'gone@example.com' })
    expect(await customers()).toMatchObject([
      { key: 'both@example.com' },
      { key: 'gone@example.com', payments: 1, paid: 7 },
    ])
  })
})

interface SaleRow {
  id: string
  product: 'checkout' | 'gate'
  environment: string
  network: 'base' | 'base-sepolia'
  payer: string
  amount: number
  email: string | null
}
