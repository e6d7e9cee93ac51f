import { inTurns } from '../../kit/rows.ts'
import type { StatementPool } from '../../kit/transaction.ts'
import type { CheckoutStore } from '../stores.ts'
import { fromCheckoutRow, type CheckoutRow } from './rows.ts'

type Pauses = Pick<
  CheckoutStore,
  'countMissing' | 'countFailing' | 'forgetMissing' | 'forgetFailing' | 'resume' | 'takeProbes' | 'probeAgain'
>

/** Whether the workflow behind a checkout is there. */
export function pauses(statements: StatementPool): Pauses {
  return {
    async countMissing(inside, id, { most, now, probeAt, simulated }) {
      const [row] = await inside.run<CheckoutRow & { before: string }>(
        COUNT_MISSING,
        [id, most, now, probeAt, simulated],
        'checkout_count_missing',
      )
      return row?.state === 'paused' && row.before === 'active' ? fromCheckoutRow(row) : null
    },

    async countFailing(inside, id, { since, from, now, probeAt }) {
      const [row] = await inside.run<CheckoutRow & { before: string }>(
        COUNT_FAILING,
        [id, now, from, since, probeAt],
        'checkout_count_failing',
      )
      return row?.state === 'paused' && row.before === 'active' ? fromCheckoutRow(row) : null
    },

    async forgetFailing(id) {
      await statements.run(
        'UPDATE checkout SET failing_since = NULL, failing_at = NULL WHERE id = $1 AND failing_since IS NOT NULL',
        [id],
        'checkout_serves',
      )
    },

    async forgetMissing(ids) {
      await statements.run(
        'UPDATE checkout SET missing = 0 WHERE id = ANY($1) AND missing > 0',
        [ids],
        'checkout_there',
      )
    },

    async resume(ids, now) {
      await statements.run(RESUME, [ids, now], 'checkout_resume')
    },

    async takeProbes(now, until, limit) {
      const rows = await statements.run<CheckoutRow>(TAKE_PROBES, [now, until, limit], 'checkout_take_probes')
      return rows.map(fromCheckoutRow)
    },

    async probeAgain(id, at) {
      await statements.run(
        `UPDATE checkout SET probe_at = $2 WHERE id = $1 AND state = 'paused'`,
        [id, at],
        'checkout_probe_again',
      )
    },
  }
}

// A payment that was simulated before test mode was switched off is refused by a workflow that is there.
const COUNT_MISSING = `
WITH held AS (
  SELECT id, state FROM checkout WHERE id = $1 AND state <> 'expired' AND (test_mode OR NOT $5::bool) FOR UPDATE
)
UPDATE checkout c SET missing = c.missing + 1,
  state = CASE WHEN c.missing + 1 >= $2 THEN 'paused'::checkout_state ELSE c.state END,
  paused_at = CASE WHEN c.missing + 1 >= $2 THEN coalesce(c.paused_at, $3) ELSE c.paused_at END,
  probe_at = CASE WHEN c.missing + 1 >= $2 THEN coalesce(c.probe_at, $4) ELSE c.probe_at END
FROM held WHERE c.id = held.id
RETURNING c.*, held.state AS before`

// One error begins to count; those within the window after the one before it go on, until they span the time.
const COUNT_FAILING = `
WITH held AS (
  SELECT id, state, failing_at >= $3::timestamptz AS goes_on,
    failing_at >= $3::timestamptz AND failing_since <= $4::timestamptz AS is_over
  FROM checkout WHERE id = $1 AND state <> 'expired' FOR UPDATE
)
UPDATE checkout c SET missing = 0, failing_at = $2::timestamptz,
  failing_since = CASE WHEN held.goes_on THEN c.failing_since ELSE $2::timestamptz END,
  state = CASE WHEN held.is_over THEN 'paused'::checkout_state ELSE c.state END,
  paused_at = CASE WHEN held.is_over THEN coalesce(c.paused_at, $2::timestamptz) ELSE c.paused_at END,
  probe_at = CASE WHEN held.is_over THEN coalesce(c.probe_at, $5::timestamptz) ELSE c.probe_at END
FROM held WHERE c.id = held.id
RETURNING c.*, held.state AS before`

const RESUME = `
UPDATE checkout SET state = 'active', missing = 0, failing_since = NULL, failing_at = NULL, paused_at = NULL, probe_at = NULL, updated_at = $2
WHERE id = ANY($1) AND state = 'paused'`

const DUE_PROBES = "state = 'paused' AND probe_at <= $1"

const TAKE_PROBES = `
UPDATE checkout SET probe_at = $2
WHERE id IN (${inTurns('checkout', { where: DUE_PROBES, by: 'probe_at' })} LIMIT $3) AND ${DUE_PROBES} RETURNING *`
