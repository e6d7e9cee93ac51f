import { NETWORKS } from '../../chain/networks.ts'
import { isId } from '../../kit/ids.ts'
import { usdc } from '../../kit/money.ts'
import { holdQuota, QUOTAS } from '../../kit/quota.ts'
import { fromRow, type RowOf } from '../../kit/rows.ts'
import type { StatementPool } from '../../kit/transaction.ts'
import type { DayRow, Offered, Paywall } from '../model.ts'
import type { CustomerBalance, PaywallStore, SealedDeps } from '../ports.ts'
import { fromEarlier, fromPaywallRow, toStoredRoute, type PaywallRow } from './rows.ts'

/** Paywalls in PostgreSQL. */
export function createPaywallStore(statements: StatementPool, paywallsMax: number = QUOTAS.paywalls): PaywallStore {
  return {
    inTransaction: (work) => statements.together(work),

    async add(paywall, sealed) {
      const { id, owner } = paywall
      await statements.together(async (inside) => {
        await holdQuota(inside, {
          quota: 'paywalls',
          owner,
          limit: paywallsMax,
          values: [owner.userId, owner.environment, id],
          rows: 'paywall WHERE user_id = $1 AND environment = $2 AND id <> $3 AND removed_at IS NULL',
        })
        await inside.run(ADD, [...valuesOf(paywall), sealed.headers, sealed.secret], 'paywall_add')
      })
      const [row] = await statements.run<PaywallRow>(FIND_OWN, [id, owner.userId, owner.environment], 'paywall_find')
      return row === undefined ? null : fromPaywallRow(row)
    },

    async find({ userId, environment }, id) {
      if (!isId('pwl', id)) return null
      const [row] = await statements.run<PaywallRow>(FIND_OWN, [id, userId, environment], 'paywall_find')
      return row === undefined ? null : fromPaywallRow(row)
    },

    async list({ userId, environment }, { limit, offset }) {
      const owner = [userId, environment]
      const [rows, [counted]] = await Promise.all([
        statements.run<PaywallRow>(LIST, [...owner, limit, offset], 'paywall_list'),
        statements.run<{ total: bigint }>(COUNT, owner, 'paywall_count'),
      ])
      return { paywalls: rows.map(fromPaywallRow), total: Number(counted?.total ?? 0) }
    },

    async listGates({ userId, environment }, ids) {
      const rows = await statements.run<PaywallRow>(LIST_GATES, [userId, environment, ids], 'paywall_list_gates')
      return rows.map((row) => ({ gate: fromPaywallRow(row), earlier: fromEarlier(row) }))
    },

    async lock(inside, { userId, environment }, id) {
      if (!isId('pwl', id)) return null
      const [row] = await inside.run<PaywallRow>(`${FIND_OWN} FOR UPDATE`, [id, userId, environment], 'paywall_lock')
      return row === undefined ? null : fromPaywallRow(row)
    },

    async change(inside, paywall, before, sealed) {
      const earlier = before === null ? null : JSON.stringify(toEarlier(before.offered, before.until))
      const values = [...valuesOf(paywall), sealed.headers ?? null, sealed.secret ?? null, earlier, paywall.updatedAt]
      const [row] = await inside.run<PaywallRow>(CHANGE, values, 'paywall_change')
      return row === undefined ? null : fromPaywallRow(row)
    },

    async remove({ userId, environment }, id, now) {
      if (!isId('pwl', id)) return null
      const [row] = await statements.run<PaywallRow>(REMOVE, [id, userId, environment, now], 'paywall_remove')
      return row === undefined ? null : fromPaywallRow(row)
    },

    async bySlug(slug) {
      const [row] = await statements.run<PaywallRow>(BY_SLUG, [slug], 'paywall_by_slug')
      if (row === undefined) return null
      const sealed: SealedDeps = { headers: row.headers_sealed, secret: row.secret_sealed }
      return { gate: fromPaywallRow(row), earlier: fromEarlier(row), sealed }
    },

    async analytics({ userId, environment }, id, from, to) {
      if (!isId('pwl', id)) return null
      const [row] = await statements.run<PaywallRow>(FIND_OWN, [id, userId, environment], 'paywall_find')
      if (row === undefined) return null
      const days = await statements.run<StoredDay>(DAYS, [id, from, to], 'paywall_days')
      return { revenue: usdc(row.revenue), customers: row.customers, days: days.map(fromDay) }
    },

    async balancesOf({ userId, environment }, customer, limit) {
      const values = [userId, environment, customer, Object.keys(NETWORKS), limit]
      const rows = await statements.run<RowOf<CustomerBalance>>(BALANCES_OF, values, 'paywall_balances_of')
      return rows.map(fromRow)
    },
  }
}

interface StoredDay {
  day: string
  route: string
  outcome: string
  count: bigint
  amount: bigint
}

function fromDay({ day, route, outcome, count, amount }: StoredDay): DayRow {
  return { day, route, outcome, count: Number(count), amount: usdc(amount) }
}

function toEarlier({ routes, recipient, network }: Offered, until: Date) {
  return { routes: routes.map(toStoredRoute), recipient, network, until: until.toISOString() }
}

function valuesOf(paywall: Paywall): unknown[] {
  const { owner } = paywall
  return [
    ...[paywall.id, owner.userId, owner.environment, paywall.slug, paywall.name, paywall.upstreamUrl],
    ...[JSON.stringify(paywall.routes.map(toStoredRoute)), paywall.recipient, paywall.network, paywall.testMode],
    ...[paywall.status, paywall.milestones, paywall.upstreamHeaders, paywall.version],
    ...[paywall.createdAt, paywall.updatedAt],
  ]
}

const FIND_OWN = 'SELECT * FROM paywall WHERE id = $1 AND user_id = $2 AND environment = $3 AND removed_at IS NULL'

// A repeated operation finds the row that it created; a slug of another paywall stays unchanged.
const ADD = `
INSERT INTO paywall (id, user_id, environment, slug, name, upstream_url, routes, recipient, network, test_mode, status,
  milestones, header_names, version, created_at, updated_at, headers_sealed, secret_sealed, earlier)
VALUES ($1, $2, $3, $4, $5, $6, $7::json, $8, $9, $10, $11, $12::bigint[], $13::text[], $14, $15, $16, $17, $18, '[]')
ON CONFLICT DO NOTHING`

const LIST = `
SELECT * FROM paywall WHERE user_id = $1 AND environment = $2 AND removed_at IS NULL
ORDER BY id DESC LIMIT $3 OFFSET $4`

// An account has as many paywalls as its quota allows.
const LIST_GATES = `
SELECT * FROM paywall WHERE user_id = $1 AND environment = $2 AND removed_at IS NULL
  AND ($3::text[] IS NULL OR id = ANY ($3))
ORDER BY id`

const COUNT = 'SELECT count(*) AS total FROM paywall WHERE user_id = $1 AND environment = $2 AND removed_at IS NULL'

// Earlier terms that are still valid stay in the list.
const CHANGE = `
UPDATE paywall SET slug = $4, name = $5, upstream_url = $6, routes = $7::json, recipient = $8, network = $9,
  test_mode = $10, status = $11, milestones = $12::bigint[], header_names = $13::text[], version = $14, created_at = $15,
  updated_at = $16, headers_sealed = coalesce($17, headers_sealed), secret_sealed = coalesce($18, secret_sealed),
  earlier = CASE WHEN $19::json IS NULL THEN earlier ELSE (
    SELECT json_agg(kept.terms) FROM (
      SELECT $19::json AS terms
      UNION ALL
      SELECT terms FROM json_array_elements(earlier) AS terms WHERE (terms ->> 'until')::timestamptz > $20
    ) AS kept
  ) END
WHERE id = $1 AND user_id = $2 AND environment = $3 AND removed_at IS NULL
RETURNING *`

const REMOVE = `
UPDATE paywall SET removed_at = $4, updated_at = $4
WHERE id = $1 AND user_id = $2 AND environment = $3 AND removed_at IS NULL
RETURNING *`

const BY_SLUG = 'SELECT * FROM paywall WHERE slug = $1 AND removed_at IS NULL'

// A customer is an e-mail address or a wallet, as the sales name them: both have an index there. The balances are found by
// their whole key.
const BALANCES_OF = `
WITH wallet AS (
  SELECT DISTINCT s.payer FROM sale s WHERE s.user_id = $1 AND s.environment = $2::environment
    AND (lower(s.details #>> '{receipt,email}') = $3 OR s.payer = $3)
)
SELECT b.paywall_id, p.name, b.network, b.payer, b.available, b.held, b.paid, b.drawn
FROM paywall p CROSS JOIN unnest($4::text[]) AS n (network) CROSS JOIN wallet w
JOIN paywall_balance b ON b.paywall_id = p.id AND b.network = n.network AND b.payer = w.payer
WHERE p.user_id = $1 AND p.environment = $2::environment
ORDER BY b.available DESC, b.paywall_id, b.network, b.payer LIMIT $5`

const DAYS = `
SELECT to_char(day, 'YYYY-MM-DD') AS day, route, outcome, count, amount
FROM paywall_day WHERE paywall_id = $1 AND day BETWEEN $2::date AND $3::date ORDER BY day, route, outcome`
