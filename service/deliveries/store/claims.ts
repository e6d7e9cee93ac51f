import type { StatementPool } from '../../kit/transaction.ts'
import type { DeliveryStore, Live } from '../ports.ts'
import { CONFIRM_GRACE_MS } from '../rules/schedule.ts'

/** Claims and redeliveries. */
export function claiming(statements: StatementPool): Pick<DeliveryStore, 'claim' | 'redeliver' | 'stop'> {
  return {
    async claim(owner, id, act, now) {
      const values = [owner.userId, owner.environment, id, act, now, CONFIRM_GRACE_MS]
      const [row] = await statements.run<{ claimed: boolean; known: boolean }>(CLAIM, values, 'delivery_claim')
      if (row === undefined) throw new Error('the claim gave no row')
      return row.known ? row.claimed : null
    },

    async redeliver(inside, { owner, id }, act, dueAt) {
      const values = [owner.userId, owner.environment, id, act, dueAt]
      const [live] = await inside.run<Live>(REDELIVER, values, 'delivery_redeliver')
      return live ?? null
    },

    async stop(inside, id, error) {
      await inside.run(STOP, [id, error], 'delivery_stop')
    },
  }
}

// The row lock decides between any number of callers: a caller that waited for the lock finds the row claimed. What was
// stopped is void, and what is exhausted may be refunded: an attempt that was on its way then must start nothing.
export const CLAIM = `
WITH claimed AS (
  UPDATE delivery SET
    claimed_at = coalesce(claimed_at, $5::timestamptz),
    claimed_by = coalesce(claimed_by, $4::text),
    state = CASE WHEN state = 'pending' THEN 'claimed' ELSE state END,
    due_at = NULL,
    confirm_by = CASE
      WHEN state = 'pending' THEN $5::timestamptz + (wait_ms + $6::int) * interval '1 ms' ELSE confirm_by
    END
  WHERE id = $3 AND user_id = $1 AND environment = $2::environment AND state NOT IN ('stopped', 'exhausted')
    AND (claimed_at IS NULL OR claimed_by = $4::text)
  RETURNING 1
)
SELECT EXISTS (SELECT FROM claimed) AS claimed,
  EXISTS (SELECT FROM delivery WHERE id = $3 AND user_id = $1 AND environment = $2::environment) AS known`

const STOP = `
UPDATE delivery SET state = 'stopped', turn = turn + 1, due_at = NULL, last_error = $2 WHERE id = $1 AND state = 'pending'`

const REDELIVER = `
UPDATE delivery SET
  state = 'pending', turn = turn + 1, place = 0, due_at = $5::timestamptz, redelivered_by = $4::text,
  claimed_at = NULL, claimed_by = NULL, confirm_by = NULL
WHERE id = $3 AND user_id = $1 AND environment = $2::environment AND redelivered_by IS DISTINCT FROM $4::text
RETURNING id, turn, wait_ms AS "waitMs", due_at AS "dueAt"`
