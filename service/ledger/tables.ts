import { BOOKS, ageOf, rowMarks, type Tables } from '../kit/tables.ts'

/** A lock is named as what it is for; of any other name it is "other", so that no name ever becomes a label. */
const KIND_OF_HOLD = `CASE WHEN id ~ '^(run|call|pay|wdr|dlv)_' THEN split_part(id, '_', 1) ELSE 'other' END`

export const ledgerTables: Tables = {
  retention: () => ({
    ledger_account: { kept: BOOKS },
    ledger_movement: { kept: BOOKS },
    ledger_posting: { kept: BOOKS },
    ledger_hold: { kept: BOOKS },
  }),
  metrics: [
    {
      declared: [
        { name: 'coinslot_holds_open', help: 'Locks of money that are open, by what they are for', labels: ['of'] },
        { name: 'coinslot_holds_usdc', help: 'USDC that is locked, by what it is locked for', labels: ['of'] },
        {
          name: 'coinslot_hold_overdue_seconds',
          help: 'How long the oldest open lock is past its deadline; 0 while the sweeper keeps up',
          labels: [],
        },
      ],
      sql: `WITH hold AS MATERIALIZED (
  SELECT ${KIND_OF_HOLD} AS of, count(*) AS open, sum(amount - captured) AS micro, min(deadline) AS deadline
  FROM ledger_hold WHERE state = 'open' GROUP BY 1
)
SELECT 'coinslot_holds_open', of, NULL, open::float8 FROM hold
UNION ALL SELECT 'coinslot_holds_usdc', of, NULL, (micro / 1e6)::float8 FROM hold
UNION ALL SELECT 'coinslot_hold_overdue_seconds', NULL, NULL, coalesce(${ageOf('min(deadline)')}, 0) FROM hold`,
    },
  ],
  changes: {
    wallet: [
      rowMarks(`SELECT id::text AS id, concat_ws(',', kind, available, locked, deposited, spent) AS mark
        FROM ledger_account WHERE owner = o.user_id AND environment = o.environment`),
    ],
  },
}
