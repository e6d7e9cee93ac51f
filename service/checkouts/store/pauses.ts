import { inTurns } from '../../kit/rows.ts'
import type { StatementPool } from '../../kit/transaction.ts'
import type { CheckoutStore } from '../ports.ts'
import { fromCheckoutRow, type CheckoutRow } from './rows.ts'

type Pauses = Pick<CheckoutStore, 'countMissing' | 'forgetMissing' | 'resume' | 'takeProbes' | 'probeAgain'>

/** Whether the workflow behind a checkout is there. */
export function pauses(statements: StatementPool): Pauses {
  return {
    async countMissing(inside, id, { most, now, probeAt }) {
      const [row] = await inside.run<CheckoutRow & { before: string }>(
        COUNT_MISSING,
        [id, most, now, probeAt],
        'checkout_count_missing',
      )
      return row?.state === 'paused' && row.before === 'active' ? fromCheckoutRow(row) : null
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

const COUNT_MISSING = `
WITH held AS (SELECT id, state FROM checkout WHERE id = $1 AND state <> 'expired' FOR UPDATE)
UPDATE checkout c SET missing = c.missing + 1,
  state = CASE WHEN c.missing + 1 >= $2 THEN 'paused'::checkout_state ELSE c.state END,
  paused_at = CASE WHEN c.missing + 1 >= $2 THEN coalesce(c.paused_at, $3) ELSE c.paused_at END,
  probe_at = CASE WHEN c.missing + 1 >= $2 THEN coalesce(c.probe_at, $4) ELSE c.probe_at END
FROM held WHERE c.id = held.id
RETURNING c.*, held.state AS before`

const RESUME = `
UPDATE checkout SET state = 'active', missing = 0, paused_at = NULL, probe_at = NULL, updated_at = $2
WHERE id = ANY($1) AND state = 'paused'`

const DUE_PROBES = "state = 'paused' AND probe_at <= $1"

const TAKE_PROBES = `
UPDATE checkout SET probe_at = $2
WHERE id IN (${inTurns('checkout', { where: DUE_PROBES, by: 'probe_at' })} LIMIT $3) AND ${DUE_PROBES} RETURNING *`
