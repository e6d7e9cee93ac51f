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

/** Of an order that has failed. What no other order names waits for one again, until then. */
export async function freeUploads(inside: Statements, saleId: string, until: Date): Promise<void> {
  const freed = await inside.run<{ file_id: string }>(
    'DELETE FROM file_use WHERE subject = $1 RETURNING file_id',
    [saleId],
    'file_free_uses',
  )
  if (freed.length === 0) return
  const ids = freed.map((row) => row.file_id)
  // An order that claims one of them meanwhile is waited for, and then seen.
  await inside.run(
    'SELECT FROM file WHERE id = ANY ($1::text[]) ORDER BY id FOR NO KEY UPDATE',
    [ids],
    'file_free_lock',
  )
  await inside.run(FREE, [ids, until], 'file_free')
}

/** By whether they wait for an order, and whether they are this checkout's. */
const STORED = `
SELECT waits, here, coalesce(sum(bytes), 0)::bigint AS bytes, count(*) AS files
FROM file, LATERAL (
  SELECT NOT EXISTS (SELECT FROM file_use WHERE file_id = file.id) AS waits, checkout_id = $3 AS here
) counted
WHERE user_id = $1 AND environment = $2::environment AND checkout_id IS NOT NULL
  AND (kept_until IS NULL OR kept_until > $4)
GROUP BY 1, 2`

/** The rows stay locked until the transaction ends, so that the sweeper does not remove what is sold. */
const KEEP = `
WITH kept AS (
  UPDATE file SET kept_until = greatest(kept_until, $5),
    promised_until = CASE WHEN $3::text IS NULL THEN greatest(promised_until, $5) ELSE promised_until END
  WHERE checkout_id = $1 AND id = ANY ($2::text[]) AND sha256 IS NOT NULL AND kept_until > $4
  RETURNING id
), used AS (
  INSERT INTO file_use (file_id, subject, current) SELECT id, $3, true FROM kept WHERE $3::text IS NOT NULL
  ON CONFLICT DO NOTHING
)
SELECT id FROM kept`

const FREE = `
UPDATE file SET kept_until = least(kept_until, greatest(promised_until, $2))
WHERE id = ANY ($1::text[]) AND NOT EXISTS (SELECT FROM file_use WHERE file_id = file.id)`

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
