import { holdQuota } from '../kit/quota.ts'
import { inTurns, toBytes, toHex, type RowOf } from '../kit/rows.ts'
import { ageOf, type Difference, differencesBy, type Tables } from '../kit/tables.ts'
import { retryConflicts, type StatementPool, type Statements } from '../kit/transaction.ts'
import type { Owner } from '../kit/owner.ts'
import type { Refund } from './model.ts'
import type { RefundStore } from './ports.ts'

/** Refunds in PostgreSQL. A trigger counts each in its sale, and refuses what exceeds it. */
export function createRefundStore(statements: StatementPool, { ownPerDay }: { ownPerDay: number }): RefundStore {
  async function one(on: Statements, text: string, values: readonly unknown[], name: string): Promise<Refund | null> {
    const [row] = await on.run<RefundRow>(text, values, name)
    return row === undefined ? null : fromRefundRow(row)
  }

  return {
    together: (work) => retryConflicts(() => statements.together(work), ATTEMPTS),
    find: (id, inside = statements) => one(inside, 'SELECT * FROM refund WHERE id = $1', [id], 'refund_find'),

    async ofSales(saleIds, inside = statements) {
      const text = 'SELECT * FROM refund WHERE sale_id = ANY($1::text[]) ORDER BY created_at, id'
      return (await inside.run<RefundRow>(text, [saleIds], 'refund_of_sales')).map(fromRefundRow)
    },

    async add(inside, refund) {
      const { id, saleId, owner, amount, reason, requestedBy, way, waitsFor, missing, tryAt, now } = refund
      const { validBefore, seenBlock, lookAt, nonce } = refund
      if (way === 'own' && ownPerDay > 0) {
        const values = [owner.userId, owner.environment, new Date(now.getTime() - DAY_MS)]
        await holdQuota(inside, { quota: 'refunds_per_day', owner, limit: ownPerDay, rows: OWN_OF_A_DAY, values })
      }
      const of = [id, saleId, owner.userId, owner.environment, amount]
      const terms = [
        waitsFor,
        missing,
        tryAt,
        now,
        validBefore,
        seenBlock,
        lookAt,
        nonce === null ? null : toBytes(nonce),
      ]
      await inside.run(ADD, [...of, reason, requestedBy, way, ...terms], 'refund_add')
    },

    fund: (inside, id, now) => one(inside, FUND, [id, now], 'refund_fund'),
    send: (inside, id, now) => one(inside, SEND, [id, now], 'refund_send'),
    end(inside, id, how, now) {
      const [txHash, failure] = how.state === 'confirmed' ? [how.txHash, null] : [null, how.failure]
      return one(inside, END, [id, how.state, now, txHash, failure], 'refund_end')
    },

    async wait(id, { waitsFor, missing, tryAt }) {
      await statements.run(WAIT, [id, waitsFor, missing, tryAt], 'refund_wait')
    },

    async due(now, limit) {
      return (await statements.run<{ id: string }>(DUE, [now, limit], 'refund_due')).map(({ id }) => id)
    },

    sign: (inside, id, signature, now) => one(inside, SIGN, [id, signature, now], 'refund_sign'),

    async dueOwn(now, limit) {
      return (await statements.run<{ id: string }>(DUE_OWN, [now, limit], 'refund_due_own')).map(({ id }) => id)
    },

    async lookAgain(id, at) {
      await statements.run(LOOK_AGAIN, [id, at], 'refund_look_again')
    },

    async open(before, limit) {
      return (await statements.run<{ id: string }>(OPEN, [before, limit], 'refund_open')).map(({ id }) => id)
    },
  }
}

const ATTEMPTS = 4
const DAY_MS = 86_400_000

/** Each costs the sponsors gas, also one that was never signed: the server asks the chain about it. */
const OWN_OF_A_DAY =
  'refund WHERE user_id = $1 AND environment = $2::environment AND created_at > $3 AND valid_before IS NOT NULL'

const ADD = `
INSERT INTO refund (id, sale_id, user_id, environment, amount, reason, requested_by, way, waits_for, missing, try_at,
  created_at, valid_before, seen_block, look_at, nonce)
VALUES ($1, $2, $3, $4::environment, $5, $6, $7::refund_requester, $8::refund_way, $9, $10, $11, $12, $13, $14, $15, $16)`

const FUND = `
UPDATE refund SET state = 'funded', funded_at = $2, waits_for = NULL, missing = NULL, try_at = NULL
WHERE id = $1 AND state = 'requested' RETURNING *`

const SEND = `UPDATE refund SET state = 'sent', sent_at = $2 WHERE id = $1 AND state = 'funded' RETURNING *`

const END = `
UPDATE refund SET state = $2::refund_state, ended_at = $3, tx_hash = $4, failure = $5, waits_for = NULL, missing = NULL,
  try_at = NULL, look_at = NULL
WHERE id = $1 AND state NOT IN ('confirmed', 'failed') RETURNING *`

const SIGN = `
UPDATE refund SET state = 'sent', sent_at = $3, signature = $2, look_at = $3
WHERE id = $1 AND state = 'requested' AND way = 'own' RETURNING *`

const DUE_OWN = `${inTurns('refund', { where: 'look_at <= $1', by: 'look_at' })} LIMIT $2`

const LOOK_AGAIN = 'UPDATE refund SET look_at = $2 WHERE id = $1 AND look_at IS NOT NULL'

const WAIT = `UPDATE refund SET waits_for = $2, missing = $3, try_at = $4 WHERE id = $1 AND state = 'requested'`

const DUE = `${inTurns('refund', { where: "state = 'requested' AND try_at <= $1", by: 'created_at' })} LIMIT $2`

const OPEN = `
SELECT id FROM refund WHERE state IN ('funded', 'sent') AND way = 'wallet' AND created_at < $1 ORDER BY created_at LIMIT $2`

type RefundRow = RowOf<Omit<Refund, 'owner' | 'nonce'> & Owner> & { nonce: Buffer | null }

function fromRefundRow(row: RefundRow): Refund {
  return {
    id: row.id,
    saleId: row.sale_id,
    owner: { userId: row.user_id, environment: row.environment },
    amount: row.amount,
    reason: row.reason,
    requestedBy: row.requested_by,
    way: row.way,
    state: row.state,
    waitsFor: row.waits_for,
    missing: row.missing,
    tryAt: row.try_at,
    nonce: row.nonce === null ? null : toHex(row.nonce),
    failure: row.failure,
    txHash: row.tx_hash,
    createdAt: row.created_at,
    fundedAt: row.funded_at,
    sentAt: row.sent_at,
    endedAt: row.ended_at,
    validBefore: row.valid_before,
    seenBlock: row.seen_block,
    signature: row.signature,
    lookAt: row.look_at,
  }
}

/** Every refund that disagrees with its sale or with the ledger, as the check of the books names it. */
export async function findRefundDifferences(statements: Statements): Promise<Difference[]> {
  return await differencesBy(statements, CHECKS)
}

const CHECKS = [
  // A sale counts its refunds, and has ended as refunded exactly when all of it went back.
  `
WITH counted AS (
  SELECT s.id, s.refunded, s.state::text AS state, s.amount,
         coalesce(sum(r.amount) FILTER (WHERE r.state <> 'failed'), 0) AS counted,
         coalesce(sum(r.amount) FILTER (WHERE r.state = 'confirmed'), 0) AS confirmed
  FROM sale s LEFT JOIN refund r ON r.sale_id = s.id
  WHERE s.refunded <> 0 OR r.id IS NOT NULL OR s.state = 'refunded'
  GROUP BY s.id
)
SELECT 'sale ' || c.id AS subject, figure.name AS figure, figure.recorded, figure.recomputed
FROM counted c
CROSS JOIN LATERAL (VALUES
  ('refunded', c.refunded::text, c.counted::text),
  ('state', c.state, CASE WHEN c.confirmed = c.amount THEN 'refunded' ELSE 'paid' END)
) AS figure(name, recorded, recomputed)
WHERE figure.recorded <> figure.recomputed
LIMIT 1000`,
  // A funded refund has its hold, and a confirmed one its posting.
  `
WITH wanted AS (
  SELECT id, CASE
    WHEN way IN ('simulated', 'own') OR state = 'requested' THEN 'none'
    -- Paid before a restore, and booked as a withdrawal before it was asked for again.
    WHEN state = 'confirmed' AND EXISTS (
      SELECT FROM wallet_withdrawal b
      WHERE b.nonce = coalesce(refund.nonce, sha256(convert_to('coinslot withdrawal ' || refund.id, 'UTF8'))) AND b.id <> refund.id
    ) THEN 'none'
    WHEN state IN ('funded', 'sent') THEN 'open 0'
    WHEN state = 'confirmed' THEN 'captured ' || amount
    ELSE 'released 0'
  END AS hold, funded_at FROM refund
)
SELECT 'refund ' || w.id AS subject, 'lock' AS figure, w.hold AS recorded,
       coalesce(h.state || ' ' || h.captured, 'none') AS recomputed
FROM wanted w LEFT JOIN ledger_hold h ON h.id = w.id
WHERE w.hold <> coalesce(h.state || ' ' || h.captured, 'none')
  AND NOT (w.hold = 'released 0' AND w.funded_at IS NULL AND h.id IS NULL)
LIMIT 1000`,
  // What the facilitator carried out of a seller's own wallet is a confirmed refund of the same sum.
  `
WITH ended AS (
  SELECT r.id, r.state || ' ' || r.amount || ' ' || coalesce(r.tx_hash, 'none') AS recorded,
         'confirmed ' || f.value || ' 0x' || encode(f.tx_hash, 'hex') AS recomputed
  FROM refund r
  JOIN facilitator_purchase p ON p.buys = r.id
  JOIN facilitator_settlement f ON f.digest = p.digest
  WHERE r.way = 'own' AND r.ended_at IS NOT NULL AND f.state = 'settled' AND f.final
)
SELECT 'refund ' || id AS subject, 'settlement' AS figure, recorded, recomputed FROM ended WHERE recorded <> recomputed
LIMIT 1000`,
]

export const refundTables: Tables = {
  retention: () => ({ refund: { kept: 'money: what went back to buyers' } }),
  metrics: [
    {
      declared: [
        { name: 'coinslot_refunds_open', help: 'Refunds that have not ended, by state', labels: ['state'] },
        { name: 'coinslot_refund_oldest_seconds', help: 'Age of the oldest of them', labels: ['state'] },
      ],
      sql: `WITH open_refund AS MATERIALIZED (
  SELECT 'requested' AS state, created_at FROM refund WHERE state = 'requested'
  UNION ALL SELECT state::text, created_at FROM refund WHERE state IN ('funded', 'sent')
)
SELECT 'coinslot_refunds_open', state, NULL, count(*)::float8 FROM open_refund GROUP BY state
UNION ALL SELECT 'coinslot_refund_oldest_seconds', state, NULL, ${ageOf('min(created_at)')} FROM open_refund GROUP BY state`,
    },
  ],
}
