import { isId, leastId } from '../../kit/ids.ts'
import { usdc } from '../../kit/money.ts'
import { byId, totalOf } from '../../kit/total.ts'
import type { StatementPool } from '../../kit/transaction.ts'
import type { NewSale, PaymentStore, Sale } from '../ports.ts'
import { nextResume } from '../rules/life.ts'
import { fromPaymentRow, fromSaleRow, type PaymentRow, type SaleRow } from './rows.ts'

/** What was sold, and how far its payment has come. */
export function payments(statements: StatementPool): PaymentStore {
  return {
    async add(inside, sale) {
      const rows = await inside.run<PaymentRow>(ADD, valuesOf(sale), 'checkout_payment_add')
      return rows[0] === undefined ? null : fromPaymentRow(rows[0])
    },

    async find(id) {
      if (!isId('pay', id)) return null
      return only(await statements.run<SaleRow>(FIND('p.id = $1'), [id], 'checkout_payment_find'))
    },

    async findByDigest(digest) {
      const bytes = Buffer.from(digest.slice(2), 'hex')
      return only(await statements.run<SaleRow>(FIND('p.digest = $1'), [bytes], 'checkout_payment_by_digest'))
    },

    async findAll(ids) {
      const rows = await statements.run<PaymentRow>(
        'SELECT * FROM checkout_payment WHERE id = ANY($1)',
        [ids],
        'checkout_payment_find_all',
      )
      return new Map(rows.map((row) => [row.id, fromPaymentRow(row)]))
    },

    async list({ userId, environment }, checkout, { limit, offset }) {
      const own = [checkout, userId, environment]
      const [rows, [found], total] = await Promise.all([
        statements.run<PaymentRow>(LIST, [...own, limit, offset], 'checkout_payment_list'),
        statements.run(IS_OWN, own, 'checkout_is_own'),
        totalOf(statements, { from: 'checkout_payment WHERE checkout_id = $1', values: [checkout], ...byId('pay') }),
      ])
      return found === undefined ? null : { payments: rows.map(fromPaymentRow), total }
    },

    async days({ userId, environment }, since) {
      const values = [userId, environment, leastId('pay', since)]
      const rows = await statements.run<{ day: string; paid: bigint; failed: bigint; amount: bigint }>(
        DAYS,
        values,
        'checkout_payment_days',
      )
      return rows.map(({ day, paid, failed, amount }) => ({
        day,
        paid: Number(paid),
        failed: Number(failed),
        amount: usdc(amount),
      }))
    },

    async settling(id) {
      await statements.run(
        `UPDATE checkout_payment SET state = 'settling' WHERE id = $1 AND state = 'created'`,
        [id],
        'checkout_payment_settling',
      )
    },

    async paid(inside, id, txHash, now) {
      const [row] = await inside.run<PaymentRow>(PAID, [id, txHash, now], 'checkout_payment_paid')
      return row === undefined ? null : fromPaymentRow(row)
    },

    async failed(inside, id, reason, now) {
      const [row] = await inside.run<PaymentRow>(FAILED, [id, reason, now], 'checkout_payment_failed')
      return row === undefined ? null : fromPaymentRow(row)
    },

    async takeOpen(now, limit, simulated) {
      const values = [now, limit, simulated]
      const rows = await statements.run<{ id: string; created_at: Date }>(OPEN, values, 'checkout_payment_open')
      if (rows.length === 0) return []
      const ids = rows.map(({ id }) => id)
      const next = rows.map((row) => nextResume(row.created_at, now))
      return (await statements.run<SaleRow>(TAKE, [ids, next, now], 'checkout_payment_take')).map(fromSaleRow)
    },
  }
}

function only([row]: readonly SaleRow[]): Sale | null {
  return row === undefined ? null : fromSaleRow(row)
}

// The checkout's row is held while the payment comes to be: none begins once it has expired or is paused.
const ADD = `
WITH open AS (
  SELECT id FROM checkout
  WHERE id = $2 AND state = 'active' AND (leased_until IS NULL OR leased_until > $17) FOR SHARE
)
INSERT INTO checkout_payment
  (id, checkout_id, user_id, environment, state, amount, network, recipient, payer, simulated, digest, request, input,
   input_hash, tx_hash, resume_at, created_at, ended_at, token_hash, reason)
SELECT $1, open.id, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12::json, $13::json, $14, $15, $16, $17, $18, $19, $20 FROM open
ON CONFLICT DO NOTHING
RETURNING *`

function valuesOf({ payment, authorized, inputHash, tokenHash, resumeAt }: NewSale): unknown[] {
  const { owner } = payment
  return [
    ...[payment.id, payment.checkoutId, owner.userId, owner.environment, payment.state, payment.amount],
    ...[payment.network, payment.recipient, payment.payer, payment.simulated],
    authorized === null ? null : Buffer.from(authorized.digest.slice(2), 'hex'),
    authorized === null ? null : JSON.stringify(authorized.request),
    ...[JSON.stringify(payment.input), inputHash, payment.txHash, resumeAt, payment.createdAt],
    // One of test mode may have failed in the moment that it was made.
    payment.state === 'failed' ? payment.createdAt : payment.paidAt,
    ...[tokenHash, payment.reason],
  ]
}

const FIND = (which: string): string => `
SELECT p.*, row_to_json(c) AS sold FROM checkout_payment p JOIN checkout c ON c.id = p.checkout_id WHERE ${which}`

const LIST = `
SELECT * FROM checkout_payment
WHERE checkout_id = $1 AND user_id = $2 AND environment = $3 ORDER BY id DESC LIMIT $4 OFFSET $5`

const IS_OWN = 'SELECT FROM checkout WHERE id = $1 AND user_id = $2 AND environment = $3'

const PAID = `
UPDATE checkout_payment SET state = 'paid', tx_hash = $2, ended_at = $3, resume_at = NULL
WHERE id = $1 AND state IN ('created', 'settling') RETURNING *`

const FAILED = `
UPDATE checkout_payment SET state = 'failed', reason = $2, ended_at = $3, resume_at = NULL
WHERE id = $1 AND state IN ('created', 'settling') RETURNING *`

const OPEN = `
SELECT id, created_at FROM checkout_payment
WHERE state IN ('created', 'settling') AND resume_at <= $1 AND simulated = $3 ORDER BY resume_at LIMIT $2`

const TAKE = `
WITH due AS (SELECT * FROM unnest($1::text[], $2::timestamptz[]) AS due (id, next)), taken AS (
  UPDATE checkout_payment p SET resume_at = due.next FROM due
  WHERE p.id = due.id AND p.state IN ('created', 'settling') AND p.resume_at <= $3 RETURNING p.*
)
SELECT p.*, row_to_json(c) AS sold FROM taken p JOIN checkout c ON c.id = p.checkout_id`

const DAYS = `
SELECT to_char(p.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day,
       count(*) FILTER (WHERE p.state = 'paid') AS paid, count(*) FILTER (WHERE p.state = 'failed') AS failed,
       coalesce(sum(p.amount) FILTER (WHERE p.state = 'paid'), 0)::bigint AS amount
FROM checkout c JOIN checkout_payment p ON p.checkout_id = c.id AND p.id >= $3
WHERE c.user_id = $1 AND c.environment = $2::environment AND NOT p.simulated
GROUP BY 1 ORDER BY 1`
