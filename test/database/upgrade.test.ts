import { createHash } from 'node:crypto'
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { migrate } from '../../service/database/migrate.ts'
import { emptyDatabase } from '../harness/database.ts'

/** The last migration of the version before sales had one table. */
const BEFORE = '20261123020000_gas_of_callers'
const MIGRATIONS = path.resolve(import.meta.dirname, '../../prisma/migrations')

const LATER = new Date('2026-11-20T12:00:00Z')
const EARLIER = new Date('2026-11-20T11:00:00Z')

/** What a database of that version holds goes on where it was. */
describe('a database of the version before', () => {
  let database: Awaited<ReturnType<typeof emptyDatabase>>
  let client: pg.Client
  const folder = mkdtempSync(path.join(tmpdir(), 'coinslot-migrations-'))

  beforeAll(async () => {
    for (const name of readdirSync(MIGRATIONS)) {
      if (name <= BEFORE) cpSync(path.join(MIGRATIONS, name), path.join(folder, name), { recursive: true })
    }
    database = await emptyDatabase()
    await migrate(database.url, folder)
    client = new pg.Client({ connectionString: database.url })
    await client.connect()
    for (const row of TOOL_PAYMENTS) await insert('tool_payment', { ...TOOL_PAYMENT, ...row })
    await insert('checkout', CHECKOUT)
    for (const row of CHECKOUT_PAYMENTS) await insert('checkout_payment', { ...CHECKOUT_PAYMENT, ...row })
    await insert('paywall', PAYWALL)
    for (const row of PAYWALL_PAYMENTS) await insert('paywall_payment', { ...PAYWALL_PAYMENT, ...row })
    for (const payment_id of ['pay_answered', 'pay_owed']) await insert('paywall_answer', { ...ANSWERED, payment_id })
    await migrate(database.url)
  })
  afterAll(async () => {
    await client.end()
    await database.drop()
    rmSync(folder, { recursive: true, force: true })
  })

  async function insert(table: string, row: Record<string, unknown>): Promise<void> {
    const names = Object.keys(row)
    const places = names.map((_, place) => `$${String(place + 1)}`)
    await client.query(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${places.join(', ')})`, Object.values(row))
  }

  test.each(
    Object.entries({
      call_claimed: { state: 'claimed', handover: 'none', resume_at: null, lease_until: LATER, answer: null },
      call_asked: { state: 'settling', handover: 'none', resume_at: LATER, answer: null },
      call_answered: { state: 'settling', handover: 'none', resume_at: LATER, answer: '{"a":1}', ms: 7 },
      call_paid: { state: 'paid', handover: 'none', resume_at: null, answer: '{"a":1}', ms: 7 },
      call_given: { state: 'paid', handover: 'whole', resume_at: null, answer: null, ms: 7 },
      call_owed: { state: 'paid', handover: 'none', resume_at: null, answer: null },
      call_broken: { state: 'released', handover: 'none', resume_at: null, answer: null },
      call_refused: { state: 'failed', handover: 'none', resume_at: null, answer: null },
    }),
  )('%s is a sale as far as it came', async (id, expected) => {
    const { rows } = await client.query<Record<string, unknown>>(SALE, [id])
    expect(rows).toHaveLength(1)
    expect(rows[0]).toMatchObject({
      ...expected,
      slug: 'acme-note',
      product: 'tool',
      subject: 'tool_1',
      amount: '10000',
    })
  })

  test.each(
    Object.entries({
      pay_created: { state: 'claimed', resume_at: LATER },
      pay_settling: { state: 'settling', resume_at: LATER },
      pay_paid: { state: 'paid', resume_at: null },
      pay_failed: { state: 'failed', resume_at: null },
      pay_simulated: { state: 'paid', resume_at: null },
    }),
  )('%s is a sale as far as it came', async (id, expected) => {
    const { rows } = await client.query<Record<string, unknown>>(SALE, [id])
    expect(rows).toHaveLength(1)
    expect(rows[0]).toMatchObject({ ...expected, handover: 'none', lease_until: null, product: 'checkout' })
    expect(rows[0]).toMatchObject({ subject: 'chk_1', amount: '10000', input: { site: 'a' }, answer: null })
  })

  test.each(
    Object.entries({
      pay_calling: { state: 'claimed', handover: 'none', lease_until: LATER },
      pay_released: { state: 'released', handover: 'none', lease_until: null },
      pay_answered: { state: 'settling', handover: 'none', resume_at: LATER, answer: 'hello' },
      pay_owed: { state: 'paid', handover: 'none', answer: 'hello' },
      pay_old: { state: 'paid', handover: 'expired', answer: null },
      pay_begun: { state: 'paid', handover: 'begun', answer: null },
      pay_whole: { state: 'paid', handover: 'whole', answer: null },
      pay_refused: { state: 'failed', handover: 'none', answer: null },
      pay_test: { state: 'paid', handover: 'whole', amount: '0' },
    }),
  )('%s is a sale as far as it came', async (id, expected) => {
    const { rows } = await client.query<Record<string, unknown>>(SALE, [id])
    expect(rows).toHaveLength(1)
    expect(rows[0]).toMatchObject({ product: 'gate', subject: 'pwl_1', ...expected })
    expect(rows[0]!['details']).toEqual({
      ...{ kind: 'balance', route: 'GET /a', endpoint: 'GET /a', cost: null },
      windowStart: '2026-11-20T11:00:00.000Z',
    })
  })

  test.each(['tool_payment', 'checkout_payment', 'paywall_payment', 'paywall_answer'])(
    'has no table %s any more',
    async (table) => {
      const { rows } = await client.query('SELECT to_regclass($1) AS table', [table])
      expect(rows).toEqual([{ table: null }])
    },
  )
})

const TOOL_PAYMENT = {
  ...{ environment: 'sandbox', tool_id: 'tool_1', slug: 'acme-note', provider: 'acme', input_hash: Buffer.from('i') },
  ...{ amount: 10_000, network: 'base-sepolia', payer: '0x1', recipient: '0x2', request: '{}', leased_until: LATER },
  ...{ created_at: EARLIER, duration_ms: 7 },
}

const ANSWER = { kind: 'json', value: '{"a":1}' }
const TOOL_PAYMENTS = [
  { id: 'call_claimed', state: 'claimed' },
  { id: 'call_asked', state: 'claimed', owed: true, submitted: true },
  { id: 'call_answered', state: 'answered', submitted: true, ...ANSWER },
  { id: 'call_paid', state: 'paid', submitted: true, tx_hash: '0x1', paid_at: LATER, ...ANSWER },
  { id: 'call_given', state: 'paid', submitted: true, tx_hash: '0x2', paid_at: LATER },
  { id: 'call_owed', state: 'paid', owed: true, submitted: true, tx_hash: '0x3', paid_at: LATER },
  { id: 'call_broken', state: 'failed', reason: 'tool_failed' },
  { id: 'call_refused', state: 'failed', submitted: true, reason: 'invalid_exact_evm_insufficient_balance' },
].map((row) => ({ ...row, digest: Buffer.from(row.id) }))

const CHECKOUT = {
  ...{
    id: 'chk_1',
    user_id: 'usr_1',
    environment: 'sandbox',
    lifetime: 'persistent',
    callback_url: 'https://a.example',
  },
  ...{ product_name: 'A', price: 10_000, network: 'base-sepolia', recipient: '0x2', fields: '[]', test_mode: false },
  ...{ response_mode: 'immediately', preflight: false, redeliver_unconfirmed: false, created_at: EARLIER },
  ...{ updated_at: EARLIER },
}

const CHECKOUT_PAYMENT = {
  ...{ checkout_id: 'chk_1', user_id: 'usr_1', environment: 'sandbox', amount: 10_000, network: 'base-sepolia' },
  ...{ payer: '0x1', input: '{"site":"a"}', input_hash: Buffer.alloc(32), created_at: EARLIER },
}

const SIGNED = { recipient: '0x2', simulated: false, request: '{}' }
const CHECKOUT_PAYMENTS = [
  { id: 'pay_created', ...SIGNED, state: 'created', resume_at: LATER },
  { id: 'pay_settling', ...SIGNED, state: 'settling', resume_at: LATER },
  { id: 'pay_paid', ...SIGNED, state: 'paid', tx_hash: '0x1', ended_at: LATER },
  { id: 'pay_failed', ...SIGNED, state: 'failed', reason: 'refused', ended_at: LATER },
  { id: 'pay_simulated', simulated: true, state: 'paid', tx_hash: 'simulated:pay', ended_at: LATER },
].map((row) => ({ ...row, digest: row.simulated ? null : createHash('sha256').update(row.id).digest() }))

const PAYWALL = {
  ...{ id: 'pwl_1', user_id: 'usr_1', environment: 'sandbox', slug: 'a', name: 'A', upstream_url: 'https://a.example' },
  ...{ routes: '[]', recipient: '0x2', network: 'base-sepolia', test_mode: false, status: 'active', milestones: [] },
  ...{ header_names: [], headers_sealed: '', secret_sealed: '', version: 1, earlier: '[]', created_at: EARLIER },
  ...{ updated_at: EARLIER },
}

const PAYWALL_PAYMENT = {
  ...{ paywall_id: 'pwl_1', user_id: 'usr_1', environment: 'sandbox', kind: 'balance', route: 'GET /a' },
  ...{ endpoint: 'GET /a', amount: 10_000, network: 'base-sepolia', recipient: '0x2', payer: '0x1' },
  ...{ line_hash: Buffer.alloc(32), window_start: EARLIER, delivery: 'none', expires_at: LATER, created_at: EARLIER },
}

const ENDED = { ended_at: LATER, tx_hash: '0x1' }
const PAYWALL_PAYMENTS = [
  { id: 'pay_calling', state: 'calling', lease_until: LATER },
  { id: 'pay_released', state: 'released' },
  { id: 'pay_answered', state: 'settling', resume_at: LATER },
  { id: 'pay_owed', state: 'paid', ...ENDED },
  { id: 'pay_old', state: 'paid', ...ENDED },
  { id: 'pay_begun', state: 'paid', delivery: 'begun', ...ENDED },
  { id: 'pay_whole', state: 'paid', delivery: 'whole', ...ENDED },
  { id: 'pay_refused', state: 'failed', reason: 'refused', ended_at: LATER },
  { id: 'pay_test', state: 'paid', delivery: 'whole', amount: 0, simulated: true, ...ENDED },
].map((row) => {
  const simulated = 'simulated' in row
  const digest = simulated ? null : createHash('sha256').update(row.id).digest()
  return { simulated, digest, request: simulated ? null : '{}', ...row }
})

const ANSWERED = { status: 200, headers: '[]', body: Buffer.from('hello'), kept_at: LATER }

const SALE = `
SELECT s.state::text, s.handover::text, s.resume_at, s.lease_until, s.product::text, s.subject, s.amount,
  s.details, s.details->>'slug' AS slug, s.details->'input' AS input, (s.details->>'durationMs')::int AS ms, convert_from(a.body, 'UTF8') AS answer
FROM sale s LEFT JOIN sale_answer a ON a.sale_id = s.id WHERE s.id = $1`
