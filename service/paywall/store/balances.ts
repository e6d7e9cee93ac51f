import { usdc } from '../../kit/money.ts'
import type { StatementPool } from '../../kit/transaction.ts'
import type { PrepaidStore } from '../ports.ts'
import { createDebits } from './debits.ts'

type Balances = Pick<PrepaidStore, 'hold' | 'draw' | 'left' | 'addCounts' | 'endHolds'>

/** The balances that measured calls draw from. */
export function balances(statements: StatementPool): Balances {
  const { hold, draw } = createDebits(statements)

  return {
    hold,
    draw,

    async left(paywall, network, payer) {
      const [row] = await statements.run<{ available: bigint }>(LEFT, [paywall, network, payer], 'paywall_left')
      return usdc(row?.available ?? 0n)
    },

    async addCounts(rows) {
      await statements.run(
        ADD_COUNTS,
        [
          rows.map(({ paywall }) => paywall),
          rows.map(({ day }) => day),
          rows.map(({ route }) => route),
          rows.map(({ outcome }) => outcome),
          rows.map(({ count }) => count),
        ],
        'paywall_add_counts',
      )
    },

    async endHolds(now) {
      const over = await statements.run<{ call: string; minimum: bigint }>(
        'SELECT call, minimum FROM paywall_hold WHERE until <= $1 LIMIT 500',
        [now],
        'paywall_holds_over',
      )
      await Promise.all(over.map(({ call, minimum }) => draw(call, usdc(minimum), now)))
    },
  }
}

const LEFT = 'SELECT available FROM paywall_balance WHERE paywall_id = $1 AND network = $2 AND payer = $3'

// All processes write rows in the same order, so that they never deadlock.
const ADD_COUNTS = `
INSERT INTO paywall_day AS d (paywall_id, day, route, outcome, count, amount)
SELECT w.paywall, w.day, w.route, w.outcome, w.count, 0
FROM unnest($1::text[], $2::date[], $3::text[], $4::text[], $5::bigint[]) AS w (paywall, day, route, outcome, count)
WHERE EXISTS (SELECT FROM paywall p WHERE p.id = w.paywall)
ORDER BY w.paywall, w.day, w.route, w.outcome
ON CONFLICT (paywall_id, day, route, outcome) DO UPDATE SET count = d.count + EXCLUDED.count`
