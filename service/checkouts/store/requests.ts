import { usdc } from '../../kit/money.ts'
import type { Environment } from '../../kit/owner.ts'
import type { StatementPool } from '../../kit/transaction.ts'
import type { PaymentRequest } from '../model.ts'
import type { RequestStore } from '../stores.ts'

/** Further amounts that buyers are asked for. */
export function requests(statements: StatementPool): RequestStore {
  return {
    async isOfRequest({ userId, environment }, checkout) {
      const values = [checkout, userId, environment]
      return (await statements.run(OF_CHECKOUT, values, 'payment_request_of_checkout')).length > 0
    },

    async lockRequests(inside, payment) {
      // Locks the payment also while it has no request, so that the number of them is exact.
      await inside.run('SELECT pg_advisory_xact_lock(hashtextextended($1, 8))', [payment], 'payment_request_lock')
      return (await inside.run<RequestRow>(OF_PAYMENTS, [[payment]], 'payment_request_of')).map(fromRow)
    },

    async addRequest(inside, request) {
      const { id, paymentId, checkoutId, owner, amount, note, callbackUrl, expiresAt, createdAt } = request
      const about = [id, paymentId, checkoutId, owner.userId, owner.environment, amount, note, callbackUrl]
      await inside.run(ADD, [...about, expiresAt, createdAt], 'payment_request_add')
    },

    async requestsOf(payments) {
      const of = new Map<string, PaymentRequest[]>()
      if (payments.length === 0) return of
      const rows = await statements.run<RequestRow>(OF_PAYMENTS, [payments], 'payment_request_of')
      for (const row of rows) of.set(row.payment_id, [...(of.get(row.payment_id) ?? []), fromRow(row)])
      return of
    },

    async claimRequest(inside, { checkout, sale, now }) {
      const values = [checkout, sale, now]
      const [row] = await inside.run<{ claimed: boolean; open: boolean }>(CLAIM, values, 'payment_request_claim')
      if (row === undefined) return null
      return row.claimed ? 'claimed' : row.open ? 'taken' : 'over'
    },

    async releaseRequest(inside, sale) {
      await inside.run(RELEASE, [sale], 'payment_request_release')
    },

    async payRequest(inside, sale, now) {
      const [row] = await inside.run<RequestRow>(PAY, [sale, now], 'payment_request_pay')
      return row === undefined ? null : fromRow(row)
    },

    async refuseRequest(inside, { id, payment, now }) {
      const [row] = await inside.run<RequestRow>(REFUSE, [id, payment, now], 'payment_request_refuse')
      return row === undefined ? null : fromRow(row)
    },

    async expireRequests(inside, now, limit) {
      return (await inside.run<RequestRow>(EXPIRE, [now, limit], 'payment_request_expire')).map(fromRow)
    },
  }
}

interface RequestRow {
  id: string
  payment_id: string
  checkout_id: string
  user_id: string
  environment: Environment
  amount: bigint
  note: string
  callback_url: string | null
  sale_id: string | null
  ended_as: PaymentRequest['endedAs']
  expires_at: Date
  created_at: Date
  ended_at: Date | null
}

function fromRow(row: RequestRow): PaymentRequest {
  return {
    id: row.id as PaymentRequest['id'],
    paymentId: row.payment_id,
    checkoutId: row.checkout_id as PaymentRequest['checkoutId'],
    owner: { userId: row.user_id, environment: row.environment },
    amount: usdc(row.amount),
    note: row.note,
    callbackUrl: row.callback_url,
    saleId: row.sale_id,
    endedAs: row.ended_as,
    expiresAt: row.expires_at,
    createdAt: row.created_at,
    endedAt: row.ended_at,
  }
}

const OF_PAYMENTS = 'SELECT * FROM payment_request WHERE payment_id = ANY ($1) ORDER BY id'

const OF_CHECKOUT = 'SELECT 1 FROM payment_request WHERE checkout_id = $1 AND user_id = $2 AND environment = $3'

// A repeated operation finds the row that it created.
const ADD = `
INSERT INTO payment_request
  (id, payment_id, checkout_id, user_id, environment, amount, note, callback_url, expires_at, created_at)
VALUES ($1, $2, $3, $4, $5::environment, $6, $7, $8, $9, $10) ON CONFLICT (id) DO NOTHING`

// The row lock decides between two payments of the same moment, and between a payment and a refusal. The order that it
// belongs to (`isOrderOver`) does not end before this transaction has.
const CLAIM = `
WITH there AS (SELECT * FROM payment_request WHERE checkout_id = $1 FOR UPDATE),
within AS (
  SELECT s.id FROM there JOIN sale s ON s.id = there.payment_id
  WHERE s.state IN ('held', 'settling', 'paid') AND (s.result IS NULL OR s.result ->> 'status' <> 'failed')
    AND (s.amount = 0 OR s.refunded < s.amount)
  FOR SHARE OF s),
claimed AS (
  UPDATE payment_request r SET sale_id = $2 FROM there, within
  WHERE r.id = there.id AND there.ended_as IS NULL AND there.sale_id IS NULL AND there.expires_at > $3
  RETURNING r.id)
SELECT EXISTS (SELECT FROM claimed) AS claimed, EXISTS (SELECT FROM within) AS open FROM there`

const RELEASE = 'UPDATE payment_request SET sale_id = NULL WHERE sale_id = $1 AND ended_as IS NULL'

// The checkout has sold what it was made for.
const ENDED = `
, closed AS (
  UPDATE checkout SET state = 'expired', expired_at = ended.ended_at, updated_at = ended.ended_at FROM ended
  WHERE checkout.id = ended.checkout_id AND checkout.state <> 'expired')
SELECT * FROM ended`

const PAY = `
WITH ended AS (
  UPDATE payment_request SET ended_as = 'paid', ended_at = $2 WHERE sale_id = $1 AND ended_as IS NULL RETURNING *)
${ENDED}`

const REFUSE = `
WITH ended AS (
  UPDATE payment_request SET ended_as = 'refused', ended_at = $3
  WHERE id = $1 AND payment_id = $2 AND ended_as IS NULL AND sale_id IS NULL AND expires_at > $3 RETURNING *)
${ENDED}`

const EXPIRE = `
WITH ended AS (
  UPDATE payment_request SET ended_as = 'expired', ended_at = expires_at
  WHERE id IN (
    SELECT id FROM payment_request WHERE ended_as IS NULL AND sale_id IS NULL AND expires_at <= $1
    ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED)
  RETURNING *)
${ENDED}`
