import { toBytes } from '../kit/rows.ts'
import { HOUR_MS, type Tables } from '../kit/tables.ts'
import type { Statements } from '../kit/transaction.ts'
import type { Owner } from '../kit/owner.ts'
import type { Left } from './model.ts'
import type { OutflowStore } from './model.ts'
import { STEP_MS, stepOf } from './rules.ts'

/** Rows of what left, and their sums by steps of time, in PostgreSQL. */
export function createOutflowStore(statements: Statements): OutflowStore {
  return {
    async lock({ environment }, inside) {
      await inside.run(`SELECT pg_advisory_xact_lock(hashtextextended('outflow ' || $1, 0))`, [environment])
    },

    async leftSince({ owner, kind }, since, inside = statements) {
      const { environment, userId } = owner
      // The first whole step; what left between `since` and there is read row by row.
      const whole = stepOf(new Date(since.getTime() + STEP_MS))
      const [row] = await inside.run<Left>(
        LEFT,
        [environment, userId, since, whole, accountOf(owner), totalOf(owner), kind],
        'outflow_left',
      )
      if (row === undefined) throw new Error('the sums of what left gave no row')
      return row
    },

    async isCounted(id, inside) {
      return (await inside.run('SELECT 1 FROM outflow WHERE id = $1', [id], 'outflow_counted')).length > 0
    },

    async count({ id, owner, kind, to, amount }, now, inside) {
      const { environment, userId } = owner
      const row = [id, environment, userId, kind, toBytes(to), amount, now]
      await inside.run(COUNT, [...row, stepOf(now), accountOf(owner), totalOf(owner)], 'outflow_count')
    },

    async giveBack(id, now, inside) {
      const [owner] = await inside.run<Owner>('SELECT environment, user_id AS "userId" FROM outflow WHERE id = $1', [
        id,
      ])
      if (owner === undefined) return false
      // The same lock as the count's: of two that change the same sums none waits for the other in a circle.
      await this.lock(owner, inside)
      const [gone] = await inside.run<{ amount: bigint; at: Date }>(
        'UPDATE outflow SET returned_at = $2 WHERE id = $1 AND returned_at IS NULL RETURNING amount, at',
        [id, now],
      )
      if (gone === undefined) return false
      await inside.run('UPDATE outflow_step SET amount = amount - $3 WHERE account = ANY ($1::text[]) AND step = $2', [
        [accountOf(owner), totalOf(owner)],
        stepOf(gone.at),
        gone.amount,
      ])
      return true
    },

    async isPaused(inside = statements) {
      const [row] = await inside.run<{ paused: boolean }>('SELECT paused FROM outflow_switch', [], 'outflow_paused')
      return row?.paused ?? false
    },

    async setPaused(paused, now) {
      await statements.run(
        `INSERT INTO outflow_switch (paused, changed_at) VALUES ($1, $2)
         ON CONFLICT (one) DO UPDATE SET paused = excluded.paused, changed_at = excluded.changed_at`,
        [paused, now],
      )
    },
  }
}

function accountOf({ environment, userId }: Owner): string {
  return `${environment}/${userId}`
}

/** No account has this name: a user's id is not empty. */
function totalOf({ environment }: Owner): string {
  return `${environment}/`
}

const LEFT = `
WITH edge AS MATERIALIZED (
  SELECT user_id, amount FROM outflow
  WHERE environment = $1::environment AND at > $3 AND at < $4 AND returned_at IS NULL
), own AS MATERIALIZED (
  SELECT at FROM outflow
  WHERE environment = $1::environment AND user_id = $2 AND kind = $7 AND at > $3
), steps AS MATERIALIZED (
  SELECT account, sum(amount) AS amount FROM outflow_step WHERE account IN ($5, $6) AND step >= $4 GROUP BY 1
)
SELECT (coalesce((SELECT amount FROM steps WHERE account = $5), 0)
         + coalesce((SELECT sum(amount) FROM edge WHERE user_id = $2), 0))::bigint AS account,
       (coalesce((SELECT amount FROM steps WHERE account = $6), 0)
         + coalesce((SELECT sum(amount) FROM edge), 0))::bigint AS total,
       (SELECT count(*)::int FROM own) AS "ofKind",
       (SELECT min(at) FROM own) AS "oldestOfKind"`

const COUNT = `
WITH counted AS (
  INSERT INTO outflow (id, environment, user_id, kind, recipient, amount, at)
  VALUES ($1, $2::environment, $3, $4, $5, $6::bigint, $7)
)
INSERT INTO outflow_step (account, step, amount) VALUES ($9, $8, $6::bigint), ($10, $8, $6::bigint)
ON CONFLICT (account, step) DO UPDATE SET amount = outflow_step.amount + excluded.amount`

export const outflowTables: Tables = {
  retention: () => ({
    outflow: {
      // A day counts; what left before that is in the books.
      keptMs: 26 * HOUR_MS,
      age: 'at',
      key: [
        ['at', 'timestamptz'],
        ['id', 'text'],
      ],
      says: 'What left, for the limits of a day. The withdrawal, the payment and its postings stay.',
    },
    outflow_step: {
      keptMs: 26 * HOUR_MS,
      age: 'step',
      key: [
        ['step', 'timestamptz'],
        ['account', 'text'],
      ],
      says: 'Sums of what left, for the limits of a day.',
    },
    outflow_switch: { kept: 'one for each server' },
  }),
}
