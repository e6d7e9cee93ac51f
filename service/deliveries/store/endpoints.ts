import type { StatementPool } from '../../kit/transaction.ts'
import type { Owner } from '../../kit/owner.ts'
import { leastId } from '../../kit/ids.ts'
import { columnsOf, withOwner } from '../../kit/rows.ts'
import type { Endpoint } from '../model.ts'
import type { Failing, TargetStore } from '../ports.ts'
import { fetchableSince } from '../rules/schedule.ts'

/** Targets that subscribe to events. */
export function endpoints(statements: StatementPool): Omit<TargetStore, 'put' | 'rotate' | 'secrets'> {
  return {
    async addEndpoint({ id, owner, url, sealed, madeBy, events, createdAt }, most) {
      const values = [id, owner.userId, owner.environment, url, sealed, madeBy, events, createdAt, most]
      const [row] = await statements.run<{ there: boolean }>(ADD, values, 'delivery_endpoint_add')
      return row?.there === true
    },

    async findEndpoint({ userId, environment }, id) {
      const [row] = await statements.run<EndpointRow>(FIND, [userId, environment, id], 'delivery_endpoint_find')
      return row === undefined ? null : withOwner(row)
    },

    async listEndpoints({ userId, environment }, { limit, offset }) {
      const values = [userId, environment]
      const [rows, [counted]] = await Promise.all([
        statements.run<EndpointRow>(LIST, [...values, limit, offset], 'delivery_endpoint_list'),
        statements.run<{ total: bigint }>(COUNT, values, 'delivery_endpoint_count'),
      ])
      return { endpoints: rows.map(withOwner), total: Number(counted?.total ?? 0) }
    },

    async changeEndpoint({ userId, environment }, id, { url, events, status }, now) {
      const values = [userId, environment, id, url, events, status, now]
      const [row] = await statements.run<EndpointRow>(CHANGE, values, 'delivery_endpoint_change')
      return row === undefined ? null : withOwner(row)
    },

    async removeEndpoint({ userId, environment }, id) {
      return (await statements.run(REMOVE, [userId, environment, id], 'delivery_endpoint_remove')).length > 0
    },

    async listening(inside, { userId, environment }, event) {
      const values = [userId, environment, event]
      return await inside.run<Pick<Endpoint, 'id' | 'url'>>(LISTENING, values, 'delivery_endpoint_listening')
    },

    async withinBound(inside, { about, key, perHour }, now) {
      const since = new Date(now.getTime() - 3_600_000)
      // When the hour's limit is reached, the check costs one query and no lock, so refused payments do not queue up
      // behind each other.
      const open = await inside.run(BOUND_LOCK, [about, since, perHour], 'delivery_bound_lock')
      if (open.length === 0) return false
      return (await inside.run(BOUND_ADD, [about, key, now, since, perHour], 'delivery_bound_add')).length > 0
    },

    async listeners(inside, owners, events) {
      const values = [...columnsOf(owners, 'userId', 'environment'), events]
      return await inside.run<Owner>(LISTENERS, values, 'delivery_endpoint_listeners')
    },

    async failing(inside, ids, now) {
      return await inside.run<Failing>(FAILING, [ids, now])
    },

    async disable(inside, ids, now) {
      const rows = await inside.run<EndpointRow>(DISABLE, [ids, now])
      return rows.map(withOwner)
    },

    async disableUnfetched(inside, id, { since, now }) {
      // What was confirmed since then was waiting at that time, or came later: most of it is at most twice as old.
      const oldest = leastId('dlv', fetchableSince(since))
      const [row] = await inside.run<EndpointRow>(DISABLE_UNFETCHED, [[id], now, since, oldest, LOOKED_AT])
      return row === undefined ? null : withOwner(row)
    },
  }
}

const ENDPOINT = `t.id, t.user_id AS "userId", t.environment, t.url, t.events, t.status, t.failing_since AS "failingSince",
  t.disabled_at AS "disabledAt", t.created_at AS "createdAt"`

/** A checkout's target has no events and is not an endpoint. */
const IS_ENDPOINT = `t.events <> '{}' AND t.status <> 'deleted'`
const OWNED = `t.user_id = $1 AND t.environment = $2::environment AND ${IS_ENDPOINT}`

// Counted without a lock: two concurrent requests may exceed the limit by one, which does no harm.
const ADD = `
WITH room AS (
  SELECT (
    SELECT count(*) FROM delivery_target t
    WHERE t.user_id = $2 AND t.environment = $3::environment AND ${IS_ENDPOINT} AND t.id <> $1
  ) < $9::int AS there
), added AS (
  INSERT INTO delivery_target (id, user_id, environment, url, sealed, made_by, events, created_at)
  SELECT $1, $2, $3::environment, $4, $5, $6, $7::text[], $8::timestamptz FROM room WHERE there
  ON CONFLICT (id) DO NOTHING
)
SELECT there FROM room`

const FIND = `SELECT ${ENDPOINT} FROM delivery_target t WHERE t.id = $3 AND ${OWNED}`
const LIST = `SELECT ${ENDPOINT} FROM delivery_target t WHERE ${OWNED} ORDER BY t.id DESC LIMIT $3 OFFSET $4`
const COUNT = `SELECT count(*) AS total FROM delivery_target t WHERE ${OWNED}`

// A new address, or enabling it by hand, is a new start: earlier failures no longer count.
const CHANGE = `
UPDATE delivery_target t SET
  url = coalesce($4::text, t.url),
  events = coalesce($5::text[], t.events),
  status = coalesce($6::delivery_target_status, t.status),
  disabled_at = CASE $6::delivery_target_status
    WHEN 'disabled' THEN coalesce(t.disabled_at, $7::timestamptz)
    WHEN 'enabled' THEN NULL
    ELSE t.disabled_at
  END,
  failing_since = CASE
    WHEN $6::delivery_target_status = 'enabled' OR $4::text <> t.url THEN NULL ELSE t.failing_since
  END
WHERE t.id = $3 AND ${OWNED}
RETURNING ${ENDPOINT}`

const REMOVE = `UPDATE delivery_target t SET status = 'deleted' WHERE t.id = $3 AND ${OWNED} RETURNING t.id`

const LISTENING = `
SELECT t.id, t.url FROM delivery_target t WHERE ${OWNED} AND t.status = 'enabled' AND $3::text = ANY(t.events) ORDER BY t.id`

const SENT_SINCE = (since: string): string => `
  (SELECT count(*) FROM delivery_bounded_event WHERE about = $1::text AND at > ${since}::timestamptz)`

const BOUND_LOCK = `
SELECT pg_advisory_xact_lock(hashtextextended('event ' || $1::text, 0))
FROM (SELECT ${SENT_SINCE('$2')} AS sent) hour WHERE sent < $3::int`

// Counted again under the lock.
const BOUND_ADD = `
INSERT INTO delivery_bounded_event (about, key, at)
SELECT $1::text, $2::bytea, $3::timestamptz WHERE ${SENT_SINCE('$4')} < $5::int
ON CONFLICT DO NOTHING RETURNING about`

const LISTENERS = `
SELECT o."userId", o.environment FROM unnest($1::text[], $2::environment[]) AS o("userId", environment)
WHERE EXISTS (
  SELECT FROM delivery_target t
  WHERE t.user_id = o."userId" AND t.environment = o.environment AND ${IS_ENDPOINT}
    AND t.status = 'enabled' AND t.events && $3::text[])`

const FAILING = `
WITH marked AS (
  UPDATE delivery_target SET failing_since = $2::timestamptz WHERE id = ANY($1::text[]) AND failing_since IS NULL
)
SELECT t.id, coalesce(t.failing_since, $2::timestamptz) AS since FROM delivery_target t
WHERE t.id = ANY($1::text[]) AND ${IS_ENDPOINT} AND t.status = 'enabled'`

const SET_DISABLED = `
UPDATE delivery_target t SET status = 'disabled', disabled_at = $2::timestamptz
WHERE t.id = ANY($1::text[]) AND ${IS_ENDPOINT} AND t.status = 'enabled'`

const DISABLE = `${SET_DISABLED} RETURNING ${ENDPOINT}`

/** And of the last deliveries that are older: some events have the time of an older thing. */
const LOOKED_AT = 10_000

const DISABLE_UNFETCHED = `${SET_DISABLED}
  AND NOT EXISTS (
    SELECT FROM delivery d WHERE d.target_id = t.id AND d.id >= $4 AND d.delivered_at >= $3::timestamptz)
  AND NOT EXISTS (
    SELECT FROM (SELECT delivered_at FROM delivery WHERE target_id = t.id AND id < $4 ORDER BY id DESC LIMIT $5::int) older
    WHERE older.delivered_at >= $3::timestamptz)
RETURNING ${ENDPOINT}`

type EndpointRow = Omit<Endpoint, 'owner'> & Owner
