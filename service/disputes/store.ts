import type { RowOf } from '../kit/rows.ts'
import { ageOf, newestMarks, type Tables } from '../kit/tables.ts'
import { usdc, ZERO, type Usdc } from '../kit/money.ts'
import type { Owner } from '../kit/owner.ts'
import { retryConflicts, type StatementPool, type Statements } from '../kit/transaction.ts'
import { IS_REAL } from '../sales/model.ts'
import { DEFAULT_POLICY, type Dispute, type RefundPolicy, type ShownDispute } from './model.ts'
import type { DisputeStore } from './ports.ts'

/** Disputes and refund policies in PostgreSQL. */
export function createDisputeStore(statements: StatementPool): DisputeStore {
  async function all(on: Statements, text: string, values: readonly unknown[], name: string): Promise<Dispute[]> {
    return (await on.run<DisputeRow>(text, values, name)).map(fromDisputeRow)
  }
  async function one(on: Statements, text: string, values: readonly unknown[], name: string): Promise<Dispute | null> {
    return (await all(on, text, values, name))[0] ?? null
  }

  return {
    ...createPolicies(statements),
    together: (work) => retryConflicts(() => statements.together(work), ATTEMPTS),
    find: (id) => one(statements, 'SELECT * FROM dispute WHERE id = $1', [id], 'dispute_find'),
    ofSale: (saleId, inside = statements) =>
      one(inside, 'SELECT * FROM dispute WHERE sale_id = $1', [saleId], 'dispute_of_sale'),

    async findOwn({ userId, environment }, id) {
      const [row] = await statements.run<ShownRow>(FIND_OWN, [userId, environment, id], 'dispute_find_own')
      return row === undefined ? null : fromShownRow(row)
    },

    async list({ userId, environment }, state, { limit, offset }) {
      const own = [userId, environment, state]
      const [rows, [counted]] = await Promise.all([
        statements.run<ShownRow>(LIST, [...own, limit, offset], 'dispute_list'),
        statements.run<{ total: bigint }>(COUNT, own, 'dispute_count'),
      ])
      return { disputes: rows.map(fromShownRow), total: Number(counted?.total ?? 0n) }
    },

    async byRequest(key, payer, inside = statements) {
      const found = await all(inside, BY_REQUEST, [key, payer], 'dispute_by_request')
      return found.length === 1 ? (found[0] ?? null) : null
    },

    async countSince({ userId, environment }, since, most) {
      const values = [userId, environment, since, most]
      const [row] = await statements.run<{ total: bigint }>(COUNT_SINCE, values, 'dispute_count_since')
      return Number(row?.total ?? 0n)
    },

    async add(inside, dispute) {
      await inside.run(ADD, valuesOf(dispute), 'dispute_add')
    },

    claim(inside, id, attempts, { refundId, refundAmount, answer, decidedBy, leaseUntil, now }) {
      const values = [id, attempts, refundId, refundAmount, answer, decidedBy, now, leaseUntil]
      return one(inside, CLAIM, values, 'dispute_claim')
    },

    end: (inside, id, { state, answer, decidedBy, now }) =>
      one(inside, END, [id, state, answer, decidedBy, now], 'dispute_end'),

    reopen: (inside, id, attempts, { failure, answerBy }) =>
      one(inside, REOPEN, [id, attempts, failure, answerBy], 'dispute_reopen'),

    refunded: (inside, saleId, { refundId, now }) => one(inside, REFUNDED, [saleId, refundId, now], 'dispute_refunded'),

    async postpone(id, answerBy) {
      await statements.run(POSTPONE, [id, answerBy], 'dispute_postpone')
    },

    async prolong(id, leaseUntil) {
      await statements.run(PROLONG, [id, leaseUntil], 'dispute_prolong')
    },

    due: (now, limit) => all(statements, DUE, [now, limit], 'dispute_due'),
    left: (now, limit) => all(statements, LEFT, [now, limit], 'dispute_left'),

    async counted(checkout) {
      const [row] = await statements.run<Counted>(COUNTED, [checkout], 'dispute_counted')
      const { customers = 0n, refunded = 0, disputed = 0 } = row ?? {}
      return { customers: Number(customers), refunded, disputed }
    },
  }
}

function createPolicies(statements: StatementPool): Pick<DisputeStore, 'policy' | 'changePolicy' | 'holdUnasked'> {
  return {
    async policy({ userId, environment }, inside: Statements = statements) {
      const [row] = await inside.run<PolicyRow>(POLICY, [userId, environment], 'refund_policy_find')
      return row === undefined ? DEFAULT_POLICY : fromPolicyRow(row)
    },

    async changePolicy({ userId, environment }, change, now) {
      const policy = { ...DEFAULT_POLICY, ...change }
      const { windowDays, answerDays, unanswered, partialRefunds, agents, perSale, perDay } = policy
      const values = [windowDays, answerDays, unanswered, partialRefunds, agents, perSale, perDay, now]
      const changed = Object.keys(change).map((field) => POLICY_COLUMNS[field as keyof RefundPolicy])
      const all = [userId, environment, ...values, changed]
      const [row] = await statements.run<PolicyRow>(CHANGE_POLICY, all, 'refund_policy_change')
      if (row === undefined) throw new Error('a refund policy was not stored')
      return fromPolicyRow(row)
    },

    async holdUnasked(inside, { userId, environment }, payer, since) {
      const account = JSON.stringify(['automatic refunds', userId, environment])
      await inside.run('SELECT pg_advisory_xact_lock(hashtextextended($1, 14))', [account], 'dispute_unasked_lock')
      const values = [userId, environment, since, payer]
      const [row] = await inside.run<UnaskedRow>(UNASKED, values, 'dispute_unasked')
      const { spent = ZERO, of_payer: ofPayer = 0n, is_order_address: isOrderAddress = false } = row ?? {}
      return { spent: usdc(spent), ofPayer: Number(ofPayer), isOrderAddress }
    },
  }
}

const ATTEMPTS = 4

const ADD = `
INSERT INTO dispute (id, sale_id, user_id, environment, state, reason, text, amount, opened_by, payer, request_key,
  request_hash, unanswered, answer_days, answer_by, decided_by, decided_at, attempts, refund_id, refund_amount,
  lease_until, created_at)
VALUES ($1, $2, $3, $4::environment, $5::dispute_state, $6::dispute_reason, $7, $8, $9::dispute_opener, $10, $11, $12,
  $13::dispute_unanswered, $14, $15, $16::dispute_decider, $17, $18, $19, $20, $21, $22)`

const SHOWN = `
SELECT d.*, s.product, s.subject, s.amount AS paid, s.refunded, s.network, s.simulated
FROM dispute d JOIN sale s ON s.id = d.sale_id WHERE d.user_id = $1 AND d.environment = $2::environment`
const FIND_OWN = `${SHOWN} AND d.id = $3`
const OF_STATE = '($3::dispute_state IS NULL OR d.state = $3::dispute_state)'
const LIST = `${SHOWN} AND ${OF_STATE} ORDER BY d.id DESC LIMIT $4 OFFSET $5`
const COUNT = `
SELECT count(*) AS total FROM dispute d WHERE d.user_id = $1 AND d.environment = $2::environment AND ${OF_STATE}`

const BY_REQUEST = 'SELECT * FROM dispute WHERE request_key = $1 AND ($2::text IS NULL OR payer = $2) LIMIT 2'

const COUNT_SINCE = `
SELECT count(*) AS total FROM (
  SELECT created_at FROM dispute WHERE user_id = $1 AND environment = $2::environment ORDER BY id DESC LIMIT $4
) newest WHERE created_at >= $3`

const CLAIM = `
UPDATE dispute SET state = 'refunding', attempts = attempts + 1, refund_id = $3, refund_amount = $4, answer = $5,
  decided_by = $6::dispute_decider, decided_at = $7, lease_until = $8, refund_failure = NULL
WHERE id = $1 AND state = 'open' AND attempts = $2 RETURNING *`

const END = `
UPDATE dispute SET state = $2::dispute_state, answer = $3, decided_by = $4::dispute_decider, decided_at = $5, ended_at = $5
WHERE id = $1 AND state = 'open' RETURNING *`

const REOPEN = `
UPDATE dispute SET state = 'open', lease_until = NULL, refund_failure = $3, answer_by = $4
WHERE id = $1 AND attempts = $2 AND state = 'refunding' RETURNING *`

/** Without a refund: of the sale all went back. */
const REFUNDED = `
UPDATE dispute SET state = 'refunded', lease_until = NULL, ended_at = $3
WHERE sale_id = $1 AND (($2::text IS NULL AND state = 'open') OR state = 'refunding')
  AND ($2::text IS NULL OR refund_id = $2) RETURNING *`

const POSTPONE = `UPDATE dispute SET answer_by = $2 WHERE id = $1 AND state = 'open'`
const PROLONG = `UPDATE dispute SET lease_until = $2 WHERE id = $1 AND state = 'refunding'`

/** Those that are blocked (`dueAction`) keep their deadline, and must not stand before the others. */
const DUE = `
SELECT d.* FROM (
  SELECT o.id, o.answer_by,
    row_number() OVER (PARTITION BY o.environment, o.user_id ORDER BY o.answer_by, o.id) AS turn
  FROM dispute o JOIN sale s ON s.id = o.sale_id
  WHERE o.state = 'open' AND o.answer_by <= $1 AND NOT (
    o.unanswered = 'refund' AND EXISTS (
      SELECT FROM refund r WHERE r.sale_id = s.id AND r.state = 'requested'
        AND (s.amount - s.refunded < coalesce(o.amount, s.amount) OR (o.amount IS NOT NULL AND r.created_at >= o.created_at)))
  )
) due JOIN dispute d ON d.id = due.id ORDER BY due.turn, due.answer_by LIMIT $2`

const LEFT = `SELECT * FROM dispute WHERE state = 'refunding' AND lease_until <= $1 ORDER BY lease_until LIMIT $2`

const POLICY = 'SELECT * FROM refund_policy WHERE user_id = $1 AND environment = $2::environment'

const POLICY_COLUMNS = {
  windowDays: 'window_days',
  answerDays: 'answer_days',
  unanswered: 'unanswered',
  partialRefunds: 'partial_refunds',
  agents: 'agents',
  perSale: 'per_sale',
  perDay: 'per_day',
} as const satisfies Record<keyof RefundPolicy, string>

const merged = (column: string) =>
  `${column} = CASE WHEN '${column}' = ANY ($11::text[]) THEN excluded.${column} ELSE refund_policy.${column} END`

/** One statement, so that of two changes at once none undoes the other. */
const CHANGE_POLICY = `
INSERT INTO refund_policy (user_id, environment, window_days, answer_days, unanswered, partial_refunds, agents, per_sale,
  per_day, updated_at)
VALUES ($1, $2::environment, $3, $4, $5::dispute_unanswered, $6, $7::refund_agents, $8, $9, $10)
ON CONFLICT (user_id, environment) DO UPDATE SET ${merged('window_days')}, ${merged('answer_days')},
  ${merged('unanswered')}, ${merged('partial_refunds')}, ${merged('agents')}, ${merged('per_sale')}, ${merged('per_day')},
  updated_at = excluded.updated_at
RETURNING *`

/** Of the sum one that failed counts as well: it may have been many. */
const UNASKED = `
SELECT coalesce(sum(refund_amount) FILTER (WHERE decided_by = 'policy'), 0)::bigint AS spent,
  count(*) FILTER (WHERE payer = $4 AND state IN ('refunding', 'refunded')) AS of_payer,
  paid_by_transfer($4) AS is_order_address
FROM dispute
WHERE user_id = $1 AND environment = $2::environment AND decided_by IN ('policy', 'deadline') AND decided_at > $3`

/**
 * Of the newest sales only, so that a checkout with millions costs no more than one with a thousand. Each wallet counts
 * once, by the shares of what it paid: otherwise one that buys often would make the record, or spoil it. Orders that were
 * paid by plain transfers are one customer, since each has a payer of its own.
 */
const COUNTED = `
SELECT count(*) AS customers, coalesce(sum(refunded / paid), 0)::float8 AS refunded,
  coalesce(sum(disputed / paid), 0)::float8 AS disputed
FROM (
  SELECT sum(s.amount) AS paid, sum(s.refunded) AS refunded,
    coalesce(sum(s.amount) FILTER (WHERE d.id IS NOT NULL), 0) AS disputed
  FROM (
    SELECT id, payer, state, product, environment, network, simulated, amount, refunded FROM sale WHERE subject = $1
    ORDER BY id DESC LIMIT 1000
  ) s
  LEFT JOIN dispute d ON d.sale_id = s.id
  WHERE s.product = 'checkout' AND s.state IN ('paid', 'refunded') AND NOT s.simulated AND ${IS_REAL} AND s.amount > 0
  GROUP BY CASE WHEN paid_by_transfer(s.payer) THEN NULL ELSE s.payer END
) customer`

interface UnaskedRow {
  spent: bigint
  of_payer: bigint
  is_order_address: boolean
}

interface Counted {
  customers: bigint
  refunded: number
  disputed: number
}

type DisputeRow = RowOf<Omit<Dispute, 'owner'> & Owner>
type ShownRow = DisputeRow & RowOf<Omit<ShownDispute['sale'], 'id' | 'amount'>> & { paid: Usdc }
type PolicyRow = RowOf<RefundPolicy>

function fromDisputeRow(row: DisputeRow): Dispute {
  return {
    id: row.id,
    saleId: row.sale_id,
    owner: { userId: row.user_id, environment: row.environment },
    state: row.state,
    reason: row.reason,
    text: row.text,
    amount: row.amount,
    openedBy: row.opened_by,
    payer: row.payer,
    requestKey: row.request_key,
    requestHash: row.request_hash,
    unanswered: row.unanswered,
    answerDays: row.answer_days,
    answerBy: row.answer_by,
    answer: row.answer,
    decidedBy: row.decided_by,
    decidedAt: row.decided_at,
    attempts: row.attempts,
    refundId: row.refund_id,
    refundAmount: row.refund_amount,
    refundFailure: row.refund_failure,
    leaseUntil: row.lease_until,
    createdAt: row.created_at,
    endedAt: row.ended_at,
  }
}

function fromShownRow(row: ShownRow): ShownDispute {
  const { sale_id: id, product, subject, paid, refunded, network, simulated } = row
  return {
    dispute: fromDisputeRow(row),
    sale: { id, product, subject, amount: paid, refunded, network, simulated },
  }
}

function fromPolicyRow(row: PolicyRow): RefundPolicy {
  return {
    windowDays: row.window_days,
    answerDays: row.answer_days,
    unanswered: row.unanswered,
    partialRefunds: row.partial_refunds,
    agents: row.agents,
    perSale: row.per_sale,
    perDay: row.per_day,
  }
}

/** In the order of the columns of `ADD`. */
function valuesOf(dispute: Dispute): unknown[] {
  const { id, saleId, owner, state, reason, text, amount, openedBy, payer, requestKey, requestHash } = dispute
  const { unanswered, answerDays, answerBy, decidedBy, decidedAt, attempts, refundId, refundAmount } = dispute
  return [
    ...[id, saleId, owner.userId, owner.environment, state, reason, text, amount, openedBy, payer],
    ...[requestKey, requestHash, unanswered, answerDays, answerBy, decidedBy, decidedAt, attempts, refundId],
    ...[refundAmount, dispute.leaseUntil, dispute.createdAt],
  ]
}

export const disputeTables: Tables = {
  retention: () => ({
    dispute: { kept: 'money: why a payment went back, or did not' },
    refund_policy: { kept: 'one row for each account' },
  }),
  changes: { checkouts: [newestMarks('dispute', 'state, answer_by', 20)] },
  metrics: [
    {
      declared: [
        { name: 'coinslot_disputes_open', help: 'Disputes that have not ended, by state', labels: ['state'] },
        { name: 'coinslot_dispute_overdue_seconds', help: 'How long the first of them is overdue', labels: ['state'] },
      ],
      sql: `WITH open_dispute AS MATERIALIZED (
  SELECT 'open' AS state, answer_by AS at FROM dispute WHERE state = 'open'
  UNION ALL SELECT 'refunding', lease_until FROM dispute WHERE state = 'refunding'
)
SELECT 'coinslot_disputes_open', state, NULL, count(*)::float8 FROM open_dispute GROUP BY state
UNION ALL SELECT 'coinslot_dispute_overdue_seconds', state, NULL, ${ageOf('min(at)')} FROM open_dispute GROUP BY state`,
    },
  ],
}
