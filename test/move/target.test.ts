import pg from 'pg'
import type { Source } from '../../service/cli/transfer/model.ts'
import { MIGRATIONS } from '../../service/cli/transfer/source.ts'
import { begin, judge, makeReady } from '../../service/cli/transfer/target.ts'
import { migrate } from '../../service/database/migrate.ts'
import { emptyDatabase, testDatabase } from '../harness/database.ts'
import { TEST_SERVER, type TestServer } from '../harness/server.ts'

describe('the target of a move', () => {
  const SOURCE: Source = { id: '7', state: '1000', migrations: '' }
  let client: pg.Client
  let url: string
  let drop: () => Promise<void>

  beforeEach(async () => {
    ;({ url, drop } = await emptyDatabase())
    client = new pg.Client({ connectionString: url })
    await client.connect()
  })
  afterEach(async () => {
    await client.end()
    await drop()
  })

  test('is accepted when empty, and recognised at each stage of the move', async () => {
    expect(await judge(client, SOURCE)).toBe('empty')
    await begin(client, SOURCE)
    expect(await judge(client, SOURCE)).toBe('begun')
    await migrate(url)
    expect(await judge(client, SOURCE)).toBe('begun')
    await makeReady(client, [{ name: 'ledger_account', columns: 'id', blocks: 0, bytes: 0 }])
    const { rows } = await client.query<Pick<Source, 'migrations'>>(`SELECT (${MIGRATIONS}) AS migrations`)
    const source = { ...SOURCE, migrations: rows[0]?.migrations ?? '' }
    expect(await judge(client, source)).toBe('copying')
    expect((await client.query('SELECT FROM ledger_account')).rowCount).toBe(0)
    // The right that the move granted itself is revoked again.
    await expect(client.query('DELETE FROM ledger_account')).rejects.toThrow(/permission/)

    await expect(judge(client, { ...source, migrations: 'others' })).rejects.toThrow(/begun by another version/)
    await expect(judge(client, { ...source, state: '1001' })).rejects.toThrow(/ran on the embedded database/)
    await expect(judge(client, { ...source, id: '8' })).rejects.toThrow(/a move of another database/)
    await client.query(`UPDATE coinslot_move.move SET phase = 'finished'`)
    expect(await judge(client, source)).toBe('finished')
    await expect(judge(client, { ...source, state: '1001' })).rejects.toThrow(/after its move to .* had finished/)
  })

  test('is refused when it has any object', async () => {
    await client.query('CREATE SEQUENCE somebodys')
    await expect(judge(client, SOURCE)).rejects.toThrow(/is not empty/)
  })

  test('is refused when a service uses it', async () => {
    const used = await testDatabase()
    const there = new pg.Client({ connectionString: used.url })
    await there.connect()
    await expect(judge(there, SOURCE)).rejects.toThrow(/is not empty \(\d+ tables\)/)
    await there.end()
    await used.close()
  })

  test('is refused when a service starts to use it during the move', async () => {
    await begin(client, SOURCE)
    await migrate(url)
    await client.query(`INSERT INTO identity_user (id, issuer, subject, created_at) VALUES ('usr_1', 'x', 'x', now())`)
    await expect(makeReady(client, [])).rejects.toThrow(/has used the target/)
  })

  test('is refused when its role may not create schemas and tables', async () => {
    await client.query('REVOKE CREATE ON SCHEMA public FROM PUBLIC')
    const { adminUrl } = JSON.parse(process.env[TEST_SERVER] ?? '') as TestServer
    const admin = new pg.Client({ connectionString: adminUrl })
    await admin.connect()
    const name = new URL(url).pathname.slice(1)
    const role = `stranger_${name}`
    await admin.query(`CREATE ROLE ${role} LOGIN PASSWORD 'x'`)
    const stranger = new URL(url)
    Object.assign(stranger, { username: role, password: 'x' })
    const there = new pg.Client({ connectionString: stranger.href })
    await there.connect()
    await expect(judge(there, SOURCE)).rejects.toThrow(/may not create schemas and tables/)
    await there.end()
    await admin.query(`DROP ROLE ${role}`)
    await admin.end()
  })

  test('is refused with another encoding or an older server', async () => {
    const { adminUrl } = JSON.parse(process.env[TEST_SERVER] ?? '') as TestServer
    const admin = new pg.Client({ connectionString: adminUrl })
    await admin.connect()
    const name = `latin_${new URL(url).pathname.slice(1)}`
    await admin.query(`CREATE DATABASE ${name} ENCODING 'LATIN1' LOCALE_PROVIDER libc LOCALE 'C' TEMPLATE template0`)
    const latin = new URL(adminUrl)
    latin.pathname = `/${name}`
    const there = new pg.Client({ connectionString: latin.href })
    await there.connect()
    await expect(judge(there, SOURCE)).rejects.toThrow(/encoding is LATIN1/)
    await there.end()
    await admin.query(`DROP DATABASE ${name} WITH (FORCE)`)
    await admin.end()
    // There is no old server to query: its answer is simulated.
    const old = { version: 150_004, encoding: 'UTF8', may: true, replica: false, journal: false, tables: 0 }
    const played = { query: () => Promise.resolve({ rows: [old] }) } as unknown as pg.Client
    await expect(judge(played, SOURCE)).rejects.toThrow(/is PostgreSQL 15; .* is 17/)
  })
})
