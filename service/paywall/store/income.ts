import type { Statements } from '../../kit/transaction.ts'
import { usdc, ZERO } from '../../kit/money.ts'
import { isReal } from '../../sales/model.ts'
import type { Facts, Payment } from '../model.ts'
import type { Credit, PrepaidStore } from '../ports.ts'
import { tierAt } from '../rules/pricing.ts'
import { keyOf } from '../rules/routes.ts'
import { fromStoredRoute, type StoredRoute } from './rows.ts'

/** The effects of a payment, in its transaction. */
export function income(): Pick<PrepaidStore, 'paid'> {
  return {
    async paid(inside, payment, credit, now) {
      const { paywallId, payer, route } = payment
      // Test money buys its calls, but it is no revenue, and makes no customer.
      const counts = isReal({ ...payment, ...payment.owner })
      const amount = counts ? payment.amount : ZERO
      // From here the paywall's row is locked, so statements that count its payments run one after the other.
      const [wall] = await inside.run<WallRow>(EARNED, [paywallId, amount], 'paywall_earned')
      if (wall === undefined) throw new Error('the paywall of a sale was not found')
      const values = [paywallId, payer, amount, now, now.toISOString().slice(0, 10), route]
      const [customer] = counts ? await inside.run<{ payments: number }>(CUSTOMER, values, 'paywall_customer') : []
      if (payment.kind === 'balance') await addCredit(inside, payment, credit, now)
      const revenue = usdc(wall.revenue)
      return {
        payment,
        customerPayments: customer?.payments ?? 0,
        revenueBefore: usdc(revenue - amount),
        revenue,
        milestones: wall.milestones.map(usdc),
        tier: await moved(inside, payment, wall.routes),
      }
    },
  }
}

interface WallRow {
  revenue: bigint
  milestones: bigint[]
  routes: StoredRoute[]
}

/**
 * Adds the payment to the payer's balance. The call that came with it takes its cost at once, or has its maximum set
 * aside.
 */
async function addCredit(inside: Statements, payment: Payment, { tokenHash, hold }: Credit, now: Date): Promise<void> {
  const { id, paywallId, network, payer, amount, cost, route } = payment
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
  const { paywallId, route, payer, windowStart, network } = payment
  if (windowStart === null) return null
  const place = [paywallId, route, payer]
  const [row] = await inside.run<{ paid: number; tier: number }>(
    COUNT_PAID,
    [...place, windowStart, network],
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

const EARNED = 'UPDATE paywall SET revenue = revenue + $2 WHERE id = $1 RETURNING revenue, milestones, routes'

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

// A payer who signed for an earlier, lower maximum has no more than that to set aside.
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
WHERE paywall_id = $1 AND route = $2 AND payer = $3 AND window_start = $4 AND network = $5 RETURNING paid, tier`
