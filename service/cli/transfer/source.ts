import { existsSync } from 'node:fs'
import path from 'node:path'
import pg from 'pg'
import { startEmbedded } from '../../database/embedded/database.ts'
import { isUpToDate } from '../../database/migrate.ts'
import { refused, type Source, type Sum, type Table } from './model.ts'

export interface OpenSource {
  readonly source: Source
  readonly tables: readonly Table[]
  connect(): Promise<pg.Client>
  close(): Promise<void>
}

/** The embedded database, under the lock that a running service would hold. */
export async function openSource(dataDir: string): Promise<OpenSource> {
  if (!existsSync(path.join(dataDir, 'postgres'))) {
    throw refused(`There is no embedded database in ${dataDir}: set DATA_DIR to its folder.`)
  }
  // Nothing is written there: not by a slip here, and not by its own housekeeping.
  const embedded = await startEmbedded({
    dataDir,
    moved: 'allowed',
    settings: { autovacuum: 'off', default_transaction_read_only: 'on' },
  })
  const connect = (): Promise<pg.Client> => connected(embedded.url)
  try {
    const pool = new pg.Pool({ connectionString: embedded.url, max: 1 })
    // `end` does not wait for the server to hang up, which may itself stop right after.
    pool.on('error', () => undefined)
    // oxlint-disable-next-line typescript/no-misused-promises -- `finally` waits for the promise
    const upToDate = await isUpToDate(pool).finally(() => pool.end())
    if (!upToDate) {
      throw refused(
        `The database in ${dataDir} is of an earlier version: start this one once, stop it, then move the data.`,
      )
    }
    const client = await connect()
    try {
      return {
        source: await readSource(client),
        tables: await readTables(client),
        connect,
        close: () => embedded.stop(),
      }
    } finally {
      await client.end()
    }
  } catch (error) {
    await embedded.stop()
    throw error
  }
}

/** Rows are compared as text: both sides have to write it the same way. */
export async function connected(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name: 'coinslot-move', keepAlive: true })
  // A lost connection fails the statement that is under way, which says so; the event would end the process.
  client.on('error', () => undefined)
  await client.connect()
  await client.query(`SET TimeZone = 'UTC'; SET DateStyle = 'ISO, YMD'; SET IntervalStyle = 'postgres';
    SET bytea_output = 'hex'; SET extra_float_digits = 1; SET client_encoding = 'UTF8'; SET statement_timeout = 0`)
  return client
}

export async function readSource(client: pg.Client): Promise<Source> {
  const { rows } = await client.query<Source>(
    `SELECT (SELECT system_identifier::text FROM pg_control_system()) AS id,
            pg_snapshot_xmax(pg_current_snapshot())::text AS state, (${MIGRATIONS}) AS migrations`,
  )
  const [source] = rows
  if (source === undefined) throw new Error('a SELECT without FROM answers one row')
  return source
}

export const MIGRATIONS = `
SELECT string_agg(migration_name || ' ' || checksum, E'\\n' ORDER BY migration_name COLLATE "C") FROM _prisma_migrations
WHERE rolled_back_at IS NULL AND migration_name <> 'unfinished_move'`

/** What others point at comes before those others. */
async function readTables(client: pg.Client): Promise<Table[]> {
  const { rows } = await client.query<Row>(TABLES)
  const left = new Map(rows.map((row) => [row.name, row]))
  const ordered: Table[] = []
  while (left.size > 0) {
    const ready = [...left.values()].filter(({ leans }) => !leans.some((on) => left.has(on)))
    if (ready.length === 0) throw new Error(`tables that point at each other: ${[...left.keys()].join(', ')}`)
    for (const { name, columns, blocks, bytes } of ready) {
      ordered.push({ name, columns, blocks: Number(blocks), bytes: Number(bytes) })
      left.delete(name)
    }
  }
  return ordered
}

interface Row {
  name: string
  columns: string
  leans: string[]
  blocks: string
  bytes: string
}

const TABLES = `
SELECT c.oid::regclass::text AS name, pg_relation_size(c.oid) / current_setting('block_size')::bigint AS blocks,
       pg_table_size(c.oid) AS bytes,
       (SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) FROM pg_attribute a
        WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '') AS columns,
       ARRAY(SELECT k.confrelid::regclass::text FROM pg_constraint k
             WHERE k.conrelid = c.oid AND k.contype = 'f' AND k.confrelid <> c.oid) AS leans
FROM pg_class c
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND c.relname <> '_prisma_migrations'
ORDER BY c.relname`

export async function sumOf(client: pg.Client, { name, columns }: Table): Promise<Sum> {
  const { rows } = await client.query<Sum>(
    `SELECT count(*)::text AS rows, coalesce(sum(('x' || left(h, 16))::bit(64)::bigint::numeric), 0) || ' ' ||
            coalesce(sum(('x' || right(h, 16))::bit(64)::bigint::numeric), 0) AS sum
     FROM (SELECT md5(ROW(${columns})::text) AS h FROM ${name}) hashed`,
  )
  return rows[0] ?? { rows: '0', sum: '' }
}
