import { ageOf, days, newestMarks, sealedText, type Tables } from '../kit/tables.ts'

export const outgoingPaymentTables: Tables = {
  sealed: [sealedText('spending_payment', 'answer', `t.id || '/answer'`)],
  retention: (kept) => ({
    spending_payer: { kept: 'one for each account' },
    spending_payment: {
      keptMs: days(kept.answers),
      age: 'ended_at',
      key: [
        ['ended_at', 'timestamptz'],
        ['id', 'text'],
      ],
      among: 't.answer IS NOT NULL AND t.ended_at IS NOT NULL',
      instead: 'answer = NULL',
      says: 'Responses of sellers to background calls. The payment stays.',
    },
  }),
  metrics: [
    {
      declared: [],
      sql: `WITH payment AS MATERIALIZED (
  SELECT state::text AS state, count(*) AS open, min(created_at) AS oldest
  FROM spending_payment WHERE state NOT IN ('settled', 'returned') GROUP BY 1
)
SELECT 'coinslot_payments_open', 'agent', state, open::float8 FROM payment
UNION ALL SELECT 'coinslot_payment_oldest_seconds', 'agent', NULL, ${ageOf('min(oldest)')} FROM payment HAVING count(*) > 0`,
    },
  ],
  changes: { agents: [newestMarks('spending_payment', 'state', 20)] },
}
