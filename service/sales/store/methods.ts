import type { StatementPool } from '../../kit/transaction.ts'
import type { PaymentMethod } from '../model.ts'
import { methodOfRow, type MethodRow } from './rows.ts'

/**
 * Stores the method of some sales from before it was stored, in the order of their ids. Returns the id after which the next
 * time goes on, null at the end. A sale that is locked meanwhile is looked at again then.
 */
export async function storeMethods(
  statements: StatementPool,
  after: string,
  complete: (method: PaymentMethod) => PaymentMethod,
): Promise<string | null> {
  const rows = await statements.run<MethodRow & { id: string }>(NEXT, [after, AT_ONCE], 'sale_methods_next')
  const found = rows.flatMap((row) => (row.method === null ? [{ id: row.id, ...complete(methodOfRow(row)) }] : []))
  if (found.length > 0) {
    const values = [found.map(({ id }) => id), found.map(({ method }) => method), found.map((one) => one.facilitator)]
    const stored = await statements.run<{ id: string }>(STORE, values, 'sale_methods_store')
    const done = new Set(stored.map(({ id }) => id))
    const locked = found.find(({ id }) => !done.has(id))
    if (locked !== undefined) return rows.findLast(({ id }) => id < locked.id)?.id ?? after
  }
  return rows.length < AT_ONCE ? null : (rows.at(-1)?.id ?? null)
}

const AT_ONCE = 500

const NEXT = `
SELECT id, product, amount, simulated, details, escrow, method, facilitator FROM sale WHERE id > $1 ORDER BY id LIMIT $2`

const STORE = `
WITH found AS (SELECT * FROM unnest($1::text[], $2::sale_method[], $3::text[]) AS found (id, method, facilitator)),
unlocked AS (SELECT id FROM sale WHERE id = ANY($1) AND method IS NULL FOR UPDATE SKIP LOCKED)
UPDATE sale s SET method = found.method, facilitator = found.facilitator
FROM found JOIN unlocked USING (id) WHERE s.id = found.id RETURNING s.id`
