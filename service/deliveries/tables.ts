import { ageOf, DAY_MS, days, newestMarks, OWNED, sealedInTurn, type Tables } from '../kit/tables.ts'

export const deliveriesTables: Tables = {
  sealed: sealedInTurn('delivery_target', `t.id || '/signingSecret'`),
  retention: (kept) => ({
    delivery: { kept: 'each can be redelivered at any time, with the same webhook-id' },
    delivery_target: { kept: 'one per checkout or endpoint' },
    delivery_attempt: {
      keptMs: days(kept.deliveries),
      age: 'at',
      key: [['id', 'bigint']],
      unless: `EXISTS (SELECT FROM delivery d WHERE d.id = t.delivery_id AND d.state IN ('pending', 'claimed', 'unconfirmed'))`,
      says: 'Attempts of deliveries that have ended. The delivery stays, with its last status and the number of attempts.',
    },
    delivery_bounded_event: {
      keptMs: 7 * DAY_MS,
      age: 'at',
      key: [
        ['at', 'timestamptz'],
        ['about', 'text'],
        ['key', 'bytea'],
      ],
      says: 'When events that anyone can trigger were sent. The delivery stays.',
    },
  }),
  metrics: [
    {
      declared: [
        { name: 'coinslot_deliveries_open', help: 'Deliveries that have not arrived, by state', labels: ['state'] },
        {
          name: 'coinslot_delivery_overdue_seconds',
          help: 'How long the oldest due attempt is overdue; 0 while attempts are on time',
          labels: [],
        },
      ],
      sql: `SELECT 'coinslot_deliveries_open', 'pending', NULL, count(*)::float8 FROM delivery WHERE state = 'pending'
UNION ALL SELECT 'coinslot_deliveries_open', 'claimed', NULL, count(*)::float8 FROM delivery WHERE state = 'claimed'
UNION ALL SELECT 'coinslot_delivery_overdue_seconds', NULL, NULL, coalesce(${ageOf('min(due_at)')}, 0)
  FROM delivery WHERE state = 'pending'`,
    },
  ],
  changes: {
    deliveries: [
      newestMarks('delivery', 'state, attempts, last_attempt_at, due_at', 50),
      newestMarks(
        'delivery_target',
        'url, events, status, failing_since',
        100,
        `${OWNED} AND events <> '{}' AND status <> 'deleted'`,
      ),
    ],
  },
}
