import { ageOf, type Tables } from '../kit/tables.ts'

export const salesTables: Tables = {
  retention: () => ({
    sale: { kept: 'money: sales and their buyers' },
    sale_customer: { kept: 'one for each customer of a seller' },
    checkout_default: {
      keptMs: DAY_MS,
      age: 'until',
      key: [
        ['until', 'timestamptz'],
        ['payer', 'text'],
        ['network', 'text'],
      ],
      says: 'Wallets that left finished work unpaid, for as long as they must pay first.',
    },
    sale_answer: {
      ends: 'when it was delivered completely, or after ten minutes, 26 hours where its buyer was away (sales.answers)',
    },
  }),
  metrics: [
    {
      declared: [
        {
          name: 'coinslot_payments_open',
          help: 'Open payments, by product',
          labels: ['at', 'state'],
        },
        { name: 'coinslot_payment_oldest_seconds', help: 'Age of the oldest open payment', labels: ['at'] },
      ],
      sql: `WITH payment AS MATERIALIZED (
  SELECT product::text AS at, state::text AS state, count(*) AS open, min(created_at) AS oldest
  FROM sale WHERE state IN ('claimed', 'held', 'settling') AND NOT simulated GROUP BY 1, 2
)
SELECT 'coinslot_payments_open', at, state, open::float8 FROM payment
UNION ALL SELECT 'coinslot_payment_oldest_seconds', at, NULL, ${ageOf('min(oldest)')} FROM payment GROUP BY at`,
    },
  ],
}

const DAY_MS = 24 * 3_600_000
