import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { migrate } from '../../service/database/migrate.ts'
import { emptyDatabase } from '../harness/database.ts'

const MIGRATIONS = path.resolve(import.meta.dirname, '../../prisma/migrations')
const MIGRATION = '20261201030000_discovery_withdrawn'

const OWN = 'https://ours.example'
const PAY_TO = 'aa'.repeat(20)
const CHANGED = new Date('2026-11-20T10:00:00Z')

/** The version before showed what was unpublished until nobody had bought it for 90 days. */
describe('catalogue entries of the version before', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'coinslot-migrations-'))
  let database: Awaited<ReturnType<typeof emptyDatabase>>
  let client: pg.Client

  beforeAll(async () => {
    for (const name of readdirSync(MIGRATIONS).filter((each) => each < MIGRATION)) {
      cpSync(path.join(MIGRATIONS, name), path.join(folder, name), { recursive: true })
    }
    database = await emptyDatabase()
    await migrate(database.url, folder)
    client = new pg.Client({ connectionString: database.url })
    await client.connect()
    await client.query(`INSERT INTO rda_creator (user_id, subject) VALUES ('usr_owner', 'owner')`)
  })
  afterAll(async () => {
    await client.end()
    await database.drop()
    rmSync(folder, { recursive: true, force: true })
  })

  const add = (id: string, environment: string, slug: string, status: string) =>
    client.query(
      `INSERT INTO rda (id, environment, slug, owner_id, type, status, name, description, version, pricing_model, pricing_amount,
         created_at, updated_at)
       VALUES ($1, $2::environment, $3, 'usr_owner', 'prompt', $4::rda_status, $1, '', '1.0.0', 'per-run', 1, $5, $5)`,
      [id, environment, slug, status, CHANGED],
    )
  const sell = (subject: string, environment: string, resource: string) =>
    client.query(
      `INSERT INTO sale (id, product, subject, user_id, environment, state, handover, amount, network, recipient, payer, simulated,
         input_hash, details, tx_hash, created_at, ended_at, resource)
       VALUES ('pay_' || $1, 'asset', $1, 'usr_owner', $2::environment, 'paid', 'whole', 1, 'base-sepolia', $3, '0x1', true,
         sha256(''), '{}', '0x1', $4, $4, $5)`,
      [subject, environment, `0x${PAY_TO.toUpperCase()}`, CHANGED, resource],
    )
  const list = (resource: string, tool = '') =>
    client.query(
      `INSERT INTO discovery_resource (resource, tool, network, scheme, pay_to, type, x402_version, accepts, tags, extensions,
         extension_keys, first_at, last_at)
       VALUES ($1, $2, 'base-sepolia', 'exact', decode($3, 'hex'), 'http', 2, '[]', '{}', '{}', '{}', $4, $4)`,
      [resource, tool, PAY_TO, CHANGED],
    )

  test('of what is not published are hidden since then, and no others', async () => {
    const run = (slug: string, at = OWN) => `${at}/rda/${slug}/run`
    for (const [slug, status] of Object.entries({ draft: 'draft', gone: 'archived', sold: 'published' })) {
      await add(`rda_${slug}`, 'sandbox', slug, status)
      await sell(`rda_${slug}`, 'sandbox', run(slug))
      await list(run(slug))
    }
    // The same slug in the other environment, and at another server.
    await add('rda_other', 'production', 'sold', 'draft')
    await list(run('draft', 'https://theirs.example'))
    await list(run('draft'), 'named')
    await list(`${OWN}/tools/pay/draft`)
    await migrate(database.url)
    const { rows } = await client.query<{ resource: string; withdrawn_at: Date }>(
      'SELECT resource, withdrawn_at FROM discovery_resource WHERE withdrawn_at IS NOT NULL ORDER BY resource, tool',
    )
    expect(rows).toEqual(['draft', 'gone'].map((slug) => ({ resource: run(slug), withdrawn_at: CHANGED })))
  })
})
