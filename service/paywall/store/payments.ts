import { isId } from '../../kit/ids.ts'
import type { StatementPool } from '../../kit/transaction.ts'
import type { HeaderList, Payment } from '../model.ts'
import type { PaymentStore } from '../ports.ts'
import { nextResume } from '../rules/payment.ts'
import type { Places } from '../rules/pricing.ts'
import { bytesOf, fromPaymentRow, paymentValues, type PaymentRow } from './rows.ts'

type Payments = Pick<
  PaymentStore,
  | 'inTransaction'
  | 'find'
  | 'findById'
  | 'takePlace'
  | 'places'
  | 'add'
  | 'take'
  | 'leave'
  | 'release'
  | 'bind'
  | 'settling'
  | 'keep'
  | 'answerOf'
  | 'begun'
  | 'delivered'
>

/** A payment on its way to an answer. */
export function payments(statements: StatementPool): Payments {
  return {
    inTransaction: (work) => statements.together(work),

    async find(digest) {
      return only(await statements.run<PaymentRow>(FIND, [bytesOf(digest)], 'paywall_payment_find'))
    },

    async findById(id) {
      if (!isId('pay', id)) return null
      return only(await statements.run<PaymentRow>(FIND_BY_ID, [id], 'paywall_payment_by_id'))
    },

    async takePlace(inside, { paywallId, route, payer, windowStart }) {
      const [row] = await inside.run<Places>(TAKE_PLACE, [paywallId, route, payer, windowStart], 'paywall_take_place')
      if (row === undefined) throw new Error('a place in a tier vanished')
      return { paid: row.paid, taken: row.taken - 1 }
    },

    async places(paywall, route, payer, windowStart) {
      const [row] = await statements.run<Places>(PLACES, [paywall, route, payer, windowStart], 'paywall_places')
      return { paid: row?.paid ?? 0, taken: row?.taken ?? 0 }
    },

    async add(inside, payment, resumeAt) {
      const rows = await inside.run(ADD, paymentValues(payment, resumeAt), 'paywall_payment_add')
      return rows.length > 0
    },

    async take(inside, { id, windowStart }, now, until) {
      const [row] = await inside.run<PaymentRow & { before: Payment['state'] }>(
        TAKE,
        [id, now, until, windowStart],
        'paywall_payment_take',
      )
      return row === undefined ? null : { ...fromPaymentRow(row), state: row.before }
    },

    async leave(id) {
      await statements.run('UPDATE paywall_payment SET lease_until = NULL WHERE id = $1', [id], 'paywall_leave')
    },

    async release(id) {
      await statements.run(RELEASE('p.id = $1'), [id], 'paywall_release')
    },

    async bind(id, bodyHash) {
      const [row] = await statements.run<{ same: boolean }>(BIND, [id, bodyHash], 'paywall_bind')
      return row?.same === true
    },

    async settling(id, { answer, bodyHash, cost }, now) {
      const rows = await statements.run(
        SETTLING,
        [
          ...[id, bodyHash, cost, nextResume(now, now), now],
          ...[answer?.status ?? null, answer === null ? null : JSON.stringify(answer.headers), answer?.body ?? null],
        ],
        'paywall_settling',
      )
      if (rows.length === 0) throw new Error('a payment was taken over while its upstream answered')
    },

    async keep(id, { status, headers, body }, bodyHash, now) {
      await statements.run(KEEP, [id, bodyHash, now, status, JSON.stringify(headers), body], 'paywall_keep')
    },

    async answerOf(id) {
      const [row] = await statements.run<{ status: number; headers: HeaderList; body: Buffer }>(
        'SELECT status, headers, body FROM paywall_answer WHERE payment_id = $1',
        [id],
        'paywall_answer_of',
      )
      return row ?? null
    },

    async begun(id) {
      await statements.run(
        `UPDATE paywall_payment SET delivery = 'begun' WHERE id = $1 AND state = 'paid' AND delivery = 'none'`,
        [id],
        'paywall_begun',
      )
    },

    async delivered(id) {
      await statements.run(DELIVERED, [id], 'paywall_delivered')
    },
  }
}

function only([row]: readonly PaymentRow[]): Payment | null {
  return row === undefined ? null : fromPaymentRow(row)
}

const FIND = 'SELECT * FROM paywall_payment WHERE digest = $1'
const FIND_BY_ID = 'SELECT * FROM paywall_payment WHERE id = $1'

// A new window begins with nothing; the tier that was told of stays until another is.
const TAKE_PLACE = `
INSERT INTO paywall_tier AS t (paywall_id, route, payer, window_start, taken, paid, tier)
VALUES ($1, $2, $3, $4, 1, 0, 0)
ON CONFLICT (paywall_id, route, payer) DO UPDATE SET
  taken = CASE WHEN t.window_start = EXCLUDED.window_start THEN t.taken + 1 ELSE 1 END,
  paid = CASE WHEN t.window_start = EXCLUDED.window_start THEN t.paid ELSE 0 END,
  window_start = EXCLUDED.window_start
RETURNING paid, taken`

const PLACES = `
SELECT paid, taken FROM paywall_tier WHERE paywall_id = $1 AND route = $2 AND payer = $3 AND window_start = $4`

const ADD = `
INSERT INTO paywall_payment (id, paywall_id, user_id, environment, kind, state, route, endpoint, amount, network,
  recipient, payer, simulated, digest, request, line_hash, body_hash, token_hash, window_start, cost, tx_hash, reason,
  delivery, lease_until, resume_at, expires_at, created_at, ended_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15::json, $16, $17, $18, $19, $20, $21, $22, $23,
  $24, $25, $26, $27, $28)
ON CONFLICT DO NOTHING
RETURNING id`

const TAKE = `
WITH free AS (
  SELECT id, state FROM paywall_payment
  WHERE id = $1 AND (lease_until IS NULL OR lease_until <= $2)
    AND (state IN ('released', 'calling', 'settling') OR (state = 'paid' AND delivery = 'none'))
  FOR UPDATE
)
UPDATE paywall_payment p SET lease_until = $3,
  state = CASE WHEN p.state = 'released' THEN 'calling'::paywall_payment_state ELSE p.state END,
  window_start = CASE WHEN p.state = 'released' THEN $4 ELSE p.window_start END
FROM free WHERE p.id = free.id
RETURNING p.*, free.state AS before`

/** Its place in a tier becomes somebody's next call again. */
export const RELEASE = (which: string): string => `
WITH released AS (
  UPDATE paywall_payment p SET state = 'released', lease_until = NULL WHERE p.state = 'calling' AND ${which}
  RETURNING p.paywall_id, p.route, p.payer, p.window_start
), freed AS (
  SELECT paywall_id, route, payer, window_start, count(*)::int AS places FROM released
  WHERE window_start IS NOT NULL GROUP BY paywall_id, route, payer, window_start
)
UPDATE paywall_tier t SET taken = greatest(t.taken - freed.places, t.paid) FROM freed
WHERE t.paywall_id = freed.paywall_id AND t.route = freed.route AND t.payer = freed.payer
  AND t.window_start = freed.window_start`

const BIND = `
UPDATE paywall_payment SET body_hash = coalesce(body_hash, $2) WHERE id = $1 RETURNING body_hash = $2 AS same`

const SETTLING = `
WITH settling AS (
  UPDATE paywall_payment SET state = 'settling', body_hash = coalesce(body_hash, $2), cost = $3, resume_at = $4
  WHERE id = $1 AND state = 'calling' AND lease_until > $5 RETURNING id
), kept AS (
  INSERT INTO paywall_answer (payment_id, status, headers, body, kept_at)
  SELECT id, $6::int, $7::json, $8::bytea, $5 FROM settling WHERE $6::int IS NOT NULL
)
SELECT id FROM settling`

const KEEP = `
WITH owed AS (
  UPDATE paywall_payment SET body_hash = coalesce(body_hash, $2) WHERE id = $1 AND state = 'paid' AND delivery = 'none' RETURNING id
)
INSERT INTO paywall_answer (payment_id, status, headers, body, kept_at)
SELECT id, $4::int, $5::json, $6::bytea, $3 FROM owed
ON CONFLICT (payment_id) DO NOTHING`

const DELIVERED = `
WITH gone AS (DELETE FROM paywall_answer WHERE payment_id = $1)
UPDATE paywall_payment SET delivery = 'whole', lease_until = NULL WHERE id = $1 AND state = 'paid'`
