import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { migrate } from '../../service/database/migrate.ts'
import { emptyDatabase } from '../harness/database.ts'

const MIGRATIONS = path.resolve(import.meta.dirname, '../../prisma/migrations')
const MIGRATION = '20261201010000_published_version'

/** The version before stored when an asset was published, and not in which version. */
describe('assets of the version before', () => {
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

  /** Each version was made a day after the one before, the first on the first of November. */
  async function add(
    id: string,
    status: string,
    { versions, published }: { versions: string[]; published: number | null },
  ) {
    await client.query(
      `INSERT INTO rda (id, environment, slug, owner_id, type, status, name, description, version, pricing_model, pricing_amount,
         created_at, updated_at, published_at)
       VALUES ($1, 'sandbox', $1, 'usr_owner', 'prompt', $2::rda_status, $1, '', $3, 'per-run', 1, $4, $4, $5)`,
      [id, status, versions.at(-1), day(1), published === null ? null : day(published)],
    )
    for (const [at, version] of versions.entries()) {
      await client.query(
        `INSERT INTO rda_version (rda_id, version, tags, content, created_at) VALUES ($1, $2, '{}', '{}', $3)`,
        [id, version, day(at + 1)],
      )
    }
  }

  const day = (of: number): string => `2026-11-${String(of).padStart(2, '0')}T10:00:00Z`
  let runs = 0
  const run = (id: string, by: string, version: string) =>
    client.query(
      `INSERT INTO run (id, environment, user_id, subject, rda_id, rda_slug, rda_type, rda_version, owner_id, payer_id, status, locked,
         price, inputs, output, deadline, created_at, ended_at)
       VALUES ($1, 'sandbox', $2, $2, $3, $3, 'prompt', $4, 'usr_owner', $2, 'succeeded', 0, 0, '{}', 'done', $5, $5, $5)`,
      [`run_${String(++runs)}`, by, id, version, day(20)],
    )
  const publishedVersions = async (): Promise<unknown> => {
    const { rows } = await client.query<{ id: string; version: string | null }>(
      'SELECT id, published_version AS version FROM rda ORDER BY id',
    )
    return Object.fromEntries(rows.map(({ id, version }) => [id, version]))
  }

  test('show others what was published last, and so do those that a process of that version publishes now', async () => {
    const three = ['1.0.0', '1.9.0', '1.10.0']
    await add('never', 'draft', { versions: three, published: null })
    await add('published', 'published', { versions: three, published: 1 })
    await add('draft', 'draft', { versions: three, published: 2 })
    await add('archived', 'archived', { versions: three, published: 1 })
    await add('ran', 'archived', { versions: three, published: 1 })
    await run('ran', 'usr_other', '1.9.0')
    await run('ran', 'usr_owner', '1.10.0')
    await add('sold', 'draft', { versions: three, published: 1 })
    await client.query(`INSERT INTO rda_source_sale VALUES ('sold', 'usr_other', 1, $1)`, [day(2)])
    await migrate(database.url)
    const expected = {
      ...{ never: null, published: '1.10.0', draft: '1.9.0' },
      ...{ archived: '1.0.0', ran: '1.9.0', sold: '1.9.0' },
    }
    expect(await publishedVersions()).toEqual(expected)

    await client.query(`UPDATE rda SET version = '1.11.0' WHERE id IN ('published', 'draft')`)
    await client.query(`UPDATE rda SET status = 'published' WHERE id = 'never'`)
    await client.query(`UPDATE rda SET status = 'draft' WHERE id = 'published'`)
    expect(await publishedVersions()).toEqual({ ...expected, never: '1.10.0', published: '1.11.0' })
  })
})
