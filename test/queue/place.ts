import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import pg from 'pg'
import type { Statements } from '../../service/kit/transaction.ts'

/** A database of its own. */
export interface Place {
  connectionString: string
  statements: Statements
  pool: pg.Pool
  close(): Promise<void>
}

const SERVER = 'postgres://postgres@127.0.0.1:55432'

export async function openPlace(): Promise<Place> {
  const name = `queue_${randomBytes(6).toString('hex')}`
  const admin = new pg.Client({ connectionString: `${SERVER}/postgres` })
  await admin.connect()
  await admin.query(`CREATE DATABASE ${name}`)
  const connectionString = `${SERVER}/${name}`
  const pool = new pg.Pool({ connectionString, max: 10 })
  pool.on('error', () => undefined)
  await pool.query(await readFile('/tmp/briefs/queue.sql', 'utf8'))
  return {
    connectionString,
    pool,
    statements: statementsOf(pool),
    async close() {
      await pool.end()
      await admin.query(`DROP DATABASE ${name} WITH (FORCE)`)
      await admin.end()
    },
  }
}

export function statementsOf(runner: Pick<pg.Pool, 'query'> | pg.PoolClient): Statements {
  return {
    async run<Row>(text: string, values: readonly unknown[], name?: string): Promise<Row[]> {
      const { rows } = await runner.query({ text, values: [...values], ...(name === undefined ? {} : { name }) })
      return rows as Row[]
    },
  }
}
