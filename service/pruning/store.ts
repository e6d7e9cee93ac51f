import type { StatementPool } from '../kit/transaction.ts'
import type { KeyType, Retention } from '../kit/tables.ts'
import type { PruningStore } from './ports.ts'

export function createPruningStore(statements: StatementPool): PruningStore {
  return {
    async removeSome(table, retention, before, after) {
      const { key } = retention
      const from = after ?? key.map(([, type]) => LEAST[type])
      // No name: once in ten minutes, and then with the plan for the table as it is.
      const [row] = await statements.together(async (inside) => {
        // What guards rows against being removed (a draw) lets this pass.
        await inside.run(`SELECT set_config('coinslot.pruning', 'on', true)`, [])
        return await inside.run<Looked>(pruneStatement(table, retention), [before, ...from])
      })
      if (row === undefined) return { removed: 0, next: null }
      return { removed: Number(row.removed), next: row.old && Number(row.looked) === STRETCH ? row.last : null }
    },
  }
}

interface Looked {
  removed: bigint
  looked: bigint
  old: boolean
  last: string[]
}

/** Rows looked at by one statement: some milliseconds, during which their locks are held. */
export const STRETCH = 500

const LEAST: Readonly<Record<KeyType, string>> = {
  timestamptz: '-infinity',
  date: '-infinity',
  bigint: '-9223372036854775808',
  text: '',
  bytea: '\\x',
}

/**
 * The oldest rows behind a place, along an index: a look that removes nothing costs as much as any
 * other. Rows that another transaction has locked are left for the next turn. Rejected: `DELETE … WHERE age < …`,
 * which removes a bad week's rows in one statement that holds all their locks, and which with a condition on top reads
 * what has to stay again and again.
 */
export function pruneStatement(table: string, { age, key, unless, among, instead }: Retention): string {
  const columns = key.map(([column]) => `t.${column}`).join(', ')
  const places = key.map(([, type], place) => `$${String(place + 2)}::text::${type}`).join(', ')
  const last = key.map((_, place) => `k${String(place)}::text`).join(', ')
  const named = key.map(([column], place) => `t.${column} AS k${String(place)}`).join(', ')
  const backwards = key.map((_, place) => `k${String(place)} DESC`).join(', ')
  const type = age === 'day' ? '$1::timestamptz::date' : '$1::timestamptz'
  return `
WITH looked AS MATERIALIZED (
  SELECT t.ctid AS place, t.${age} < ${type} AS old, ${named}
  FROM ${table} t WHERE (${columns}) > (${places})${among === undefined ? '' : ` AND ${among}`}
  ORDER BY ${columns} LIMIT ${String(STRETCH)}
), over AS MATERIALIZED (
  SELECT t.ctid AS place FROM ${table} t
  WHERE t.ctid = ANY (ARRAY(SELECT place FROM looked WHERE old))${unless === undefined ? '' : ` AND NOT (${unless})`}
  FOR UPDATE OF t SKIP LOCKED
), gone AS (
  ${instead === undefined ? `DELETE FROM ${table} t` : `UPDATE ${table} t SET ${instead}`}
  WHERE t.ctid = ANY (ARRAY(SELECT place FROM over)) RETURNING 1
)
SELECT (SELECT count(*) FROM gone) AS removed, (SELECT count(*) FROM looked) AS looked, old, ARRAY[${last}] AS last
FROM looked ORDER BY ${backwards} LIMIT 1`
}
