import { leastId } from '../../kit/ids.ts'
import type { StatementPool } from '../../kit/transaction.ts'
import { IS_REAL } from '../../sales/model.ts'
import type { CheckoutStore } from '../stores.ts'

/** How often payment pages were opened, and how many payments were made there. */
export function openings(statements: StatementPool): Pick<CheckoutStore, 'addOpenings' | 'conversion'> {
  return {
    async addOpenings(rows) {
      const values = [rows.map((row) => row.checkout), rows.map(({ day }) => day), rows.map(({ count }) => count)]
      await statements.run(ADD, values, 'checkout_add_openings')
    },

    async conversion({ userId, environment }, { from, to, before }) {
      const days = [before, from, to].map((at) => at.toISOString().slice(0, 10))
      const ids = [before, from, to].map((at) => leastId('pay', at))
      const rows = await statements.run<ConvertedRow>(
        CONVERSION,
        [userId, environment, ...days, ...ids],
        CONVERSION_NAME,
      )
      return rows.map(({ id, name, opened, paid, opened_before, paid_before, checkouts }) => ({
        id,
        name,
        opened: Number(opened),
        paid: Number(paid),
        before: { opened: Number(opened_before), paid: Number(paid_before) },
        checkouts: Number(checkouts),
      }))
    },
  }
}

interface ConvertedRow {
  id: string | null
  name: string | null
  opened: bigint
  paid: bigint
  opened_before: bigint
  paid_before: bigint
  checkouts: bigint
}

// All processes write rows in the same order, so that they never wait for each other in a circle.
const ADD = `
INSERT INTO checkout_day AS d (day, checkout_id, user_id, environment, opened)
SELECT w.day, c.id, c.user_id, c.environment, w.count
FROM unnest($1::text[], $2::date[], $3::bigint[]) AS w (id, day, count) JOIN checkout c ON c.id = w.id
ORDER BY w.day, c.id
ON CONFLICT (day, checkout_id) DO UPDATE SET opened = d.opened + EXCLUDED.opened`

const CONVERSION_NAME = 'checkout_conversion'

/**
 * The first row, without an id, has the sums of all. A payment counts where it was made on the page, for money: the request
 * of an agent opens no page, and the runs of a pass were paid with the pass.
 */
const CONVERSION = `
WITH counted AS (
  SELECT checkout_id AS id, day >= $4::date AS is_now, opened, 0::bigint AS paid
  FROM checkout_day WHERE user_id = $1 AND environment = $2::environment AND day >= $3::date AND day < $5::date
  UNION ALL
  SELECT s.subject, s.id >= $7, 0, count(*)
  FROM (VALUES ('paid'::sale_state), ('refunded')) AS k (state) JOIN sale s
    ON s.user_id = $1 AND s.environment = $2::environment AND s.product = 'checkout' AND s.state = k.state
    AND s.id >= $6 AND s.id < $8
  WHERE s.amount > 0 AND s.details ->> 'onPage' = 'true' AND ${IS_REAL}
  GROUP BY 1, 2
), sums AS (
  SELECT id, coalesce(sum(opened) FILTER (WHERE is_now), 0)::bigint AS opened, coalesce(sum(paid) FILTER (WHERE is_now), 0)::bigint AS paid,
    coalesce(sum(opened) FILTER (WHERE NOT is_now), 0)::bigint AS opened_before,
    coalesce(sum(paid) FILTER (WHERE NOT is_now), 0)::bigint AS paid_before,
    count(DISTINCT id) AS checkouts
  FROM counted GROUP BY GROUPING SETS ((), (id))
)
SELECT t.id, c.product_name AS name, t.opened, t.paid, t.opened_before, t.paid_before, t.checkouts
FROM (SELECT * FROM sums ORDER BY id IS NOT NULL, opened DESC, paid DESC, id DESC LIMIT 21) t
LEFT JOIN checkout c ON c.id = t.id
ORDER BY t.id IS NOT NULL, t.opened DESC, t.paid DESC, t.id DESC`
