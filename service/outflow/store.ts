import { toBytes } from '../kit/rows.ts'
import { HOUR_MS, type Tables } from '../kit/tables.ts'
import type { Statements } from '../kit/transaction.ts'
import type { Owner } from '../kit/owner.ts'
import { KINDS, type Left, type OutflowKind, type OutflowStore } from './model.ts'
import { isInTotal, STEP_MS, stepOf } from './rules.ts'

/** Rows of what left, and their sums by steps of time, in PostgreSQL. */
export function createOutflowStore(statements: Statements): OutflowStore {
  return {
    async lock({ owner, kind }, inside) {
      await inside.run(LOCK, [locksOf(owner, kind)], 'outflow_lock')
    },

    async leftSince({ id, owner, kind, numbered }, since, inside = statements) {
      const { environment, userId } = owner
      // The first whole step; what left between `since` and there is read row by row.
      const whole = stepOf(new Date(since.getTime() + STEP_MS))
      const times = [since, whole]
      const asks = [isInTotal(kind), numbered]
      const [row] = await inside.run<Left>(
        LEFT,
        [environment, userId, ...times, accountOf(owner), totalOf(owner), kind, ...asks, id],
        'outflow_left',
      )
      if (row === undefined) throw new Error('the sums of what left gave no row')
      return row
    },

    async count({ id, owner, kind, to, amount }, now, inside) {
      const { environment, userId } = owner
      const row = [id, environment, userId, kind, to === null ? null : toBytes(to), amount, now]
      await inside.run(COUNT, [...row, stepOf(now), sumsOf(owner, kind)], 'outflow_count')
    },

    async giveBack(id, taken, now, inside) {
      const [of] = await inside.run<Owner & { kind: OutflowKind }>(
        'SELECT environment, user_id AS "userId", kind FROM outflow WHERE id = $1',
        [id],
      )
      if (of === undefined) return false
      const { kind, ...owner } = of
      // The same lock as the count's: of two that change the same sums none waits for the other in a circle.
      await this.lock({ owner, kind }, inside)
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

/** The sums that it is part of. */
function sumsOf(owner: Owner, kind: OutflowKind): string[] {
  return isInTotal(kind) ? [accountOf(owner), totalOf(owner)] : [accountOf(owner)]
}

/** What does not count in the total locks its own account only. The version before this one takes the first lock, too. */
function locksOf(owner: Owner, kind: OutflowKind): string[] {
  const account = `outflow ${accountOf(owner)}`
  return isInTotal(kind) ? [`outflow ${owner.environment}`, account] : [account]
}

interface Back {
  amount: bigint
  at: Date
  kind: OutflowKind
}

const LOCK = 'SELECT pg_advisory_xact_lock(hashtextextended(name, 0)) FROM unnest($1::text[]) AS name'

// Each kind is named, so that the account's rows of the partial step are found by their index.
const LEFT = `
SELECT (coalesce((SELECT sum(amount) FROM outflow_step WHERE account = $5 AND step >= $4), 0)
         + coalesce((SELECT sum(amount) FROM outflow
             WHERE environment = $1::environment AND user_id = $2 AND kind IN (${KINDS.map((kind) => `'${kind}'`).join(', ')})
               AND at > $3 AND at < $4 AND returned_at IS NULL), 0))::bigint AS account,
       CASE WHEN $8::boolean THEN coalesce((SELECT sum(amount) FROM outflow_step WHERE account = $6 AND step >= $4), 0)
         + coalesce((SELECT sum(amount) FROM outflow
             WHERE environment = $1::environment AND at > $3 AND at < $4 AND kind <> 'account' AND returned_at IS NULL), 0)
         ELSE 0 END::bigint AS total,
       CASE WHEN $9::boolean THEN (SELECT count(*) FROM outflow
         WHERE environment = $1::environment AND user_id = $2 AND kind = $7 AND at > $3) ELSE 0 END::int AS "ofKind",
       CASE WHEN $9::boolean THEN (SELECT min(at) FROM outflow
         WHERE environment = $1::environment AND user_id = $2 AND kind = $7 AND at > $3) END AS "oldestOfKind",
       EXISTS (SELECT FROM outflow WHERE id = $10) AS "isCounted",
       coalesce((SELECT paused FROM outflow_switch), false) AS "isPaused"`

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
