import type { ErrorCode } from '../kit/error-codes/catalogue.ts'
import { createHash, randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { Config } from '../config.ts'
import { DomainError } from '../kit/errors.ts'
import type { Statements } from '../kit/transaction.ts'

/**
 * Applies the pending SQL files of `prisma/migrations` and returns their names. Fills Prisma's own table as Prisma
 * does, so that `prisma migrate status` and `deploy` agree with it. The database of a newer version is refused unless its
 * operator goes back to this version.
 */
export async function migrate(
  url: string,
  folder = migrationsFolder(),
  { newer = 'refused', locks = LOCKS }: { newer?: 'allowed' | 'refused'; locks?: Locks } = {},
): Promise<string[]> {
  const files = await readMigrations(folder)
  const client = new pg.Client({ connectionString: url })
  // The failing statement reports the error. Without a listener the error would end the process without a message.
  client.on('error', () => undefined)
  await client.connect().catch((cause: unknown) => {
    const sentence = `The database cannot be reached: ${reasonOf(cause)}.`
    throw new DomainError('unavailable', 'no_database', sentence).causedBy(cause)
  })
  try {
    // Prisma's own engine locks the same number, so the two never run at the same time. The lock ends with the
    // connection.
    await client.query('select pg_advisory_lock(72707369)')
    await client.query(TABLE)
    const { rows: history } = await client.query<Applied>(HISTORY)
    if (newer === 'refused') assertKnown(files, history)
    const pending = unapplied(files, history)
    for (const file of pending) await applyUnlocked(client, file, locks)
    return pending.map(({ name }) => name)
  } finally {
    await client.end()
  }
}

/** As the operator has configured it: for every process, and every command that needs the tables of this version. */
export async function migrateFor(url: string, { NEWER_DATABASE: newer }: Terms): Promise<string[]> {
  return await migrate(url, undefined, { newer })
}

/** For commands that change no tables: the database of a newer version is refused as `migrate` refuses it. */
export async function assertNotNewer(statements: Statements, { NEWER_DATABASE: newer }: Terms): Promise<void> {
  if (newer === 'allowed') return
  const [table] = await statements.run<{ found: boolean }>(HAS_HISTORY, [])
  if (table?.found === true) assertKnown(await readMigrations(), await statements.run<Applied>(HISTORY, []))
}

type Terms = Pick<Config, 'NEWER_DATABASE'>

/**
 * Whether everything of this version is applied, for a readiness check; changes nothing. Migrations of a newer version
 * are no fault: the processes of this one serve until it has replaced them.
 */
export async function isMigrated(pool: pg.Pool, files: readonly Migration[]): Promise<boolean> {
  return unapplied(files, await readHistoryIfAny(pool)).length === 0
}

/** The same before a start: refuses the database of a newer version, as `migrate` does. */
export async function isUpToDate(pool: pg.Pool): Promise<boolean> {
  const files = await readMigrations()
  const history = await readHistoryIfAny(pool)
  assertKnown(files, history)
  return unapplied(files, history).length === 0
}

export interface Migration {
  readonly name: string
  readonly sql: string
  readonly checksum: string
}

interface Applied {
  readonly migration_name: string
  readonly checksum: string
  readonly finished_at: Date | null
}

const TABLE = `
create table if not exists _prisma_migrations (
  id varchar(36) primary key not null,
  checksum varchar(64) not null,
  finished_at timestamptz,
  migration_name varchar(255) not null,
  logs text,
  rolled_back_at timestamptz,
  started_at timestamptz not null default now(),
  applied_steps_count integer not null default 0
)`

const HAS_HISTORY = `select to_regclass('_prisma_migrations') is not null as found`

const HISTORY = `
select migration_name, checksum, finished_at from _prisma_migrations
where rolled_back_at is null order by started_at, migration_name`

/** Read once at a start: a new version may replace the files under a process that runs. */
export async function readMigrations(folder = migrationsFolder()): Promise<Migration[]> {
  const entries = await readdir(folder, { withFileTypes: true })
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name)
  // By code point, as the names are dates: a locale may sort otherwise.
  names.sort((a, b) => (a < b ? -1 : 1))
  return Promise.all(
    names.map(async (name) => {
      const sql = await readFile(path.join(folder, name, 'migration.sql'), 'utf8')
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') }
    }),
  )
}

async function readHistoryIfAny(pool: pg.Pool): Promise<Applied[]> {
  const table = await pool.query<{ found: boolean }>(HAS_HISTORY)
  return table.rows[0]?.found === true ? (await pool.query<Applied>(HISTORY)).rows : []
}

function assertKnown(files: readonly Migration[], history: readonly Applied[]): void {
  const names = new Set(files.map(({ name }) => name))
  const unknown = history.find((row) => row.finished_at !== null && !names.has(row.migration_name))
  if (unknown === undefined) return
  throw refusal(
    'migration_unknown',
    `The database has migration ${unknown.migration_name}, which this version of the service does not have. Start a newer version. To go back by one version: NEWER_DATABASE=allowed.`,
  )
}

function unapplied(files: readonly Migration[], history: readonly Applied[]): Migration[] {
  const byName = new Map(files.map((file) => [file.name, file]))
  for (const { migration_name: name, checksum, finished_at: finishedAt } of history) {
    const file = byName.get(name)
    if (finishedAt === null) {
      const sentence = `Migration ${name} failed earlier: resolve it with "npx prisma migrate resolve".`
      throw refusal('migration_failed', sentence)
    }
    if (file !== undefined && file.checksum !== checksum) {
      const sentence = `Migration ${name} was edited after it was applied: restore it and write a new one.`
      throw refusal('migration_edited', sentence)
    }
    byName.delete(name)
  }
  return [...byName.values()]
}

/**
 * A migration that waits for a table makes everyone else wait behind it, also who only reads. So it waits for a short time,
 * lets the others pass, and tries again: a backup or a check of the books has every table until it ends.
 */
async function applyUnlocked(client: pg.Client, file: Migration, locks: Locks): Promise<void> {
  for (let tried = 1; ; tried++) {
    try {
      await apply(client, file, locks.timeoutMs)
      return
    } catch (error) {
      const { cause } = error as DomainError
      if (!(cause instanceof pg.DatabaseError) || cause.code !== LOCK_NOT_AVAILABLE) throw error
      await client.query('rollback')
      if (tried >= locks.tries) throw await stillLocked(client, file)
      await locks.pause()
    }
  }
}

async function stillLocked(client: pg.Client, { name }: Migration): Promise<DomainError> {
  const { rows } = await client.query<{ says: string }>(OLDEST_TRANSACTION)
  const oldest = rows[0] === undefined ? '' : ` The oldest transaction is of ${rows[0].says}.`
  const sentence = `Migration ${name} was undone: others use a table that it changes.${oldest} Wait until a backup or a check has ended, or end it, and run npm run migrate again.`
  return new DomainError('failed', 'migration_failed', sentence)
}

const OLDEST_TRANSACTION = `
select format('process %s (%s), since %s', pid, application_name, xact_start) as says from pg_stat_activity
where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null order by xact_start limit 1`

/** How long a migration waits for a table, and how often. */
interface Locks {
  readonly timeoutMs: number
  readonly tries: number
  pause(): Promise<void>
}

const LOCKS: Locks = { timeoutMs: 3_000, tries: 20, pause: () => delay(1_000) }
const LOCK_NOT_AVAILABLE = '55P03'

/** The migration and its row are one transaction: a failed migration leaves nothing behind and can be retried. */
async function apply(client: pg.Client, { name, sql, checksum }: Migration, lockMs: number): Promise<void> {
  try {
    await client.query('begin')
    await client.query(`set local lock_timeout = ${String(lockMs)}`)
    await client.query(sql)
    await client.query(
      `insert into _prisma_migrations (id, checksum, finished_at, migration_name, applied_steps_count)
       values ($1, $2, clock_timestamp(), $3, 1)`,
      [randomUUID(), checksum, name],
    )
    await client.query('commit')
  } catch (cause) {
    const sentence = `Migration ${name} failed and was undone: ${cause instanceof Error ? cause.message : String(cause)}.`
    throw new DomainError('failed', 'migration_failed', sentence).causedBy(cause)
  }
}

/** When a host has several addresses, Node's error only says that all of them failed. */
function reasonOf(cause: unknown): string {
  if (cause instanceof AggregateError) return cause.errors.map(reasonOf).join(', ')
  return cause instanceof Error ? cause.message : String(cause)
}

function refusal(code: ErrorCode, sentence: string): DomainError {
  return new DomainError('conflict', code, sentence)
}

/** This file runs from `service/database` and, built, from `service/dist/database`. */
function migrationsFolder(): string {
  for (let folder = import.meta.dirname; ; folder = path.dirname(folder)) {
    const found = path.join(folder, 'prisma/migrations')
    if (existsSync(found)) return found
    if (folder === path.dirname(folder)) throw new Error('The folder prisma/migrations is missing next to the service.')
  }
}
