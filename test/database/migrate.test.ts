import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { isMigrated, migrate, readMigrations } from '../../service/database/migrate.ts'
import { emptyDatabase } from '../harness/database.ts'

describe('the migration runner', () => {
  let folder: string
  let url: string
  let drop: () => Promise<void>
  let pool: pg.Pool

  beforeEach(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'coinslot-migrations-'))
    write('20260101000000_first', 'create table first (id int primary key);')
    write('20260102000000_second', 'insert into first values (1); create table second (id int);')
    ;({ url, drop } = await emptyDatabase())
    pool = new pg.Pool({ connectionString: url, max: 2 })
    // `end` does not wait for the server to hang up, and the database is dropped right after it.
    pool.on('error', () => undefined)
  })

  afterEach(async () => {
    await pool.end()
    await drop()
    rmSync(folder, { recursive: true })
  })

  test('applies everything once, in order', async () => {
    expect(await isMigrated(pool, await readMigrations(folder))).toBe(false)
    expect(await migrate(url, folder)).toEqual(['20260101000000_first', '20260102000000_second'])
    expect(await isMigrated(pool, await readMigrations(folder))).toBe(true)
    expect(await migrate(url, folder)).toEqual([])
    expect(await count('first')).toBe(1)
  })

  test('applies only new migrations', async () => {
    await migrate(url, folder)
    write('20260103000000_third', 'insert into first values (2);')
    expect(await isMigrated(pool, await readMigrations(folder))).toBe(false)
    expect(await migrate(url, folder)).toEqual(['20260103000000_third'])
    expect(await count('first')).toBe(2)
  })

  test('runs once when several services start at once', async () => {
    const applied = await Promise.all(Array.from({ length: 8 }, () => migrate(url, folder)))
    expect(applied.flat()).toEqual(['20260101000000_first', '20260102000000_second'])
    expect(await count('first')).toBe(1)
  })

  test('lets others read while a long transaction has the table, and ends once that has ended', async () => {
    await migrate(url, folder)
    write('20260103000000_third', 'alter table first add column name text;')
    const backup = new pg.Client({ connectionString: url })
    await backup.connect()
    await backup.query('begin; lock table first in access share mode')
    const pauses: number[] = []
    const pause = async (): Promise<void> => {
      pauses.push(await count('first'))
      if (pauses.length === 2) await backup.query('commit')
    }
    expect(await migrate(url, folder, { locks: { timeoutMs: 50, tries: 5, pause } })).toEqual(['20260103000000_third'])
    expect(pauses).toEqual([1, 1])
    await backup.end()
  })

  test('names the oldest transaction where a table stays locked', async () => {
    await migrate(url, folder)
    write('20260103000000_third', 'alter table first add column name text;')
    const backup = new pg.Client({ connectionString: url, application_name: 'pg_dump' })
    await backup.connect()
    await backup.query('begin; lock table first in access share mode')
    const locks = { timeoutMs: 50, tries: 2, pause: () => Promise.resolve() }
    await expect(migrate(url, folder, { locks })).rejects.toThrow(
      /third .* process \d+ \(pg_dump\).*run npm run migrate again/,
    )
    await backup.end()
    expect(await migrate(url, folder, { locks })).toEqual(['20260103000000_third'])
  })

  test('refuses a migration that was edited after it was applied', async () => {
    await migrate(url, folder)
    write('20260101000000_first', 'create table first (id bigint primary key);')
    write('20260103000000_third', 'create table third (id int);')
    await expect(migrate(url, folder)).rejects.toMatchObject({ code: 'migration_edited' })
    await expect(isMigrated(pool, await readMigrations(folder))).rejects.toThrow('20260101000000_first was edited')
    expect(await tables()).not.toContain('third')
  })

  test('refuses a database that is ahead of it', async () => {
    await migrate(url, folder)
    rmSync(path.join(folder, '20260102000000_second'), { recursive: true })
    await expect(migrate(url, folder)).rejects.toMatchObject({ code: 'migration_unknown' })
  })

  test('takes a database that is ahead of it where its operator goes back, and still refuses edited migrations', async () => {
    await migrate(url, folder)
    rmSync(path.join(folder, '20260102000000_second'), { recursive: true })
    expect(await migrate(url, folder, { newer: 'allowed' })).toEqual([])
    write('20260101000000_first', 'create table first (id bigint primary key);')
    await expect(migrate(url, folder, { newer: 'allowed' })).rejects.toMatchObject({ code: 'migration_edited' })
  })

  test('a process of an older version stays ready on a database that is ahead of it', async () => {
    await migrate(url, folder)
    rmSync(path.join(folder, '20260102000000_second'), { recursive: true })
    expect(await isMigrated(pool, await readMigrations(folder))).toBe(true)
  })

  test('rolls back a failed migration, names it, and applies it once it is fixed', async () => {
    write('20260103000000_third', 'create table third (id int); insert into first values (7); select 1 / 0;')
    await expect(migrate(url, folder)).rejects.toThrow(
      /^Migration 20260103000000_third failed and was undone: division/,
    )
    expect(await tables()).not.toContain('third')
    expect(await count('first')).toBe(1)
    expect(await count('_prisma_migrations')).toBe(2)

    write('20260103000000_third', 'create table third (id int);')
    expect(await migrate(url, folder)).toEqual(['20260103000000_third'])
  })

  test('refuses to continue after a migration that Prisma left unfinished', async () => {
    await migrate(url, folder)
    await pool.query(`update _prisma_migrations set finished_at = null where migration_name like '%second'`)
    await expect(migrate(url, folder)).rejects.toThrow('20260102000000_second failed earlier')
  })

  test('writes a history that the Prisma CLI accepts as up to date', async () => {
    await migrate(url)
    const env = { ...process.env, DATABASE_URL: url, NO_COLOR: '1' }
    const status = [path.resolve('node_modules/prisma/build/index.js'), 'migrate', 'status']
    const { stdout } = await promisify(execFile)(process.execPath, status, { env })
    expect(stdout).toContain('Database schema is up to date!')
  })

  function write(name: string, sql: string): void {
    mkdirSync(path.join(folder, name), { recursive: true })
    writeFileSync(path.join(folder, name, 'migration.sql'), sql)
  }

  async function tables(): Promise<string[]> {
    const { rows } = await pool.query<{ name: string }>(
      `select table_name as name from information_schema.tables where table_schema = 'public'`,
    )
    return rows.map(({ name }) => name)
  }

  async function count(table: string): Promise<number> {
    const { rows } = await pool.query<{ count: number }>(`select count(*)::int as count from ${table}`)
    return rows[0]!.count
  }
})
