import { HOUR_MS, newestMarks, rowMarks, type Tables } from '../kit/tables.ts'

export const marketplaceTables: Tables = {
  sealed: [
    {
      table: 'rda_version',
      column: 'content',
      type: 'jsonb',
      // Each is bound to the name by which its creator gives it.
      secrets: `SELECT t.content -> 'config' -> part.at ->> 'token', t.rda_id || '/' || part.name
        FROM (VALUES ('webhookHeaders', 'webhookHeaders'), ('apiHeaders', 'apiHeaders'), ('authSecrets', 'authConfig'))
          AS part(at, name)`,
    },
  ],
  retention: () => ({
    rda: { kept: 'one for each asset' },
    rda_creator: { kept: 'one for each creator' },
    rda_version: { kept: 'one for each edit of an asset: a run shows what it ran' },
    rda_stats: { kept: 'one for each asset' },
    rda_rating: { kept: 'one for each caller and asset, with its review' },
    rda_total: { kept: 'one for each kind of asset' },
    rda_word: { kept: 'one for each word in use' },
    rda_source_sale: { kept: 'bought for good' },
    run: { kept: "the caller's history, and what each charge was for" },
    run_rate: {
      keptMs: 50 * HOUR_MS,
      age: 'since',
      key: [['rda_id', 'text']],
      says: 'Counts of calls of limited tools, in all and of each caller, in their last minute.',
    },
    run_free: {
      keptMs: 50 * HOUR_MS,
      age: 'at',
      key: [
        ['at', 'timestamptz'],
        ['owner', 'text'],
        ['caller', 'text'],
      ],
      says: 'Counts of free runs, and of unpaid model costs, by day.',
    },
    run_delta: { ends: 'folded into rda_stats every second (runs.stats)' },
  }),
  metrics: [
    {
      declared: [{ name: 'coinslot_runs_open', help: 'Runs that have not ended, by status', labels: ['status'] }],
      sql: `SELECT 'coinslot_runs_open', status::text, NULL, count(*)::float8
FROM run WHERE status IN ('queued', 'running') GROUP BY status`,
    },
  ],
  changes: {
    runs: [newestMarks('run', 'status', 50)],
    assets: [
      rowMarks(`SELECT a.id, concat_ws(',', a.id, a.updated_at, s.runs, s.revenue, s.ratings, s.rating_sum) AS mark
        FROM (SELECT id, updated_at FROM rda WHERE owner_id = o.user_id AND environment = o.environment
              ORDER BY status, rank DESC, id DESC LIMIT 100) a LEFT JOIN rda_stats s ON s.rda_id = a.id`),
    ],
  },
}
