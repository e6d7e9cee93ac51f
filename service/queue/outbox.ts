import type { Clock } from '../kit/clock.ts'
import type { Step, Tracer } from '../kit/tracer.ts'
import type { Statements } from '../kit/transaction.ts'
import { causeHere, withCause, withoutCause, type Cause } from './cause.ts'
import { PACE, type Announcement, type Job, type JsonObject, type Outbox, type Turns } from './model.ts'

/** `announced` is called immediately, before the commit, so the rows cannot be found yet. */
export function createOutbox(clock: Clock, announced?: () => void, tracer: Tracer | null = null): Outbox {
  async function write(statements: Statements, announcements: readonly Announcement[], now: Date): Promise<void> {
    const cause = causeHere(tracer)
    await statements.run(
      ADD,
      [
        announcements.map(({ topic }) => topic),
        announcements.map(({ payload }) => JSON.stringify(withCause(payload, cause))),
        announcements.map(({ dueAt }) => dueAt ?? now),
        now,
        announcements.map(({ turn }) => turn?.account ?? ''),
        announcements.map(({ turn }) => turn?.target ?? ''),
      ],
      'outbox_add',
    )
  }

  return {
    async add(statements, announcements) {
      if (announcements.length === 0) return
      const now = clock.now()
      if (tracer === null) await write(statements, announcements, now)
      else await tracer.within(toStep(announcements), () => write(statements, announcements, now))
      if (announcements.some(({ dueAt }) => dueAt === undefined || dueAt <= now)) announced?.()
    },
  }
}

function toStep(announcements: readonly Announcement[]): Step {
  const topics = [...new Set(announcements.map(({ topic }) => topic))].join(' ')
  return {
    name: `announce ${topics}`,
    kind: 'producer',
    attributes: { 'messaging.destination.name': topics, 'messaging.batch.message_count': announcements.length },
  }
}

export interface LeasedJob extends Job {
  topic: string
}

export interface Row extends Job {
  topic: string
  payload: JsonObject
  announcedAt: Date
  /** Neither done nor failed for good. */
  open: boolean
  /** The request or job that made the announcement. */
  cause: Cause | undefined
}

export interface Failure {
  job: Job
  error: string
  /** Null: no more attempts, the row is dead. */
  dueAt: Date | null
}

interface Census {
  oldestDue: Date | null
  oldestUnleased: Date | null
  dead: number
}

/** The relay's access to the table. All times come from the callers' clocks, which must agree to about a second. */
export function outboxRows(statements: Statements) {
  return {
    async lease(topics: readonly string[], { window, now, until }: LeaseWindow): Promise<LeasedJob[]> {
      return statements.run<LeasedJob>(LEASE, [topics, window, now, until], 'outbox_lease')
    },
    /** The same for topics whose accounts take turns. */
    async leaseInTurns(topics: readonly InTurns[], { window, now, until }: LeaseWindow): Promise<LeasedJob[]> {
      const columns = [
        topics.map(({ topic }) => topic),
        topics.map(({ turns }) => turns.perAccount),
        topics.map(({ turns }) => turns.perTarget ?? null),
      ]
      return statements.run<LeasedJob>(LEASE_IN_TURNS, [...columns, window, now, until], 'outbox_lease_in_turns')
    },
    /** Only rows that are still leased: the caller may not know yet that a job has just ended. */
    async renew(jobs: readonly Job[], until: Date): Promise<void> {
      await statements.run(RENEW, [...columnsOf(jobs), until], 'outbox_renew')
    },
    async load(ids: readonly string[]): Promise<Map<string, Row>> {
      const rows = await statements.run<Omit<Row, 'cause'>>(LOAD, [ids], 'outbox_load')
      return new Map(rows.map((row) => [row.id, { ...row, ...withoutCause(row.payload) }]))
    },
    async acknowledge(jobs: readonly Job[], now: Date): Promise<void> {
      await statements.run(DONE, [...columnsOf(jobs), now], 'outbox_done')
    },
    async postpone(failures: readonly Failure[], now: Date): Promise<void> {
      const columns = [
        ...columnsOf(failures.map(({ job }) => job)),
        failures.map(({ error }) => error),
        failures.map(({ dueAt }) => dueAt),
        now,
      ]
      await statements.run(POSTPONE, columns, 'outbox_postpone')
    },
    async giveBack(jobs: readonly Job[]): Promise<void> {
      await statements.run(GIVE_BACK, columnsOf(jobs), 'outbox_give_back')
    },
    async prune(doneBefore: Date): Promise<number> {
      return (await statements.run(PRUNE, [doneBefore])).length
    },
    async census(now: Date): Promise<Census> {
      const [row] = await statements.run<Census>(CENSUS, [now])
      return row ?? { oldestDue: null, oldestUnleased: null, dead: 0 }
    },
  }
}

export type OutboxRows = ReturnType<typeof outboxRows>

export interface InTurns {
  topic: string
  turns: Turns
}

/** How many due rows of each topic are considered, and until when they are leased. */
export interface LeaseWindow {
  window: number
  now: Date
  until: Date
}

function columnsOf(jobs: readonly Job[]): [ids: string[], attempts: number[]] {
  return [jobs.map(({ id }) => id), jobs.map(({ attempt }) => attempt)]
}

const OPEN = 'done_at IS NULL AND failed_at IS NULL'

/*
 * The same condition for rows named by id. In this form it does not match the relay's partial index. After a quiet hour
 * the planner's statistics make that index look nearly empty, and the planner would read it, and so the whole backlog,
 * from end to end for each acknowledgement. For the same reason ids are passed as arrays: joined to the subquery that
 * finds them, a lease of 1,000 out of 20,000 rows took 2.9 s; this one takes 8 ms.
 */
const STILL_OPEN = 'coalesce(outbox.done_at, outbox.failed_at) IS NULL'

const ADD = `
INSERT INTO outbox (topic, payload, due_at, created_at, account, target)
SELECT topic, payload, due_at, $4::timestamptz, account, target
FROM unnest($1::text[], $2::jsonb[], $3::timestamptz[], $5::text[], $6::text[]) AS a(topic, payload, due_at, account, target)`

/*
 * The window is a limited number of the oldest due rows of each topic, leased or not. The rows in it that are not
 * leased are taken. So no topic's backlog blocks another topic, and the backend never has more than one window of a
 * topic. Rejected: an index on greatest(due_at, leased_until), which finds the free rows directly but turns each lease
 * into an index write (this one is a HOT update); and due_at itself as the lease, which loses the time since which the
 * row has been waiting.
 */
const LEASE = `
WITH taken AS MATERIALIZED (
  SELECT id FROM outbox
  WHERE id = ANY(ARRAY(
    SELECT seen.id
    FROM unnest($1::text[]) AS wanted(topic)
    CROSS JOIN LATERAL (
      SELECT id, leased_until FROM outbox
      WHERE outbox.topic = wanted.topic AND ${OPEN} AND due_at <= $3::timestamptz
      ORDER BY due_at, id LIMIT $2::int
    ) AS seen
    WHERE seen.leased_until IS NULL OR seen.leased_until <= $3::timestamptz
  ))
  FOR UPDATE SKIP LOCKED
)
UPDATE outbox SET leased_until = $4::timestamptz
WHERE id = ANY(ARRAY(SELECT id FROM taken))
  AND ${STILL_OPEN} AND (leased_until IS NULL OR leased_until <= $3::timestamptz)
RETURNING id::text AS id, topic, attempt`

/*
 * Accounts take turns. A limited number of each account's oldest due rows, leased or not, is considered, and every
 * account's first row comes before any account's second. Of these a limited number for each target is taken, again in
 * turns, so that no account fills a target's places with rows that have to wait for their own account. Where a topic has no
 * more due rows than fit into a lease, these name the accounts, so that accounts whose rows are due later cost nothing.
 * Otherwise the query walks from account to account along an index, so a million rows of one account cost no more than its
 * first few. Two relays at the same moment consider the same rows, and each row goes to one of them.
 */
const LEASE_IN_TURNS = `
WITH RECURSIVE wanted AS MATERIALIZED (
  SELECT * FROM unnest($1::text[], $2::int[], $3::int[]) AS w(topic, per_account, per_target)
), due AS MATERIALIZED (
  SELECT wanted.topic, oldest.account FROM wanted
  CROSS JOIN LATERAL (
    SELECT account FROM outbox WHERE outbox.topic = wanted.topic AND ${OPEN} AND due_at <= $5::timestamptz
    ORDER BY due_at, id LIMIT $4::int + 1
  ) AS oldest
), crowded AS MATERIALIZED (
  SELECT topic FROM due GROUP BY topic HAVING count(*) > $4::int
), walked AS (
  SELECT crowded.topic, first.account, first.due_at FROM crowded
  CROSS JOIN LATERAL (
    SELECT account, due_at FROM outbox WHERE outbox.topic = crowded.topic AND ${OPEN} ORDER BY account, due_at LIMIT 1
  ) AS first
  UNION ALL
  SELECT walked.topic, next.account, next.due_at FROM walked
  CROSS JOIN LATERAL (
    SELECT account, due_at FROM outbox WHERE outbox.topic = walked.topic AND ${OPEN} AND outbox.account > walked.account
    ORDER BY account, due_at LIMIT 1
  ) AS next
), accounts AS (
  SELECT DISTINCT topic, account FROM due WHERE topic NOT IN (SELECT topic FROM crowded)
  UNION ALL
  SELECT topic, account FROM walked WHERE due_at <= $5::timestamptz
), mine AS (
  SELECT wanted.topic, wanted.per_target, seen.id, seen.target, seen.due_at, seen.leased,
    row_number() OVER (PARTITION BY wanted.topic, accounts.account ORDER BY seen.leased DESC, seen.due_at, seen.id) AS turn
  FROM accounts
  JOIN wanted USING (topic)
  CROSS JOIN LATERAL (
    SELECT id, target, due_at, coalesce(leased_until > $5::timestamptz, false) AS leased FROM outbox
    WHERE outbox.topic = accounts.topic AND account = accounts.account AND ${OPEN} AND due_at <= $5::timestamptz
    ORDER BY due_at, id LIMIT wanted.per_account
  ) AS seen
), places AS (
  SELECT *, row_number() OVER (PARTITION BY topic, target ORDER BY leased DESC, turn, due_at, id) AS place,
    count(*) FILTER (WHERE leased) OVER (PARTITION BY topic) AS busy
  FROM mine
), free AS (
  SELECT id, busy + row_number() OVER (PARTITION BY topic ORDER BY turn, due_at, id) AS place
  FROM places WHERE NOT leased AND (target = '' OR per_target IS NULL OR place <= per_target)
), taken AS MATERIALIZED (
  SELECT id FROM outbox WHERE id = ANY(ARRAY(SELECT id FROM free WHERE place <= $4::int)) FOR UPDATE SKIP LOCKED
)
UPDATE outbox SET leased_until = $6::timestamptz
WHERE id = ANY(ARRAY(SELECT id FROM taken))
  AND ${STILL_OPEN} AND (leased_until IS NULL OR leased_until <= $5::timestamptz)
RETURNING id::text AS id, topic, attempt`

/*
 * All statements below compare the attempt, so that a late result of an earlier attempt cannot change a later one. A
 * renewal often runs after its job has ended. Without the two conditions it would lease a row that has no handler, and
 * the row's next attempt, or its next process, would have to wait until that lease expires.
 */
const RENEW = `
UPDATE outbox SET leased_until = $3::timestamptz
FROM unnest($1::bigint[], $2::int[]) AS job(id, attempt)
WHERE outbox.id = job.id AND outbox.attempt = job.attempt AND outbox.leased_until IS NOT NULL AND ${STILL_OPEN}`

const GIVE_BACK = `
UPDATE outbox SET leased_until = NULL
FROM unnest($1::bigint[], $2::int[]) AS job(id, attempt)
WHERE outbox.id = job.id AND outbox.attempt = job.attempt AND ${STILL_OPEN}`

const LOAD = `
SELECT id::text AS id, topic, attempt, payload, created_at AS "announcedAt", (${STILL_OPEN}) AS open
FROM outbox WHERE id = ANY($1::bigint[])`

const DONE = `
UPDATE outbox SET done_at = $3::timestamptz, leased_until = NULL
FROM unnest($1::bigint[], $2::int[]) AS job(id, attempt)
WHERE outbox.id = job.id AND outbox.attempt = job.attempt AND ${STILL_OPEN}`

const POSTPONE = `
UPDATE outbox SET
  attempt = outbox.attempt + 1,
  leased_until = NULL,
  due_at = coalesce(failure.due_at, outbox.due_at),
  failed_at = CASE WHEN failure.due_at IS NULL THEN $5::timestamptz END,
  last_error = failure.error
FROM unnest($1::bigint[], $2::int[], $3::text[], $4::timestamptz[]) AS failure(id, attempt, error, due_at)
WHERE outbox.id = failure.id AND outbox.attempt = failure.attempt AND ${STILL_OPEN}`

const PRUNE = `
DELETE FROM outbox WHERE id = ANY(ARRAY(SELECT id FROM outbox WHERE done_at < $1::timestamptz LIMIT 10000)) RETURNING 1`

/*
 * Since when the oldest row waits that a lease would take, for the topic of an outer query; `$1` is the current time. Of the
 * topic's oldest due rows, as many as a lease considers, and where there are more, of the oldest of each account, those count
 * that are not leased, and whose account and target have no leased row among them: others may wait for a place of their own
 * account or target, which is no fault of the queue. Nor do any count while a whole window is leased. That leaves out a few rows
 * that a lease would take. When no relay works, all leases end, and every row counts. It walks from account to account as a
 * lease does: with 500,000 rows of one account and 10,000 others it takes 70 ms.
 */
export function oldestWaiting(topic: string): string {
  const due = `outbox.topic = ${topic} AND ${OPEN} AND due_at <= $1::timestamptz`
  const row = `id, due_at, account, target, coalesce(leased_until > $1::timestamptz, false) AS leased`
  return `(
  WITH RECURSIVE seen AS MATERIALIZED (
    SELECT ${row} FROM outbox WHERE ${due} ORDER BY due_at, id LIMIT ${String(PACE.window)}
  ), walked AS (
    (SELECT account FROM outbox
     WHERE outbox.topic = ${topic} AND ${OPEN} AND (SELECT count(*) FROM seen) = ${String(PACE.window)}
     ORDER BY account, due_at LIMIT 1)
    UNION ALL
    SELECT next.account FROM walked CROSS JOIN LATERAL (
      SELECT account FROM outbox WHERE outbox.topic = ${topic} AND ${OPEN} AND outbox.account > walked.account
      ORDER BY account, due_at LIMIT 1
    ) AS next
  ), known AS MATERIALIZED (
    SELECT * FROM seen
    UNION ALL
    SELECT first.* FROM walked CROSS JOIN LATERAL (
      SELECT ${row} FROM outbox WHERE ${due} AND outbox.account = walked.account
      ORDER BY due_at, id LIMIT ${String(FIRST_OF_ACCOUNT)}
    ) AS first
  )
  SELECT min(due_at) FROM known WHERE NOT leased
    AND (SELECT count(DISTINCT id) FROM known WHERE leased) < ${String(PACE.window)}
    AND (account = '' OR account NOT IN (SELECT account FROM known WHERE leased))
    AND (target = '' OR target NOT IN (SELECT target FROM known WHERE leased)))`
}

/** What an account has leased is among its oldest. */
const FIRST_OF_ACCOUNT = 16

/* Walks from topic to topic along the relay's index, so a backlog of a million rows costs no more than one row. */
const CENSUS = `
WITH RECURSIVE topics AS (
  (SELECT topic FROM outbox WHERE ${OPEN} ORDER BY topic LIMIT 1)
  UNION ALL
  SELECT (SELECT topic FROM outbox WHERE ${OPEN} AND outbox.topic > topics.topic ORDER BY topic LIMIT 1)
  FROM topics WHERE topics.topic IS NOT NULL
), oldest AS (
  SELECT
    (SELECT due_at FROM outbox WHERE outbox.topic = topics.topic AND ${OPEN} ORDER BY due_at LIMIT 1) AS due,
    ${oldestWaiting('topics.topic')} AS unleased
  FROM topics WHERE topics.topic IS NOT NULL
)
SELECT
  min(due) FILTER (WHERE due <= $1::timestamptz) AS "oldestDue",
  min(unleased) AS "oldestUnleased",
  (SELECT count(*) FROM outbox WHERE failed_at IS NOT NULL)::int AS dead
FROM oldest`
