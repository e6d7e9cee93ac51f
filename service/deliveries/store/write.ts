import { columnsOf } from '../../kit/rows.ts'
import type { DeliveryStore } from '../ports.ts'

export function writing(): Pick<DeliveryStore, 'add' | 'has'> {
  return {
    async add(inside, rows) {
      const stored = rows.map(({ owner, headers, ...row }) => ({ ...row, ...owner, headers: JSON.stringify(headers) }))
      const added = await inside.run<{ id: string }>(ADD, columnsOf(stored, ...COLUMNS), 'delivery_add')
      return new Set(added.map(({ id }) => id))
    },

    async has(inside, id) {
      return (await inside.run('SELECT FROM delivery WHERE id = $1', [id], 'delivery_has')).length > 0
    },
  }
}

/** In the order of `ADD`. */
const COLUMNS = [
  'id',
  'userId',
  'environment',
  'subject',
  'targetId',
  'url',
  'body',
  'headers',
  'waitMs',
  'keepBytes',
  'onUnconfirmed',
  'createdAt',
  'dueAt',
] as const

// Deliveries may use only the owner's own targets. In this form each row looks its target up by id; with EXISTS, the
// plan of a young database reads all targets first.
export const ADD = `
INSERT INTO delivery (
  id, user_id, environment, subject, target_id, url, body, headers, wait_ms, keep_bytes, on_unconfirmed, due_at, created_at
)
SELECT w.id, w.user_id, w.environment, w.subject, w.target_id, w.url, w.body, w.headers, w.wait_ms, w.keep_bytes,
  w.on_unconfirmed, w.due_at, w.created_at
FROM unnest(
  $1::text[], $2::text[], $3::environment[], $4::text[], $5::text[], $6::text[], $7::text[], $8::jsonb[], $9::int[],
  $10::int[], $11::delivery_on_unconfirmed[], $12::timestamptz[], $13::timestamptz[]
) AS w (
  id, user_id, environment, subject, target_id, url, body, headers, wait_ms, keep_bytes, on_unconfirmed, created_at, due_at
)
WHERE w.target_id IS NULL OR (w.user_id, w.environment) = (
  SELECT t.user_id, t.environment FROM delivery_target t WHERE t.id = w.target_id
)
ON CONFLICT (id) DO NOTHING
RETURNING id`
