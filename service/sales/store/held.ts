import { usdc } from '../../kit/money.ts'
import { inTurns } from '../../kit/rows.ts'
import type { Statements } from '../../kit/transaction.ts'
import type { RequestBody } from '../../x402/model.ts'
import type { SaleStore } from '../ports.ts'
import { nextResume } from '../rules.ts'
import { fromSaleRow, one, type SaleRow } from './rows.ts'

/** Sales whose work is done elsewhere before they are paid. */
export function heldSales(
  statements: Statements,
): Pick<
  SaleStore,
  | 'lockOpen'
  | 'defaultedUntil'
  | 'addDefault'
  | 'hold'
  | 'takeHeld'
  | 'endHold'
  | 'report'
  | 'reopen'
  | 'findUndelivered'
  | 'giveUpUndelivered'
> {
  return {
    async lockOpen(inside, { id, payer, network }, limit) {
      const lock = 'SELECT pg_advisory_xact_lock(hashtextextended($1, 12))'
      await inside.run(lock, [`${network} ${payer}`], 'sale_lock_payer')
      const rows = await inside.run<OpenRow>(OPEN_OF_PAYER, [payer, network, limit, id], 'sale_open_of_payer')
      return rows.map(({ amount, request }) => ({ amount: usdc(amount), request }))
    },

    async defaultedUntil(inside, payer, network, now) {
      const [row] = await inside.run<{ until: Date }>(DEFAULTED, [payer, network, now], 'sale_defaulted')
      return row?.until ?? null
    },

    async addDefault(inside, { payer, network, until }) {
      await inside.run(ADD_DEFAULT, [payer, network, until], 'sale_add_default')
    },

    hold: (inside, id, { txHash, until, now }) =>
      one(inside, HOLD, [id, txHash, until, nextResume(now, now)], 'sale_hold'),

    async takeHeld(product, now, limit) {
      const rows = await statements.run<SaleRow>(TAKE_HELD, [product, now, limit], 'sale_take_held')
      return rows.map(fromSaleRow)
    },

    endHold(inside, id, { state, result, now }) {
      const [resumeAt, endedAt] = state === 'settling' ? [nextResume(now, now), null] : [null, now]
      return one(
        inside,
        END_HOLD,
        [id, state, JSON.stringify(result), result.reason, resumeAt, endedAt],
        'sale_end_hold',
      )
    },

    report: (inside, id, result) => one(inside, REPORT, [id, JSON.stringify(result)], 'sale_report'),

    async reopen(inside, id) {
      await inside.run(REOPEN, [id], 'sale_reopen')
    },

    async findUndelivered({ after, before }, now, limit) {
      const rows = await statements.run<SaleRow>(UNDELIVERED, [after, before, now, limit], 'sale_undelivered')
      return rows.map(fromSaleRow)
    },

    async giveUpUndelivered(id, result, now) {
      const values = [id, JSON.stringify(result), now]
      return (await statements.run(GIVE_UP_UNDELIVERED, values, 'sale_give_up_undelivered')).length > 0
    },
  }
}

const DEFAULTED = 'SELECT until FROM checkout_default WHERE payer = $1 AND network = $2 AND until > $3'

const ADD_DEFAULT = `
INSERT INTO checkout_default (payer, network, until) VALUES ($1, $2, $3)
ON CONFLICT (payer, network) DO UPDATE SET until = greatest(checkout_default.until, excluded.until)`

const OPEN_OF_PAYER = `
SELECT amount, request FROM sale
WHERE payer = $1 AND network = $2 AND state IN ('claimed', 'held', 'settling') AND NOT simulated AND id <> $4 LIMIT $3`

/** Sales whose escrow does not have what their state says, among those whose settlements are still stored. */
export async function findEscrowDifferences(statements: Statements): Promise<SaleDifference[]> {
  return await statements.run<SaleDifference>(ESCROW_DIFFERENCES, [])
}

/** Sales that an account pays whose hold in the ledger is not what their state says. */
export async function findHoldDifferences(statements: Statements): Promise<SaleDifference[]> {
  return await statements.run<SaleDifference>(HOLD_DIFFERENCES, [])
}

interface SaleDifference {
  subject: string
  figure: string
  recorded: string
  recomputed: string
}

// What was done last of the operations on the payment. A sale that waits for the chain may be behind it.
const ESCROW_DIFFERENCES = `
WITH done AS (
  SELECT s.id, s.state::text AS state, coalesce(s.escrow ->> 'end', 'none') AS ended,
    s.escrow ->> 'voidedTx' IS NOT NULL AS given_back,
    CASE WHEN bool_or(o.operation = 'capture') THEN 'capture' WHEN bool_or(o.operation = 'void') THEN 'void'
      WHEN bool_or(o.operation = 'authorize') THEN 'authorize' ELSE 'none' END AS operation
  FROM sale s JOIN facilitator_settlement a ON a.digest = s.digest
  LEFT JOIN facilitator_settlement o ON o.payment_hash = a.payment_hash AND o.state = 'settled'
  WHERE s.escrow IS NOT NULL AND s.state <> 'settling' GROUP BY s.id
), wanted AS (
  SELECT id, operation, CASE
    WHEN state IN ('paid', 'refunded') THEN 'capture'
    WHEN state = 'held' OR ended = 'reclaimable' THEN 'authorize'
    WHEN ended = 'voided' AND given_back THEN 'void'
    -- The payer took it back itself, with no operation of this service.
    WHEN ended = 'voided' AND operation <> 'capture' THEN operation ELSE 'none' END AS want
  FROM done
)
SELECT 'sale ' || id AS subject, 'escrow' AS figure, want AS recorded, operation AS recomputed
FROM wanted WHERE want <> operation LIMIT 1000`

const HOLD_DIFFERENCES = `
SELECT 'sale ' || id AS subject, 'hold' AS figure, want AS recorded, has AS recomputed FROM (
  SELECT s.id, CASE WHEN s.state IN ('paid', 'refunded') THEN 'captured ' || s.amount WHEN s.state = 'failed' THEN 'released'
      ELSE 'open ' || s.amount END AS want,
    CASE h.state WHEN 'captured' THEN 'captured ' || h.captured WHEN 'open' THEN 'open ' || h.amount
      ELSE coalesce(h.state::text, 'none') END AS has
  FROM sale s LEFT JOIN ledger_hold h ON h.id = s.id WHERE s.method = 'account'
) paid WHERE want <> has LIMIT 1000`

const DUE_HELD = "state = 'held' AND product = $1::sale_product AND resume_at <= $2"

// A look every few seconds, and one at the deadline.
const TAKE_HELD = `
WITH due AS (
  SELECT id FROM sale WHERE id IN (${inTurns('sale', { where: DUE_HELD, by: 'resume_at' })} LIMIT $3) AND ${DUE_HELD}
  FOR UPDATE SKIP LOCKED
)
UPDATE sale s SET resume_at = CASE
    WHEN s.lease_until > $2 THEN least(s.lease_until, $2 + interval '5 seconds') ELSE $2 + interval '5 seconds'
  END
FROM due WHERE s.id = due.id RETURNING s.*`

// Once its money waits in the escrow, before its work has any result.
const HOLD = `
UPDATE sale SET state = 'held', lease_until = $3, resume_at = $4,
  escrow = (escrow::jsonb || jsonb_build_object('authorizedTx', $2::text))::json
WHERE id = $1 AND state IN ('claimed', 'settling') AND escrow IS NOT NULL AND result IS NULL RETURNING *`

// The row's lock decides between success, failure and deadline.
const END_HOLD = `
UPDATE sale SET state = $2::sale_state, result = $3::json, reason = $4, resume_at = $5, ended_at = $6, lease_until = NULL
WHERE id = $1 AND state = 'held' RETURNING *`

const REPORT = `UPDATE sale SET result = $2::json WHERE id = $1 AND state = 'paid' AND result IS NULL RETURNING *`

const REOPEN = `
UPDATE sale SET result = NULL
WHERE id = $1 AND product = 'checkout' AND state = 'paid' AND result ->> 'status' = 'failed' AND (amount = 0 OR refunded < amount)`

const NOT_IN_WORK = (now: string): string => `
(s.lease_until IS NULL OR s.lease_until <= ${now}) AND NOT EXISTS (SELECT FROM sale_answer a WHERE a.sale_id = s.id)`

// Its rule refunds a payment once, so one whose refund has failed is a matter for a person. Those that were tried before
// come last: one that is refused each time keeps no other one waiting.
const UNDELIVERED = `
SELECT s.* FROM sale s
WHERE s.product = 'asset' AND s.state = 'paid' AND s.handover = 'none' AND s.refunded = 0 AND s.ended_at > $1 AND s.ended_at < $2
  AND ${NOT_IN_WORK('$3')} AND NOT EXISTS (SELECT FROM refund r WHERE r.sale_id = s.id AND r.requested_by = 'rule')
ORDER BY s.result IS NOT NULL, s.ended_at LIMIT $4`

const GIVE_UP_UNDELIVERED = `
UPDATE sale s SET result = $2::json
WHERE s.id = $1 AND s.state = 'paid' AND s.handover = 'none' AND s.result IS NULL AND ${NOT_IN_WORK('$3')}
RETURNING s.id`

type OpenRow = { amount: bigint; request: RequestBody | null }
