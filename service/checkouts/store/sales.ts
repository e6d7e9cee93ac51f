import { leastId } from '../../kit/ids.ts'
import { usdc } from '../../kit/money.ts'
import type { StatementPool } from '../../kit/transaction.ts'
import type { CheckoutStore } from '../ports.ts'

/** The queries that connect sales and checkouts. */
export function sales(
  statements: StatementPool,
): Pick<CheckoutStore, 'holdOpen' | 'days' | 'defaultedUntil' | 'addDefault'> {
  return {
    async holdOpen(inside, id, now) {
      return (await inside.run(HOLD_OPEN, [id, now], 'checkout_hold_open')).length > 0
    },

    async defaultedUntil(payer, network, now) {
      const values = [payer.toLowerCase(), network, now]
      const [row] = await statements.run<{ until: Date }>(DEFAULTED, values, 'checkout_defaulted')
      return row?.until ?? null
    },

    async addDefault(inside, { payer, network, until }) {
      await inside.run(ADD_DEFAULT, [payer, network, until], 'checkout_add_default')
    },

    async days({ userId, environment }, since) {
      const values = [userId, environment, leastId('pay', since)]
      const rows = await statements.run<{ day: string; paid: bigint; failed: bigint; amount: bigint }>(
        DAYS,
        values,
        'checkout_days',
      )
      return rows.map(({ day, paid, failed, amount }) => ({
        day,
        paid: Number(paid),
        failed: Number(failed),
        amount: usdc(amount),
      }))
    },
  }
}

// The row is locked while a payment is created, so no payment starts after its checkout has expired or is paused.
const HOLD_OPEN = `
SELECT id FROM checkout WHERE id = $1 AND state = 'active' AND (leased_until IS NULL OR leased_until > $2) FOR SHARE`

const DEFAULTED = 'SELECT until FROM checkout_default WHERE payer = $1 AND network = $2 AND until > $3'

const ADD_DEFAULT = `
INSERT INTO checkout_default (payer, network, until) VALUES ($1, $2, $3)
ON CONFLICT (payer, network) DO UPDATE SET until = greatest(checkout_default.until, excluded.until)`

const DAYS = `
SELECT to_char(s.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day,
       count(*) FILTER (WHERE s.state IN ('paid', 'refunded')) AS paid, count(*) FILTER (WHERE s.state = 'failed') AS failed,
       coalesce(sum(s.amount) FILTER (WHERE s.state IN ('paid', 'refunded')), 0)::bigint AS amount
FROM checkout c JOIN sale s ON s.subject = c.id AND s.id >= $3
WHERE c.user_id = $1 AND c.environment = $2::environment AND NOT s.simulated
GROUP BY 1 ORDER BY 1`
