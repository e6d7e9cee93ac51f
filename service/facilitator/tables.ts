import { ageOf, days, type Tables } from '../kit/tables.ts'

export const facilitatorTables: Tables = {
  retention: (kept) => ({
    facilitator_settlement: { kept: ONCE },
    facilitator_purchase: { kept: ONCE },
    facilitator_transaction: { kept: 'each nonce of a sponsor may be looked up again' },
    facilitator_hash: { kept: 'any hash of a sponsor may have been mined' },
    facilitator_gas: {
      keptMs: days(kept.decisions),
      age: 'day',
      key: [
        ['day', 'date'],
        ['network', 'text'],
        ['payer', 'bytea'],
      ],
      says: 'Sponsored gas by day and payer; only the current day counts toward a limit.',
    },
  }),
  metrics: [
    {
      declared: [
        {
          name: 'coinslot_settlements_open',
          help: 'Authorizations that are claimed and not settled, by network and state',
          labels: ['network', 'state'],
        },
        {
          name: 'coinslot_settlements_usdc',
          help: 'USDC of settlements that are not final',
          labels: ['network', 'state'],
        },
        {
          name: 'coinslot_settlement_oldest_seconds',
          help: 'Age of the oldest unsettled authorization',
          labels: ['network'],
        },
      ],
      sql: `WITH settlement AS MATERIALIZED (
  SELECT network, state::text AS state, count(*) AS open, sum(value) AS micro, min(claimed_at) AS oldest
  FROM facilitator_settlement WHERE state IN ('claimed', 'signed', 'broadcast') GROUP BY 1, 2
)
SELECT 'coinslot_settlements_open', network, state, open::float8 FROM settlement
UNION ALL SELECT 'coinslot_settlements_usdc', network, state, (micro / 1e6)::float8 FROM settlement
UNION ALL SELECT 'coinslot_settlement_oldest_seconds', network, NULL, ${ageOf('min(oldest)')} FROM settlement GROUP BY network`,
    },
  ],
}

const ONCE = 'one authorization pays for one purchase only, forever'
