import type { PoolClient } from 'pg'
import type { Database } from '../../../service/database/client.ts'

/**
 * What the service's connections have prepared, planned as they keep it after five uses: for any values. Names those
 * that read a large table from its beginning to its end.
 */
export async function plansOf({ pool }: Database): Promise<{ statements: number; whole: string[] }> {
  const { rows } = await pool.query<{ name: string }>(
    `SELECT oid::regclass::text AS name FROM pg_class
     WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND reltuples > 5000`,
  )
  const large = new Set(rows.map(({ name }) => name))
  const seen = new Set<string>()
  const whole = new Set<string>()
  const clients: PoolClient[] = []
  try {
    for (let each = 0; each < pool.totalCount; each++) clients.push(await pool.connect())
    for (const client of clients) {
      for (const { name, parameters } of await preparedOn(client)) {
        if (seen.has(name)) continue
        seen.add(name)
        for (const table of await wholeTables(client, name, parameters)) {
          if (large.has(table)) whole.add(`${name} (${table})`)
        }
      }
    }
  } finally {
    for (const client of clients) client.release(true)
  }
  return { statements: seen.size, whole: [...whole] }
}

async function preparedOn(client: PoolClient): Promise<{ name: string; parameters: number }[]> {
  const { rows } = await client.query<{ name: string; parameters: number }>(
    'SELECT name, cardinality(parameter_types)::int AS parameters FROM pg_prepared_statements',
  )
  return rows
}

async function wholeTables(client: PoolClient, name: string, parameters: number): Promise<string[]> {
  await client.query('SET plan_cache_mode = force_generic_plan')
  const values = parameters === 0 ? '' : `(${Array.from({ length: parameters }, () => 'NULL').join(', ')})`
  const { rows } = await client.query<Record<'QUERY PLAN', string>>(`EXPLAIN EXECUTE "${name}"${values}`)
  return rows.flatMap((row) => /Seq Scan on (\w+)/.exec(row['QUERY PLAN'])?.[1] ?? [])
}
