import { usdc } from '../../kit/money.ts'
import type { StatementPool, Statements } from '../../kit/transaction.ts'
import type { Facts, Payment } from '../model.ts'
import type { Ending, PaymentStore } from '../ports.ts'
import { nextResume } from '../rules/payment.ts'
import { tierAt } from '../rules/pricing.ts'
import { keyOf } from '../rules/routes.ts'
import { RELEASE } from './payments.ts'
import { fromPaymentRow, fromStoredRoute, type PaymentRow, type StoredRoute } from './rows.ts'

type Ends = Pick<PaymentStore, 'paid' | 'failed' | 'takeOpen' | 'releaseLost' | 'forgetAnswers'>

/** How payments end, and what follows from it in the same transaction. */
export function ends(statements: StatementPool): Ends {
  return {
    async paid(inside, id, txHash, end, now) {
      const [row] = await inside.run<PaidRow>(PAID, [id, txHash, now, end.delivery], 'paywall_paid')
      if (row === undefined) return null
      const payment = fromPaymentRow(row)
      // The paywall's row is held from here on: whatever counts its payments does so one after the other.
      const [customer] = await inside.run<{ payments: number }>(
        CUSTOMER,
        [payment.paywallId, payment.payer, payment.amount, now, now.toISOString().slice(0, 10), payment.route],
        'paywall_customer',
      )
      if (payment.kind === 'balance') await credit(inside, payment, end, now)
      const revenue = usdc(row.wall_revenue)
      return {
        payment,
        customerPayments: customer?.payments ?? 0,
        revenueBefore: usdc(revenue - payment.amount),
        revenue,
        milestones: row.wall_milestones.map(usdc),
        tier: await moved(inside, payment, row.wall_routes),
      }
    },

    async failed(inside, id, reason, now) {
      const [row] = await inside.run<PaymentRow>(FAILED, [id, reason, now], 'paywall_failed')
      return row === undefined ? null : fromPaymentRow(row)
    },

    async takeOpen(now, limit) {
      const rows = await statements.run<{ id: string; created_at: Date }>(OPEN, [now, limit], 'paywall_open')
      if (rows.length === 0) return []
      const ids = rows.map(({ id }) => id)
      const next = rows.map((row) => nextResume(row.created_at, now))
      return (await statements.run<PaymentRow>(TAKE_OPEN, [ids, next, now], 'paywall_take_open')).map(fromPaymentRow)
    },

    async releaseLost(now) {
      await statements.run(RELEASE('p.lease_until <= $1'), [now], 'paywall_release_lost')
    },

    async forgetAnswers(before) {
      await statements.run(FORGET_ANSWERS, [before], 'paywall_forget_answers')
    },
  }
}

interface PaidRow extends PaymentRow {
  wall_revenue: bigint
  wall_milestones: bigint[]
  wall_routes: StoredRoute[]
}

/** Into the payer's balance; the call that came with it takes its cost at once, or has its most set aside. */
async function credit(inside: Statements, payment: Payment, { hold }: Ending, now: Date): Promise<void> {
  const { id, paywallId, network, payer, amount, cost, tokenHash, route } = payment
  const spent = cost ?? 0n
  const place = [paywallId, network, payer]
  await inside.run(CREDIT, [...place, amount, amount - spent, spent], 'paywall_credit')
  if (tokenHash !== null) await inside.run(TOKEN, [tokenHash, ...place], 'paywall_token')
  if (spent > 0n) {
    await inside.run(DRAWN, [id, ...place, route, spent, now, now.toISOString().slice(0, 10)], 'paywall_drawn_at_once')
  } else if (hold !== null) {
    await inside.run(
      HOLD_REST,
      [hold.call, ...place, hold.route, hold.amount, hold.minimum, hold.until],
      'paywall_hold_rest',
    )
  }
}

async function moved(inside: Statements, payment: Payment, routes: readonly StoredRoute[]): Promise<Facts['tier']> {
  const { paywallId, route, payer, windowStart } = payment
  if (windowStart === null) return null
  const place = [paywallId, route, payer]
  const [row] = await inside.run<{ paid: number; tier: number }>(
    COUNT_PAID,
    [...place, windowStart],
    'paywall_paid_place',
  )
  const pricing = routes.map(fromStoredRoute).find((one) => keyOf(one) === route)?.pricing
  if (row === undefined || pricing?.model !== 'tiered') return null
  const to = tierAt(pricing.tiers, row.paid)
  if (to === row.tier) return null
  await inside.run(
    'UPDATE paywall_tier SET tier = $4 WHERE paywall_id = $1 AND route = $2 AND payer = $3',
    [...place, to],
    'paywall_tier_told',
  )
  return { from: row.tier, to }
}

const PAID = `
WITH paid AS (
  UPDATE paywall_payment SET state = 'paid', tx_hash = $2, ended_at = $3, resume_at = NULL, delivery = $4
  WHERE id = $1 AND state IN ('calling', 'settling') RETURNING *
), wall AS (
  UPDATE paywall w SET revenue = w.revenue + paid.amount FROM paid WHERE w.id = paid.paywall_id
  RETURNING w.revenue, w.milestones, w.routes
)
SELECT paid.*, wall.revenue AS wall_revenue, wall.milestones AS wall_milestones, wall.routes AS wall_routes
FROM paid, wall`

const CUSTOMER = `
WITH customer AS (
  INSERT INTO paywall_customer AS c (paywall_id, payer, payments, revenue, first_at) VALUES ($1, $2, 1, $3, $4)
  ON CONFLICT (paywall_id, payer) DO UPDATE SET payments = c.payments + 1, revenue = c.revenue + EXCLUDED.revenue
  RETURNING payments
), first AS (
  UPDATE paywall SET customers = customers + 1 FROM customer WHERE id = $1 AND customer.payments = 1
), day AS (
  INSERT INTO paywall_day AS d (paywall_id, day, route, outcome, count, amount) VALUES ($1, $5::date, $6, 'paid', 1, $3)
  ON CONFLICT (paywall_id, day, route, outcome) DO UPDATE SET count = d.count + 1, amount = d.amount + EXCLUDED.amount
)
SELECT payments FROM customer`

const CREDIT = `
INSERT INTO paywall_balance AS b (paywall_id, network, payer, paid, available, drawn, held)
VALUES ($1, $2, $3, $4, $5, $6, 0)
ON CONFLICT (paywall_id, network, payer) DO UPDATE SET
  paid = b.paid + EXCLUDED.paid, available = b.available + EXCLUDED.available, drawn = b.drawn + EXCLUDED.drawn`

const TOKEN = `
INSERT INTO paywall_token (hash, paywall_id, network, payer) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`

const DRAWN = `
WITH day AS (
  INSERT INTO paywall_day AS d (paywall_id, day, route, outcome, count, amount) VALUES ($2, $8::date, $5, 'drawn', 1, $6)
  ON CONFLICT (paywall_id, day, route, outcome) DO UPDATE SET count = d.count + 1, amount = d.amount + EXCLUDED.amount
)
INSERT INTO paywall_draw (call, paywall_id, network, payer, route, amount, at) VALUES ($1, $2, $3, $4, $5, $6, $7)`

// Who signed for an earlier, lower maximum has no more than that to set aside.
const HOLD_REST = `
WITH held AS (
  UPDATE paywall_balance SET held = held + least($6, available), available = available - least($6, available)
  WHERE paywall_id = $2 AND network = $3 AND payer = $4 RETURNING held, available
)
INSERT INTO paywall_hold (call, paywall_id, network, payer, route, amount, minimum, until)
SELECT $1, $2, $3, $4, $5, least($6, b.available), least($7, $6, b.available), $8
FROM paywall_balance b, held WHERE b.paywall_id = $2 AND b.network = $3 AND b.payer = $4`

const COUNT_PAID = `
UPDATE paywall_tier SET paid = paid + 1, taken = greatest(taken, paid + 1)
WHERE paywall_id = $1 AND route = $2 AND payer = $3 AND window_start = $4 RETURNING paid, tier`

const FAILED = `
WITH failed AS (
  UPDATE paywall_payment SET state = 'failed', reason = $2, ended_at = $3, resume_at = NULL, lease_until = NULL
  WHERE id = $1 AND state IN ('calling', 'settling') RETURNING *
), gone AS (
  DELETE FROM paywall_answer USING failed WHERE payment_id = failed.id
), freed AS (
  UPDATE paywall_tier t SET taken = greatest(t.taken - 1, t.paid) FROM failed
  WHERE t.paywall_id = failed.paywall_id AND t.route = failed.route AND t.payer = failed.payer
    AND t.window_start = failed.window_start
)
SELECT * FROM failed`

const OPEN = `
SELECT id, created_at FROM paywall_payment
WHERE state = 'settling' AND resume_at <= $1 AND (lease_until IS NULL OR lease_until <= $1)
ORDER BY resume_at LIMIT $2`

const TAKE_OPEN = `
WITH due AS (SELECT * FROM unnest($1::text[], $2::timestamptz[]) AS due (id, next))
UPDATE paywall_payment p SET resume_at = due.next FROM due
WHERE p.id = due.id AND p.state = 'settling' AND p.resume_at <= $3 RETURNING p.*`

// An answer that the chain has not let go yet is kept for as long as that takes, and ten minutes after it.
const FORGET_ANSWERS = `
DELETE FROM paywall_answer a USING paywall_payment p
WHERE p.id = a.payment_id AND a.kept_at < $1 AND p.ended_at < $1`
