import type { StatementPool } from '../../kit/transaction.ts'
import type { Begun } from '../model.ts'
import { begunOf, type Saying } from './rows.ts'

/**
 * Stores the method of some sales from before it was stored, in the order of their ids. Returns the last id that was looked
 * at, null at the end. A sale that is locked meanwhile is left for another time.
 */
export async function storeMethods(
  statements: StatementPool,
  after: string,
  named: (begun: Begun) => Begun,
): Promise<string | null> {
  const rows = await statements.run<Saying & { id: string }>(NEXT, [after, AT_ONCE], 'sale_methods_next')
  const begun = rows.flatMap((row) => (row.method === null ? [{ id: row.id, ...named(begunOf(row)) }] : []))
  if (begun.length > 0) {
    const values = [begun.map(({ id }) => id), begun.map(({ method }) => method), begun.map((one) => one.facilitator)]
    await statements.run(STORE, values, 'sale_methods_store')
  }
  return rows.length < AT_ONCE ? null : (rows.at(-1)?.id ?? null)
}

const AT_ONCE = 500

const NEXT = `
SELECT id, product, amount, simulated, details, escrow, method, facilitator FROM sale WHERE id > $1 ORDER BY id LIMIT $2`

const STORE = `
WITH begun AS (SELECT * FROM unnest($1::text[], $2::sale_method[], $3::text[]) AS begun (id, method, facilitator)),
unlocked AS (SELECT id FROM sale WHERE id = ANY($1) AND method IS NULL FOR UPDATE SKIP LOCKED)
UPDATE sale s SET method = begun.method, facilitator = begun.facilitator
FROM begun JOIN unlocked USING (id) WHERE s.id = begun.id`
