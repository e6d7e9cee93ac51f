import type { StatementPool } from '../../kit/transaction.ts'
import type { Owner } from '../../kit/owner.ts'
import { columnsOf, withOwner } from '../../kit/rows.ts'
import { SEALED_COLUMNS, toSealedSecrets, type SealedRow } from '../../kit/sealed-secrets.ts'
import type { DeliveryStore, Live, Locked, Outgoing } from '../ports.ts'

/**
 * The worker's reads and writes. Everything of one moment is one statement, with arrays of ids. None of these
 * statements is named: a named one would keep the plan that it got in a young database, which reads the whole table for
 * a few ids. Planning each anew costs a fraction of a millisecond per batch.
 */
export function endings(statements: StatementPool): Endings {
  return {
    async load(ids) {
      const rows = await statements.run<OutgoingRow>(LOAD, [ids])
      return new Map(rows.map((row) => [row.id, toOutgoing(row)]))
    },

    async confirm(done) {
      await statements.run(CONFIRM, columnsOf(done, ...ATTEMPT_FIELDS, 'turn', 'target'))
    },

    async lock(inside, ids) {
      const rows = await inside.run<LockedRow>(LOCK, [ids])
      return new Map(rows.map((row) => [row.id, withOwner(row)]))
    },

    async redirect(inside, changes) {
      if (changes.length === 0) return
      const tried = changes.flatMap(({ id, attempt }) => (attempt === null ? [] : [{ id, ...attempt }]))
      const courses = changes.map(({ attempt, error, ...course }) => ({
        ...course,
        tried: attempt !== null,
        at: attempt?.at ?? null,
        status: attempt?.status ?? null,
        error: attempt === null ? error : attempt.error,
      }))
      const values = [...columnsOf(tried, ...ATTEMPT_FIELDS), ...columnsOf(courses, ...COURSE_FIELDS)]
      await inside.run(REDIRECT, values)
    },

    async keep(inside, attempts) {
      await inside.run(KEEP, columnsOf(attempts, ...ATTEMPT_FIELDS))
    },

    async postpone(inside, waits) {
      return await inside.run<Live>(POSTPONE, columnsOf(waits, 'id', 'turn', 'dueAt'))
    },

    async overdueClaims(now, limit) {
      const rows = await statements.run<{ id: string }>(OVERDUE_CLAIMS, [now, limit])
      return rows.map(({ id }) => id)
    },

    async overdueAttempts(inside, dueBefore, now, limit) {
      return await inside.run<Live>(OVERDUE_ATTEMPTS, [dueBefore, now, limit])
    },
  }
}

type Endings = Pick<
  DeliveryStore,
  'load' | 'confirm' | 'lock' | 'redirect' | 'keep' | 'postpone' | 'overdueClaims' | 'overdueAttempts'
>

const LOAD = `
SELECT d.id, d.user_id AS "userId", d.environment, d.subject, d.turn, d.state, d.attempts, coalesce(t.url, d.url) AS url, d.body, d.headers,
  d.wait_ms AS "waitMs", d.keep_bytes AS "keepBytes", d.target_id AS "targetId", t.status = 'enabled' AS open, 
  ${SEALED_COLUMNS}
FROM delivery d LEFT JOIN delivery_target t ON t.id = d.target_id
WHERE d.id = ANY($1::text[])`

/** In the order of `ATTEMPTS` and `REDIRECT`. */
const ATTEMPT_FIELDS = ['id', 'at', 'durationMs', 'status', 'error', 'answer'] as const
const COURSE_FIELDS = ['id', 'state', 'place', 'dueAt', 'reopened', 'tried', 'at', 'status', 'error'] as const

const ATTEMPTS = `unnest($1::text[], $2::timestamptz[], $3::int[], $4::int[], $5::text[], $6::text[])
    AS a (id, at, duration_ms, status, error, answer)`

const KEPT = `
  INSERT INTO delivery_attempt (delivery_id, at, duration_ms, status, error, answer)
  SELECT id, at, duration_ms, status, error, answer FROM ${ATTEMPTS}`

const ENDS = "a.turn = d.turn AND d.state IN ('pending', 'claimed')"

/*
 * The usual end of a delivery, in one statement. An attempt whose turn is over is stored and counted, and changes
 * nothing else. A target's row is updated only if it had failed before; otherwise it would be rewritten a thousand
 * times a second.
 */
const CONFIRM = `
WITH kept AS (${KEPT}),
healed AS (
  UPDATE delivery_target SET failing_since = NULL
  WHERE id = ANY($8::text[]) AND failing_since IS NOT NULL
)
UPDATE delivery d SET
  attempts = d.attempts + 1,
  last_attempt_at = a.at,
  last_status = a.status,
  last_error = a.error,
  state = CASE WHEN ${ENDS} THEN 'delivered' ELSE d.state END,
  due_at = CASE WHEN ${ENDS} THEN NULL ELSE d.due_at END,
  delivered_at = CASE WHEN ${ENDS} THEN a.at + a.duration_ms * interval '1 ms' ELSE d.delivered_at END
FROM unnest($1::text[], $2::timestamptz[], $3::int[], $4::int[], $5::text[], $7::int[])
    AS a (id, at, duration_ms, status, error, turn)
WHERE d.id = ANY($1::text[]) AND d.id = a.id`

// In the order of their ids, so that two of these statements never deadlock.
const LOCK = `
SELECT id, user_id AS "userId", environment, subject, target_id AS target, turn, state, place,
  on_unconfirmed AS "onUnconfirmed", wait_ms AS "waitMs"
FROM delivery WHERE id = ANY($1::text[]) ORDER BY id FOR UPDATE`

const REDIRECT = `
WITH kept AS (${KEPT})
UPDATE delivery d SET
  state = c.state,
  place = c.place,
  due_at = c.due_at,
  turn = d.turn + 1,
  claimed_at = CASE WHEN c.reopened THEN NULL ELSE d.claimed_at END,
  claimed_by = CASE WHEN c.reopened THEN NULL ELSE d.claimed_by END,
  confirm_by = NULL,
  attempts = d.attempts + c.tried::int,
  last_attempt_at = coalesce(c.at, d.last_attempt_at),
  last_status = CASE WHEN c.tried THEN c.status ELSE d.last_status END,
  last_error = CASE WHEN c.tried THEN c.error ELSE coalesce(c.error, d.last_error) END
FROM unnest(
    $7::text[], $8::delivery_state[], $9::int[], $10::timestamptz[], $11::bool[], $12::bool[], $13::timestamptz[],
    $14::int[], $15::text[]
  ) AS c (id, state, place, due_at, reopened, tried, at, status, error)
WHERE d.id = ANY($7::text[]) AND d.id = c.id`

const KEEP = `
WITH kept AS (${KEPT})
UPDATE delivery SET attempts = attempts + 1 WHERE id = ANY($1::text[])`

const POSTPONE = `
UPDATE delivery d SET turn = d.turn + 1, due_at = w.due_at
FROM unnest($1::text[], $2::int[], $3::timestamptz[]) AS w (id, turn, due_at)
WHERE d.id = ANY($1::text[]) AND d.id = w.id AND d.turn = w.turn AND d.state = 'pending'
RETURNING d.id, d.turn, d.wait_ms AS "waitMs", d.due_at AS "dueAt"`

const OVERDUE_CLAIMS = `
SELECT id FROM delivery WHERE state = 'claimed' AND confirm_by <= $1::timestamptz ORDER BY confirm_by LIMIT $2::int`

const OVERDUE_ATTEMPTS = `
UPDATE delivery SET turn = turn + 1, due_at = $2::timestamptz
WHERE id = ANY(ARRAY(
  SELECT id FROM delivery
  WHERE state = 'pending' AND due_at <= $1::timestamptz
  ORDER BY due_at LIMIT $3::int FOR UPDATE SKIP LOCKED
))
RETURNING id, turn, wait_ms AS "waitMs", due_at AS "dueAt"`

/** Of a delivery without a target, the target's columns are null. */
interface OutgoingRow extends Omit<Outgoing, 'owner' | 'target'>, Owner {
  targetId: string | null
  open: boolean | null
  sealed: string | null
  previousSealed: string | null
  previousExpiresAt: Date | null
  earlierSealed: SealedRow['earlierSealed'] | null
}

function toOutgoing(row: OutgoingRow): Outgoing {
  const { targetId, open, sealed, previousSealed, previousExpiresAt, earlierSealed, ...delivery } = withOwner(row)
  if (targetId === null || sealed === null) return { ...delivery, target: null }
  const secrets = toSealedSecrets({ sealed, previousSealed, previousExpiresAt, earlierSealed: earlierSealed ?? [] })
  return { ...delivery, target: { id: targetId, open: open === true, secrets } }
}

type LockedRow = Omit<Locked, 'owner'> & Owner
