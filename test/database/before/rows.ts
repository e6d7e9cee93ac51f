import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { migrate } from '../../../service/database/migrate.ts'
import { emptyDatabase } from '../../harness/database.ts'

/** The last migration of the version before sales named their method. */
const BEFORE = '20261127200000_refund_window_promised'
const MIGRATIONS = path.resolve(import.meta.dirname, '../../../prisma/migrations')

/** The address of a database of that version with all rows of this one, once this version has migrated it. */
export async function upgraded(from: string): Promise<string> {
  const folder = mkdtempSync(path.join(tmpdir(), 'coinslot-before-'))
  const database = await emptyDatabase()
  for (const name of readdirSync(MIGRATIONS).filter((each) => each <= BEFORE)) {
    cpSync(path.join(MIGRATIONS, name), path.join(folder, name), { recursive: true })
  }
  await migrate(database.url, folder)
  rmSync(folder, { recursive: true })
  await copyRows(from, database.adminUrl)
  await migrate(database.url)
  return database.url
}

/**
 * Copies every row into a database of an earlier version: the columns that it has. Its triggers and constraints do not judge
 * what the service of that version had stored already.
 */
async function copyRows(from: string, to: string): Promise<void> {
  const [source, target] = [new pg.Client({ connectionString: from }), new pg.Client({ connectionString: to })]
  await Promise.all([source.connect(), target.connect()])
  try {
    await target.query(`SET session_replication_role = replica`)
    const known = await target.query<{ table: string; columns: string[] }>(COLUMNS)
    for (const { table, columns } of known.rows) {
      const { rows } = await source.query<{ all: string | null }>(`SELECT json_agg(t)::text AS all FROM ${table} t`)
      if (rows[0]?.all == null) continue
      const names = columns.map((name) => `"${name}"`).join(', ')
      await target.query(`DELETE FROM ${table}`)
      await target.query(
        `INSERT INTO ${table} (${names}) OVERRIDING SYSTEM VALUE SELECT ${names} FROM json_populate_recordset(null::${table}, $1)`,
        [rows[0].all],
      )
    }
    const sequences = await source.query<{ name: string; last: string | null }>(SEQUENCES)
    for (const { name, last } of sequences.rows) {
      if (last !== null) await target.query(`SELECT setval(to_regclass($1), $2)`, [name, last])
    }
  } finally {
    await Promise.all([source.end(), target.end()])
  }
}

const COLUMNS = `
SELECT quote_ident(table_name) AS table, array_agg(column_name::text ORDER BY ordinal_position) AS columns
FROM information_schema.columns
WHERE table_schema = 'public' AND is_generated = 'NEVER' AND table_name <> '_prisma_migrations'
  AND table_name IN (SELECT tablename FROM pg_tables WHERE schemaname = 'public')
GROUP BY table_name`

const SEQUENCES = `SELECT quote_ident(sequencename) AS name, last_value AS last FROM pg_sequences WHERE schemaname = 'public'`
