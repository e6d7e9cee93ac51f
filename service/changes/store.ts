import type { Statements } from '../kit/transaction.ts'
import { KINDS, type ChangeStore, type Kind } from './model.ts'

/** SQL of each kind, from the capabilities whose tables show it. */
export type Changes = Readonly<Record<Kind, readonly string[]>>

/**
 * Reads nothing else of any table than whether a row is the same as before. Of each kind the newest rows are looked at,
 * found by the index of their list: a page shows twenty, and what still moves is new.
 */
export function createChangeStore(statements: Statements, changes: Changes): ChangeStore {
  const text = statementOf(changes)
  return {
    async marks(owners) {
      // Planned anew each time, for a few milliseconds: a plan that is kept from a young database reads whole tables.
      const rows = await statements.run<Record<string, string>>(text, [
        owners.map(({ userId }) => userId),
        owners.map(({ environment }) => environment),
      ])
      return rows.map((row) => KINDS.map((kind) => row[kind] ?? ''))
    },
  }
}

function statementOf(changes: Changes): string {
  const kinds = KINDS.map((kind) => `left(md5(concat_ws('|', ${changes[kind].join(', ')})), 12) AS ${kind}`)
  return `
SELECT ${kinds.join(',\n')}
FROM unnest($1::text[], $2::environment[]) WITH ORDINALITY AS o(user_id, environment, place)
ORDER BY o.place`
}
