import { oldestWaiting } from './outbox.ts'
import { ageOf, DAY_MS, type Tables } from '../kit/tables.ts'

export const queueTables: Tables = {
  sealed: [
    {
      table: 'outbox',
      column: 'payload',
      type: 'jsonb',
      secrets: `SELECT t.payload ->> 'ask', (t.payload ->> 'operation') || '/ask' WHERE t.topic = 'spending.pay'`,
    },
  ],
  retention: () => ({
    outbox: { ends: 'done rows a day later (outbox-retention); failed rows stay until an operator has checked them' },
    lease: {
      keptMs: DAY_MS,
      age: 'until',
      // No index is needed: there is one row for each process of the last day.
      key: [
        ['until', 'timestamptz'],
        ['name', 'text'],
      ],
      says: 'Leases of processes that ended.',
    },
  }),
  metrics: [
    {
      declared: [
        {
          name: 'coinslot_queue_oldest_due_seconds',
          help: 'How long the oldest due row waits, by topic',
          labels: ['topic'],
        },
        {
          name: 'coinslot_queue_lag_seconds',
          help: 'How long the oldest due row has waited for a relay, by topic, but for those that wait for their own account or target; high when the queue itself is slow',
          labels: ['topic'],
        },
        { name: 'coinslot_queue_dead', help: 'Rows whose last attempt failed, by topic', labels: ['topic'] },
        { name: 'coinslot_leases_held', help: 'Leases that are held, by purpose', labels: ['lease'] },
      ],
      sql: `WITH topic AS (
  SELECT topic,
    (SELECT due_at FROM outbox WHERE outbox.topic = asked.topic AND done_at IS NULL AND failed_at IS NULL
     ORDER BY due_at LIMIT 1) AS due,
    ${oldestWaiting('asked.topic')} AS unleased
  FROM unnest($2::text[]) AS asked(topic)
)
SELECT 'coinslot_queue_oldest_due_seconds', topic, NULL, coalesce(${ageOf('due')}, 0) FROM topic
UNION ALL SELECT 'coinslot_queue_lag_seconds', topic, NULL, coalesce(${ageOf('unleased')}, 0) FROM topic
UNION ALL SELECT 'coinslot_queue_dead', asked.topic, NULL, count(dead.topic)::float8
  FROM unnest($2::text[]) AS asked(topic)
  LEFT JOIN (SELECT topic FROM outbox WHERE failed_at IS NOT NULL) AS dead USING (topic) GROUP BY asked.topic
UNION ALL SELECT 'coinslot_leases_held', coalesce(substring(name FROM '^[a-z]+'), 'other'), NULL, count(*)::float8
  FROM lease WHERE until > $1::timestamptz GROUP BY 2`,
    },
  ],
}
