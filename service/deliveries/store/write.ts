import type { DeliveryRow, DeliveryStore } from '../ports.ts'

export function writing(): Pick<DeliveryStore, 'add' | 'has'> {
  return {
    async add(inside, rows) {
      const added = await inside.run<{ id: string }>(ADD, toColumns(rows), 'delivery_add')
      return new Set(added.map(({ id }) => id))
    },

    async has(inside, id) {
      return (await inside.run('SELECT FROM delivery WHERE id = $1', [id], 'delivery_has')).length > 0
    },
  }
}

function toColumns(rows: readonly DeliveryRow[]): unknown[] {
  return [
    rows.map(({ id }) => id),
    rows.map(({ owner }) => owner.userId),
    rows.map(({ owner }) => owner.environment),
    rows.map(({ subject }) => subject),
    rows.map(({ targetId }) => targetId),
    rows.map(({ url }) => url),
    rows.map(({ body }) => body),
    rows.map(({ headers }) => JSON.stringify(headers)),
    rows.map(({ waitMs }) => waitMs),
    rows.map(({ keepBytes }) => keepBytes),
    rows.map(({ onUnconfirmed }) => onUnconfirmed),
    rows.map(({ createdAt }) => createdAt),
  ]
}

// Nobody writes to somebody else's target, whatever id they were given. Asked like this each row looks its target up
// by its id; with EXISTS the plan of a young database reads all targets first.
export const ADD = `
INSERT INTO delivery (
  id, user_id, environment, subject, target_id, url, body, headers, wait_ms, keep_bytes, on_unconfirmed, due_at, created_at
)
SELECT w.id, w.user_id, w.environment, w.subject, w.target_id, w.url, w.body, w.headers, w.wait_ms, w.keep_bytes,
  w.on_unconfirmed, w.created_at, w.created_at
FROM unnest(
  $1::text[], $2::text[], $3::environment[], $4::text[], $5::text[], $6::text[], $7::text[], $8::jsonb[], $9::int[],
  $10::int[], $11::delivery_on_unconfirmed[], $12::timestamptz[]
) AS w (
  id, user_id, environment, subject, target_id, url, body, headers, wait_ms, keep_bytes, on_unconfirmed, created_at
)
WHERE w.target_id IS NULL OR (w.user_id, w.environment) = (
  SELECT t.user_id, t.environment FROM delivery_target t WHERE t.id = w.target_id
)
ON CONFLICT (id) DO NOTHING
RETURNING id`
