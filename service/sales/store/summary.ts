import { leastId } from '../../kit/ids.ts'
import { usdc } from '../../kit/money.ts'
import type { Statements } from '../../kit/transaction.ts'
import { IS_REAL, type SaleDay, type SaleSummary } from '../model.ts'

/** What a seller earned in a span of days, and in as many days before it. Each statement reads one index. */
export function createSummaryStore(statements: Statements): SaleSummary {
  return {
    async days({ userId, environment }, { from, to, before }) {
      const values = [userId, environment, leastId('pay', before), leastId('pay', to)]
      const rows = await statements.run<DayRow>(DAYS, values, 'sale_summary_days')
      return rows.map((row) => fromDayRow(row, from))
    },

    async customers({ userId, environment }, { from, to, before }) {
      const owner = [userId, environment]
      const [now, earlier] = await Promise.all(
        [
          [from, to],
          [before, from],
        ].map(async ([first, last]) => {
          const values = [...owner, first, last, ...[first, last].map((at) => leastId('pay', at ?? to))]
          const [row] = await statements.run<{ added: bigint; returning: bigint }>(
            CUSTOMERS,
            values,
            'sale_summary_customers',
          )
          return { added: Number(row?.added ?? 0), returning: Number(row?.returning ?? 0) }
        }),
      )
      return { now: now ?? NONE, before: earlier ?? NONE }
    },

    async failures({ userId, environment }, { from, to }) {
      const values = [userId, environment, leastId('pay', from), leastId('pay', to), REASONS_MAX]
      const rows = await statements.run<{ reason: string | null; count: bigint }>(
        FAILURES,
        values,
        'sale_summary_failures',
      )
      return rows.map(({ reason, count }) => ({ reason, count: Number(count) }))
    },
  }
}

const NONE = { added: 0, returning: 0 }
const REASONS_MAX = 20

interface DayRow {
  day: string
  payments: bigint
  paid: bigint
  refunded: bigint
  failed: bigint
}

function fromDayRow({ day, payments, paid, refunded, failed }: DayRow, from: Date): SaleDay {
  const counts = { payments: Number(payments), failed: Number(failed) }
  return { day, isNow: day >= from.toISOString().slice(0, 10), ...counts, paid: usdc(paid), refunded: usdc(refunded) }
}

const OF_SELLER = 's.user_id = $1 AND s.environment = $2::environment'

// The index has each column. What costs nothing is no payment: a run of a pass was paid with the pass.
const DAYS = `
SELECT to_char(day, 'YYYY-MM-DD') AS day, payments, paid, refunded, failed FROM (
SELECT (s.created_at AT TIME ZONE 'UTC')::date AS day,
  count(*) FILTER (WHERE s.state <> 'failed' AND s.amount > 0) AS payments,
  coalesce(sum(s.amount) FILTER (WHERE s.state <> 'failed'), 0)::bigint AS paid,
  coalesce(sum(s.refunded) FILTER (WHERE s.state <> 'failed'), 0)::bigint AS refunded,
  count(*) FILTER (WHERE s.state = 'failed') AS failed
FROM sale s
WHERE ${OF_SELLER} AND s.id >= $3 AND s.id < $4 AND s.state IN ('paid', 'refunded', 'failed') AND ${IS_REAL}
GROUP BY 1
) d ORDER BY d.day`

/**
 * A customer who paid before has returned if they paid in the span: where their last payment is after it, their payments are
 * looked at.
 */
const CUSTOMERS = `
SELECT
  (SELECT count(*) FROM sale_customer s WHERE ${OF_SELLER} AND s.first_at >= $3 AND s.first_at < $4) AS added,
  (SELECT count(*) FROM sale_customer s WHERE ${OF_SELLER} AND s.last_id >= $5 AND s.first_at < $3 AND (
    s.last_id < $6
    OR EXISTS (
      SELECT FROM sale p WHERE p.user_id = $1 AND p.environment = $2::environment AND p.id >= $5 AND p.id < $6
        AND lower(p.details #>> '{receipt,email}') = s.email AND sale_has_customer(p)
    )
    OR s.email IS NULL AND EXISTS (
      SELECT FROM sale p WHERE p.user_id = $1 AND p.environment = $2::environment AND p.id >= $5 AND p.id < $6
        AND p.payer = s.key AND p.details #>> '{receipt,email}' IS NULL AND sale_has_customer(p)
    )
  )) AS returning`

// Reads the failed ones of each product.
const FAILURES = `
SELECT s.reason, count(*) AS count
FROM unnest(enum_range(NULL::sale_product)) AS k (product) JOIN sale s
  ON ${OF_SELLER} AND s.product = k.product AND s.state = 'failed' AND s.id >= $3 AND s.id < $4
WHERE ${IS_REAL}
GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT $5`
