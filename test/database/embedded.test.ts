import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { attachOrStart, startEmbedded, type Embedded } from '../../service/database/embedded/database.ts'
import { leftOf, serverOf } from './processes.ts'

describe('the embedded database', () => {
  let parent: string
  let dataDir: string
  let embedded: Embedded | undefined

  // One for all tests: making a server takes longer than starting it again.
  beforeAll(() => {
    parent = mkdtempSync(path.join(tmpdir(), 'coinslot-embedded-'))
    chmodSync(parent, 0o755)
    dataDir = path.join(parent, 'a "path" with späces')
  })

  afterEach(async () => {
    await embedded?.stop()
    embedded = undefined
    expect(await leftOf(dataDir, 5_000)).toEqual([])
  })

  afterAll(() => rmSync(parent, { recursive: true }))

  test('is created once, persists, and commits as durably as PostgreSQL can', async () => {
    embedded = await startEmbedded({ dataDir })
    expect(await query(embedded.url, SETTINGS)).toEqual([
      { role: 'coinslot', superuser: false, fsync: 'on', commits: 'on', zone: 'UTC', sorts: true },
    ])
    await query(embedded.url, 'create table kept as select 42 as answer')
    await embedded.stop()
    expect(await leftOf(dataDir, 5_000)).toEqual([])

    embedded = await startEmbedded({ dataDir })
    expect(await query(embedded.url, 'select answer from kept')).toEqual([{ answer: 42 }])
  })

  test('stores its passwords readable by its owner only, and requires them', async () => {
    embedded = await startEmbedded({ dataDir })
    expect(statSync(path.join(dataDir, 'postgres.json')).mode & 0o777).toBe(0o600)
    const stranger = new URL(embedded.url)
    stranger.password = 'guessed'
    await expect(query(stranger.href, 'select 1')).rejects.toMatchObject({ code: '28P01' })
  })

  test('refuses a second service, and lets tools attach', async () => {
    embedded = await startEmbedded({ dataDir })
    await expect(startEmbedded({ dataDir })).rejects.toMatchObject({ code: 'data_dir_in_use' })

    const tool = await attachOrStart({ dataDir })
    expect(tool.url).toBe(embedded.url)
    await tool.stop()
    expect(await query(embedded.url, 'select 1 as up')).toEqual([{ up: 1 }])
  })

  test('is started by a tool for as long as the tool needs it', async () => {
    const tool = await attachOrStart({ dataDir })
    expect(await query(tool.url, 'select 1 as up')).toEqual([{ up: 1 }])
    await tool.stop()
    expect(await leftOf(dataDir, 5_000)).toEqual([])
  })

  test.each([
    ['of a process that is gone', { pid: 2 ** 22 + 1, began: 'once' }],
    ['of a process whose number another one has now', { pid: process.pid, began: 'once' }],
    ['that is no lock at all', 'nonsense'],
  ])('starts over a lock %s', async (_, lock) => {
    embedded = await startEmbedded({ dataDir })
    await embedded.stop()
    writeFileSync(path.join(dataDir, 'service.lock'), JSON.stringify(lock))
    embedded = await startEmbedded({ dataDir })
    expect(await query(embedded.url, 'select 1 as up')).toEqual([{ up: 1 }])
  })

  test('starts when its old process id now belongs to another process', async () => {
    embedded = await startEmbedded({ dataDir })
    await query(embedded.url, 'create table if not exists kept as select 42 as answer')
    await embedded.stop()
    // As after a crash of the machine, when the server's old process id belongs to a process that must not be killed.
    writeFileSync(
      path.join(dataDir, 'postgres/postmaster.pid'),
      `${String(process.pid)}\n${dataDir}\n0\n1\n\n\n\nready\n`,
    )
    embedded = await startEmbedded({ dataDir })
    expect(await query(embedded.url, 'select answer from kept')).toEqual([{ answer: 42 }])
  })

  test('starts over when the first start was interrupted', async () => {
    embedded = await startEmbedded({ dataDir })
    await embedded.stop()
    // The password was written, the data folder was not renamed yet.
    const credentials = readFileSync(path.join(dataDir, 'postgres.json'), 'utf8')
    writeFileSync(path.join(dataDir, 'postgres.json'), credentials.replace('"secured":true', '"secured":false'))
    rmSync(path.join(dataDir, 'postgres'), { recursive: true })
    embedded = await startEmbedded({ dataDir })
    expect(await query(embedded.url, 'select 1 as up')).toEqual([{ up: 1 }])
  })

  test('comes back at the same address after kill -9, with every acknowledged row', async () => {
    embedded = await startEmbedded({ dataDir })
    const { url } = embedded
    await query(url, 'create table rounds (id int)')
    for (let round = 1; round <= 3; round++) {
      await query(url, `insert into rounds values (${String(round)})`)
      process.kill(serverOf(dataDir), 'SIGKILL')
      expect(await askUntilUp(url, 'select count(*)::int as rows from rounds')).toEqual([{ rows: round }])
    }
  })
})

const SETTINGS = `
select current_user as role, (select usesuper from pg_user where usename = current_user) as superuser,
       current_setting('fsync') as fsync, current_setting('synchronous_commit') as commits,
       current_setting('timezone') as zone, 'Z' < 'a' and 'z' < 'ä' as sorts`

async function query(url: string, statement: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => undefined)
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(statement)).rows
  } finally {
    await client.end()
  }
}

/** Refused while the server is down or recovering; cut off when it goes down during the query. */
async function askUntilUp(url: string, statement: string): Promise<unknown[]> {
  const deadline = performance.now() + 60_000
  for (;;) {
    try {
      return await query(url, statement)
    } catch (error) {
      if (performance.now() > deadline) throw error
      await delay(20)
    }
  }
}
