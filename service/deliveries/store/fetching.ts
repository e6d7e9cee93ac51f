import { columnsOf } from '../../kit/rows.ts'
import type { StatementPool } from '../../kit/transaction.ts'
import type { DeliveryStore } from '../ports.ts'

/** Deliveries that their receiver fetches. */
export function fetching(statements: StatementPool): Pick<DeliveryStore, 'unfetched' | 'confirmFetched' | 'replay'> {
  return {
    async unfetched({ userId, environment }, target, limit) {
      const values = [userId, environment, target, limit]
      return await statements.run<{ id: string; turn: number }>(UNFETCHED, values, 'delivery_unfetched')
    },

    async confirmFetched({ userId, environment }, target, handled, now) {
      const values = [
        userId,
        environment,
        target,
        ...columnsOf(handled, 'id', 'status'),
        now,
        handled.map(({ turn }) => turn),
      ]
      await statements.run(CONFIRM, values, 'delivery_confirm_fetched')
    },

    async replay({ userId, environment }, target, { since, dueAt, limit }) {
      const values = [userId, environment, target, since, dueAt, limit]
      return (await statements.run<{ id: string }>(REPLAY, values, 'delivery_replay')).length
    },
  }
}

// An id begins with its time, so this is the order of the events.
const UNFETCHED = `
SELECT d.id, d.turn FROM delivery d
WHERE d.target_id = $3 AND d.state = 'pending' AND d.user_id = $1 AND d.environment = $2::environment
ORDER BY d.id LIMIT $4::int`

const CONFIRM = `
UPDATE delivery d SET state = 'delivered', turn = d.turn + 1, due_at = NULL, confirm_by = NULL, attempts = d.attempts + 1,
  last_status = h.status, last_error = NULL, last_attempt_at = $6::timestamptz, delivered_at = $6::timestamptz
FROM unnest($4::text[], $5::int[], $7::int[]) AS h (id, status, turn)
WHERE d.id = h.id AND d.target_id = $3 AND d.user_id = $1 AND d.environment = $2::environment
  AND d.state IN ('pending', 'claimed') AND d.turn = coalesce(h.turn, d.turn)`

// The newest, where there are too many.
const REPLAY = `
UPDATE delivery SET state = 'pending', turn = turn + 1, place = 0, due_at = $5::timestamptz,
  claimed_at = NULL, claimed_by = NULL, confirm_by = NULL
WHERE id = ANY(ARRAY(
  SELECT d.id FROM delivery d
  WHERE d.target_id = $3 AND d.user_id = $1 AND d.environment = $2::environment
    AND d.created_at >= $4::timestamptz AND d.state IN ('delivered', 'stopped', 'unconfirmed')
  ORDER BY d.id DESC LIMIT $6::int
))
RETURNING id`
