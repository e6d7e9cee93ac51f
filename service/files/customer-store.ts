import type { Owner } from '../kit/owner.ts'
import type { Statements } from '../kit/transaction.ts'
import { tooManyUploads } from './errors.ts'
import type { RoomLimits } from './model.ts'
import type { KeptUploads } from './ports.ts'
import { hasCustomerRoom } from './rules.ts'

/*
 * What customers upload into forms, in the tables of the other files.
 */

/** Uploads that are under way count too. What waits for a sale leaves room for what is sold. */
export async function assertCustomerRoom(
  inside: Statements,
  { owner, checkoutId, bytes, now }: Wanted,
  limits: RoomLimits,
): Promise<void> {
  const account = JSON.stringify(['customer files', owner.userId, owner.environment])
  await inside.run('SELECT pg_advisory_xact_lock(hashtextextended($1, 14))', [account], 'file_customer_lock')
  const values = [owner.userId, owner.environment, checkoutId, now]
  const rows = await inside.run<Stored>(STORED, values, 'file_customer_sum')
  const stored = rows.map((row) => ({ ...row, bytes: Number(row.bytes), files: Number(row.files) }))
  if (!hasCustomerRoom(stored, bytes, limits)) throw tooManyUploads()
}

export async function keepUploads(inside: Statements, uploads: KeptUploads): Promise<string[]> {
  const { checkoutId, ids, saleId, now, until } = uploads
  const stored = await inside.run<{ id: string }>(KEEP, [checkoutId, ids, saleId, now, until], 'file_keep')
  return stored.map(({ id }) => id)
}

/** By whether they wait for a sale, and whether they are this checkout's. */
const STORED = `
SELECT sale_id IS NULL AS waits, checkout_id = $3 AS here, coalesce(sum(bytes), 0)::bigint AS bytes, count(*) AS files
FROM file
WHERE user_id = $1 AND environment = $2::environment AND checkout_id IS NOT NULL
  AND (kept_until IS NULL OR kept_until > $4)
GROUP BY 1, 2`

/** The rows stay locked until the transaction ends, so that the sweeper does not remove what is sold. */
const KEEP = `
UPDATE file SET kept_until = greatest(kept_until, $5), sale_id = coalesce(sale_id, $3)
WHERE checkout_id = $1 AND id = ANY ($2::text[]) AND sha256 IS NOT NULL AND kept_until > $4
RETURNING id`

interface Stored {
  waits: boolean
  here: boolean
  bytes: bigint | number
  files: bigint | number
}

interface Wanted {
  owner: Owner
  checkoutId: string
  bytes: number
  now: Date
}
