import { BOOKS, OWNED, ageOf, days, rowMarks, type Tables } from '../kit/tables.ts'

export const walletTables: Tables = {
  retention: (kept) => ({
    wallet_address: { kept: 'one for each wallet' },
    wallet_alert: { kept: 'one for each wallet' },
    wallet_payout_address: { kept: 'one for each wallet' },
    wallet_cursor: { kept: 'one for each network' },
    wallet_deposit: { kept: 'money: one transfer is credited once, ever' },
    wallet_word: { kept: 'money: one transfer is credited once, ever' },
    wallet_withdrawal: { kept: BOOKS },
    wallet_sweep: { kept: BOOKS },
    wallet_reconciliation: {
      keptMs: days(kept.reconciliations),
      age: 'at',
      key: [['id', 'bigint']],
      unless:
        't.difference <> 0 OR NOT EXISTS (SELECT FROM wallet_reconciliation l WHERE l.network = t.network AND l.id > t.id)',
      says: 'Comparisons of ledger and chain that agreed. Differences stay, and the newest of each network.',
    },
  }),
  metrics: [
    {
      // A network that was taken out of the settings leaves its rows behind; it would be silent for ever.
      declared: [
        {
          name: 'coinslot_withdrawals_open',
          help: 'Withdrawals and refunds that are not on chain, by state',
          labels: ['state'],
        },
        { name: 'coinslot_withdrawals_usdc', help: 'USDC of them', labels: ['state'] },
        { name: 'coinslot_withdrawal_oldest_seconds', help: 'Age of the oldest of them', labels: [] },
        {
          name: 'coinslot_deposit_monitor_lag_blocks',
          help: 'Blocks that the monitor has not read, as of its last turn',
          labels: ['network'],
        },
        {
          name: 'coinslot_deposit_monitor_silent_seconds',
          help: 'Time since the monitor last made progress',
          labels: ['network'],
        },
        {
          name: 'coinslot_reconciliation_age_seconds',
          help: 'Age of the newest comparison of the ledger with the chain',
          labels: ['network'],
        },
      ],
      sql: `WITH withdrawal AS MATERIALIZED (
  SELECT state::text AS state, count(*) AS open, sum(amount) AS micro, min(created_at) AS oldest
  FROM wallet_withdrawal WHERE state IN ('pending', 'submitted') GROUP BY 1
)
SELECT 'coinslot_withdrawals_open', state, NULL, open::float8 FROM withdrawal
UNION ALL SELECT 'coinslot_withdrawals_usdc', state, NULL, (micro / 1e6)::float8 FROM withdrawal
UNION ALL SELECT 'coinslot_withdrawal_oldest_seconds', NULL, NULL, coalesce(${ageOf('min(oldest)')}, 0) FROM withdrawal
UNION ALL SELECT 'coinslot_deposit_monitor_lag_blocks', network, NULL, (head - block_number)::float8
  FROM wallet_cursor WHERE network = ANY($3::text[])
UNION ALL SELECT 'coinslot_deposit_monitor_silent_seconds', network, NULL, ${ageOf('at')}
  FROM wallet_cursor WHERE network = ANY($3::text[])
UNION ALL SELECT 'coinslot_reconciliation_age_seconds', asked.network, NULL, ${ageOf('newest.at')}
  FROM unnest($3::text[]) AS asked(network)
  CROSS JOIN LATERAL (SELECT at FROM wallet_reconciliation WHERE network = asked.network ORDER BY id DESC LIMIT 1) AS newest`,
    },
  ],
  changes: {
    wallet: [
      rowMarks(`SELECT id, concat_ws(',', id, state) AS mark
        FROM wallet_withdrawal WHERE ${OWNED} ORDER BY created_at DESC LIMIT 20`),
    ],
  },
}
