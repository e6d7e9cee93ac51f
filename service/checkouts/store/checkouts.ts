import { isId } from '../../kit/ids.ts'
import { holdQuota, QUOTAS } from '../../kit/quota.ts'
import type { StatementPool } from '../../kit/transaction.ts'
import type { Checkout } from '../model.ts'
import type { CheckoutStore } from '../stores.ts'
import { toStored, VERSIONS_MAX } from '../rules/versions.ts'
import { chats } from './chats.ts'
import { notices } from './notices.ts'
import { pauses } from './pauses.ts'
import { checkoutValues, fromCheckoutRow, type CheckoutRow } from './rows.ts'
import { drafts } from './drafts.ts'
import { openings } from './openings.ts'
import { requests } from './requests.ts'
import { sales } from './sales.ts'
import { versions } from './versions.ts'
import { DAY_MS, latestMarks, newestMarks, type Tables } from '../../kit/tables.ts'

/** Checkouts in PostgreSQL: creating, changing and ending them. */
export function createCheckoutStore(
  statements: StatementPool,
  activeMax: number = QUOTAS.active_checkouts,
): CheckoutStore {
  return {
    inTransaction: (work) => statements.together(work),
    ...notices(statements),
    ...pauses(statements),
    ...sales(statements),
    ...versions(statements),
    ...drafts(statements),
    ...openings(statements),
    ...requests(statements),
    ...chats(statements),

    async findOwn({ userId, environment }, id) {
      if (!isId('chk', id)) return null
      const rows = await statements.run<CheckoutRow>(FIND_OWN, [id, userId, environment], 'checkout_find_own')
      return only(rows)
    },

    async list({ userId, environment }, { limit, offset }) {
      const owner = [userId, environment]
      const [rows, [counted]] = await Promise.all([
        statements.run<CheckoutRow>(LIST, [...owner, limit, offset], 'checkout_list'),
        statements.run<{ total: bigint }>(COUNT, owner, 'checkout_count'),
      ])
      return { checkouts: rows.map(fromCheckoutRow), total: Number(counted?.total ?? 0) }
    },

    async listOffered({ userId, environment }, limit, now) {
      return await statements.run(LIST_OFFERED, [userId, environment, now, limit], 'checkout_list_offered')
    },

    async listFormer({ userId, environment }, limit, { now, since }) {
      return await statements.run(LIST_FORMER, [userId, environment, now, since, limit], 'checkout_list_former')
    },

    async findOffered({ userId, environment }, ids, now) {
      const values = [userId, environment, now, ids]
      return (await statements.run<CheckoutRow>(FIND_OFFERED, values, 'checkout_find_offered')).map(fromCheckoutRow)
    },

    async ended(ids, now, inside) {
      const rows = ids.length === 0 ? [] : await inside.run<{ id: string }>(ENDED, [ids, now], 'checkout_ended')
      return new Set(rows.map(({ id }) => id))
    },

    async lockOwn(inside, { userId, environment }, id) {
      if (!isId('chk', id)) return null
      return only(await inside.run<CheckoutRow>(LOCK_OWN, [id, userId, environment], 'checkout_lock_own'))
    },

    async lockSource(inside, { userId, environment }, { instanceId, workflowId, nodeId }) {
      const place = [userId, environment, instanceId, workflowId, nodeId]
      // Locks the source even if it has no row yet, so that two concurrent registrations create one checkout.
      await inside.run(
        'SELECT pg_advisory_xact_lock(hashtextextended($1, 7))',
        [JSON.stringify(place)],
        'checkout_lock',
      )
      return (await inside.run<CheckoutRow>(OF_SOURCE, place, 'checkout_of_source')).map(fromCheckoutRow)
    },

    async assertRoom(inside, { id, owner, updatedAt }) {
      await holdQuota(inside, {
        quota: 'active_checkouts',
        owner,
        limit: activeMax,
        values: [owner.userId, owner.environment, id, updatedAt],
        rows: `checkout WHERE user_id = $1 AND environment = $2 AND id <> $3 AND state <> 'expired'
          AND (leased_until IS NULL OR leased_until > $4)`,
      })
    },

    async add(inside, checkout) {
      const { id, owner } = checkout
      await inside.run(ADD, checkoutValues(checkout), 'checkout_add')
      return only(await inside.run<CheckoutRow>(FIND_OWN, [id, owner.userId, owner.environment], 'checkout_find_own'))
    },

    async save(inside, before, checkout) {
      if (before.version !== checkout.version) {
        await inside.run(KEEP, [before.id, before.version, toStored(before)], 'checkout_keep_version')
        await inside.run(KEEP_LAST, [before.id, checkout.version - VERSIONS_MAX], 'checkout_keep_last_versions')
      }
      await inside.run(SAVE, checkoutValues(checkout), 'checkout_save')
    },

    async allowSites(inside, { userId, environment }, { id, embedOrigins, now }) {
      const values = [id, userId, environment, embedOrigins, now]
      return only(await inside.run<CheckoutRow>(ALLOW_SITES, values, 'checkout_allow_sites'))
    },

    async prolong({ userId, environment }, id, until, now) {
      if (!isId('chk', id)) return null
      const rows = await statements.run<CheckoutRow>(PROLONG, [id, userId, environment, until, now], 'checkout_prolong')
      return only(rows)
    },

    async expire({ userId, environment }, id, { now, onlyTemporary }) {
      if (!isId('chk', id)) return null
      const values = [id, userId, environment, now, onlyTemporary]
      return only(await statements.run<CheckoutRow>(EXPIRE, values, 'checkout_expire'))
    },

    async endSoon({ userId, environment }, id, { at, onlyTemporary }) {
      if (!isId('chk', id)) return null
      const values = [id, userId, environment, at, onlyTemporary]
      return only(await statements.run<CheckoutRow>(END_SOON, values, 'checkout_end_soon'))
    },

    async expireLeases(now) {
      await statements.run(EXPIRE_LEASES, [now], 'checkout_expire_leases')
    },
  }
}

function only([row]: readonly CheckoutRow[]): Checkout | null {
  return row === undefined ? null : fromCheckoutRow(row)
}

const FIND_OWN = 'SELECT * FROM checkout WHERE id = $1 AND user_id = $2 AND environment = $3'

const LOCK_OWN = `${FIND_OWN} FOR UPDATE`

const KEEP = `
INSERT INTO checkout_version (checkout_id, version, shown) VALUES ($1, $2, $3::json) ON CONFLICT DO NOTHING`

const KEEP_LAST = 'DELETE FROM checkout_version WHERE checkout_id = $1 AND version < $2'

const LIST = `
SELECT * FROM checkout WHERE user_id = $1 AND environment = $2 ORDER BY id DESC LIMIT $3 OFFSET $4`

const COUNT = 'SELECT count(*) AS total FROM checkout WHERE user_id = $1 AND environment = $2'

const OFFERED = `
FROM checkout WHERE user_id = $1 AND environment = $2 AND state = 'active' AND lifetime = 'persistent'
  AND (leased_until IS NULL OR leased_until > $3)`

const LIST_OFFERED = `SELECT id, product_name AS name ${OFFERED} ORDER BY id LIMIT $4`

const FIND_OFFERED = `SELECT * ${OFFERED} AND id = ANY ($4)`

// All that OFFERED leaves out. The condition without a time is that of the index.
export const LIST_FORMER = `
SELECT id, product_name AS name FROM checkout
WHERE user_id = $1 AND environment = $2 AND lifetime = 'persistent' AND (state <> 'active' OR leased_until IS NOT NULL)
  AND (state <> 'active' OR leased_until <= $3) AND coalesce(expired_at, paused_at, leased_until) >= $4
ORDER BY coalesce(expired_at, paused_at, leased_until) DESC, id DESC LIMIT $5`

const ENDED = `SELECT id FROM checkout WHERE id = ANY ($1) AND (state = 'expired' OR leased_until <= $2)`

const OF_SOURCE = `
SELECT * FROM checkout
WHERE user_id = $1 AND environment = $2 AND source_instance = $3 AND source_workflow = $4 AND source_node = $5
ORDER BY id FOR UPDATE`

const COLUMNS = `id, user_id, environment, state, lifetime, leased_until, callback_url, product_name,
  product_description, price, network, recipient, fields, redirect_url, test_mode, response_mode, preflight,
  redeliver_unconfirmed, source_instance, source_workflow, source_node, created_at, updated_at, capture, run_seconds,
  refund_on_failure, version, embed_origins, trial_runs, trials_per_day, plans, after, picture, pricing, coupons,
  notify_sale, notify_failure, chat, fails_on_error`

// A repeated operation finds the row that it created.
const ADD = `
INSERT INTO checkout (${COLUMNS})
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13::json, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23,
  $24::checkout_capture, $25, $26, $27, $28, $29, $30, $31::json, $32::json, $33::json, $34::json, $35, $36, $37,
  $38::json, $39)
ON CONFLICT (id) DO NOTHING`

// Saves a renewed checkout: active, with what was counted against it and its pause cleared.
const SAVE = `
UPDATE checkout SET state = $4, lifetime = $5, leased_until = $6, callback_url = $7, product_name = $8,
  product_description = $9, price = $10, network = $11, recipient = $12, fields = $13::json, redirect_url = $14,
  test_mode = $15, response_mode = $16, preflight = $17, redeliver_unconfirmed = $18, source_instance = $19,
  source_workflow = $20, source_node = $21, created_at = $22, updated_at = $23, capture = $24::checkout_capture,
  run_seconds = $25, refund_on_failure = $26, version = $27, embed_origins = $28, trial_runs = $29,
  trials_per_day = $30, plans = $31::json, after = $32::json, picture = $33::json, pricing = $34::json, coupons = $35,
  notify_sale = $36, notify_failure = $37, chat = $38::json, fails_on_error = $39,
  missing = 0, failing_since = NULL, failing_at = NULL, probe_at = NULL, paused_at = NULL, expired_at = NULL
WHERE id = $1 AND user_id = $2 AND environment = $3`

const ALLOW_SITES = `
UPDATE checkout SET embed_origins = $4, updated_at = $5 WHERE id = $1 AND user_id = $2 AND environment = $3
RETURNING *`

const PROLONG = `
UPDATE checkout SET leased_until = CASE WHEN lifetime = 'temporary' THEN $4::timestamptz ELSE leased_until END
WHERE id = $1 AND user_id = $2 AND environment = $3 AND state <> 'expired' AND (leased_until IS NULL OR leased_until > $5)
RETURNING *`

// The sweeper ends what has expired, and notifies its seller. What is being paid goes on.
const WITH_REQUEST = `
, request AS (
  UPDATE payment_request r SET expires_at = least(r.expires_at, $4) FROM ended
  WHERE r.checkout_id = ended.id AND r.ended_as IS NULL)
SELECT * FROM ended`

const TO_EXPIRE = "id = $1 AND user_id = $2 AND environment = $3 AND (lifetime = 'temporary' OR NOT $5::boolean)"

const EXPIRE = `
WITH ended AS (
  UPDATE checkout SET state = 'expired', expired_at = coalesce(expired_at, $4), paused_at = NULL, probe_at = NULL,
    updated_at = CASE WHEN state = 'expired' THEN updated_at ELSE $4 END
  WHERE ${TO_EXPIRE}
  RETURNING *)
${WITH_REQUEST}`

const EXPIRE_LEASES = `
UPDATE checkout SET state = 'expired', expired_at = leased_until, paused_at = NULL, probe_at = NULL, updated_at = $1
WHERE leased_until IS NOT NULL AND state <> 'expired' AND leased_until <= $1`

// The end can only move to an earlier time; a checkout that has expired stays unchanged.
const END_SOON = `
WITH ended AS (
  UPDATE checkout SET leased_until = CASE WHEN state = 'expired' THEN leased_until ELSE least(leased_until, $4) END
  WHERE ${TO_EXPIRE}
  RETURNING *)
${WITH_REQUEST}`

export const checkoutsTables: Tables = {
  retention: () => ({
    checkout: { kept: 'one per place in a workflow: registering the place again restores its link' },
    checkout_version: { ends: 'the last hundred versions of a checkout: its payments name them' },
    payment_request: { kept: 'at most twenty for each payment, as long as the payment is' },
    chat_turn: { kept: 'one per sale of a chat, as long as the sale is: the order of what was said' },
    sale_notice: {
      keptMs: 2 * DAY_MS,
      age: 'at',
      key: [
        ['at', 'timestamptz'],
        ['sale_id', 'text'],
        ['kind', 'text'],
      ],
      says: 'Which mails an account was sent of its sales, for as long as they are counted.',
    },
    checkout_progress: {
      keptMs: DAY_MS,
      age: 'updated_at',
      key: [
        ['updated_at', 'timestamptz'],
        ['payment_id', 'text'],
      ],
      says: 'What workflows wrote for their buyers while they worked, for a day.',
    },
    checkout_day: {
      keptMs: 800 * DAY_MS,
      age: 'day',
      key: [
        ['day', 'date'],
        ['checkout_id', 'text'],
      ],
      says: 'How often payment pages were opened, by day, for two years and a comparison with them.',
    },
    checkout_draft: {
      keptMs: 0,
      age: 'expires_at',
      key: [
        ['expires_at', 'timestamptz'],
        ['token_hash', 'bytea'],
      ],
      says: 'What buyers filled in to pay on another device, for an hour.',
    },
  }),
  changes: {
    checkouts: [
      newestMarks('checkout', 'state, updated_at', 100),
      latestMarks('sale', 'subject', 'checkout', 'c.state'),
    ],
  },
}
