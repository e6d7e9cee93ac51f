import { toBytes } from '../kit/rows.ts'
import { HOUR_MS, type Tables } from '../kit/tables.ts'
import type { Statements } from '../kit/transaction.ts'
import type { Owner } from '../kit/owner.ts'
import type { Left, OutflowKind, OutflowStore } from './model.ts'
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
      const row = [id, environment, userId, kind, to === null ? null : toBytes(to), amount, now]
      await inside.run(COUNT, [...row, stepOf(now), sumsOf(owner, kind)], 'outflow_count')
    },

    async giveBack(id, taken, now, inside) {
      const [owner] = await inside.run<Owner>('SELECT environment, user_id AS "userId" FROM outflow WHERE id = $1', [
        id,
      ])
      if (owner === undefined) return false
      // The same lock as the count's: of two that change the same sums none waits for the other in a circle.
      await this.lock(owner, inside)
      const [back] = await inside.run<Back>(GIVE_BACK, [id, taken, now], 'outflow_give_back')
      if (back === undefined) return false
      await inside.run('UPDATE outflow_step SET amount = amount - $3 WHERE account = ANY ($1::text[]) AND step = $2', [
        sumsOf(owner, back.kind),
        stepOf(back.at),
        back.amount,
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

/** The sums that it is part of. What goes to another account has not left the server. */
function sumsOf(owner: Owner, kind: OutflowKind): string[] {
  return kind === 'account' ? [accountOf(owner)] : [accountOf(owner), totalOf(owner)]
}

interface Back {
  amount: bigint
  at: Date
  kind: OutflowKind
}

const LEFT = `
WITH edge AS MATERIALIZED (
  SELECT user_id, kind, amount FROM outflow
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
         + coalesce((SELECT sum(amount) FROM edge WHERE kind <> 'account'), 0))::bigint AS total,
       (SELECT count(*)::int FROM own) AS "ofKind",
       (SELECT min(at) FROM own) AS "oldestOfKind"`

const COUNT = `
WITH counted AS (
  INSERT INTO outflow (id, environment, user_id, kind, recipient, amount, at)
  VALUES ($1, $2::environment, $3, $4, $5, $6::bigint, $7)
)
INSERT INTO outflow_step (account, step, amount) SELECT account, $8, $6::bigint FROM unnest($9::text[]) AS account
ON CONFLICT (account, step) DO UPDATE SET amount = outflow_step.amount + excluded.amount`

/** All that was counted comes back, or what is more than was taken. */
const GIVE_BACK = `
WITH counted AS (
  SELECT id, amount FROM outflow WHERE id = $1 AND returned_at IS NULL AND amount > $2::bigint
)
UPDATE outflow SET returned_at = CASE WHEN $2::bigint = 0 THEN $3::timestamptz END,
  amount = CASE WHEN $2::bigint = 0 THEN outflow.amount ELSE $2::bigint END
FROM counted WHERE outflow.id = counted.id
RETURNING counted.amount - $2::bigint AS amount, outflow.at, outflow.kind`

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
