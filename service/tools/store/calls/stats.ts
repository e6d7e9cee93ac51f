import type { Statements } from '../../../kit/transaction.ts'
import type { ToolId } from '../../model/tool.ts'
import type { CallStore, FailingTool } from '../../ports/calls.ts'
import { FAILED, FAILING_STREAK, statsOf } from '../../rules/stats.ts'

type ToolStatsStore = Pick<CallStore, 'foldStats' | 'stats' | 'forget' | 'takeFailing' | 'recovered'>

export function createToolStats(statements: Statements): ToolStatsStore {
  return {
    async foldStats() {
      const [row] = await statements.run<{ folded: bigint }>(FOLD, [FAILED.upstream], 'tool_fold')
      return Number(row?.folded ?? 0n)
    },

    /** The last week's statistics by tool. A tool without calls has none. */
    async stats({ environment, ownerId }, now) {
      const rows = await statements.run<StatsRow>(READ, [environment, oldest(now), ownerId ?? ''], 'tool_figures')
      return new Map(
        rows.map(({ tool_id, classes, calls, streak, last_error }) => {
          const counters = new Map(classes.map((one, place) => [one, Number(calls[place] ?? 0n)]))
          return [tool_id, { ...statsOf(counters), lastError: last_error, failing: (streak ?? 0) >= FAILING_STREAK }]
        }),
      )
    },

    async forget(now) {
      await statements.run('DELETE FROM tool_figure WHERE day < $1::date', [oldest(now)])
    },

    takeFailing: (now, limit) =>
      statements.run<FailingTool>(
        TAKE_FAILING,
        [now, FAILING_STREAK, new Date(now.getTime() - QUIET_MS), limit],
        'tool_failing',
      ),

    async recovered(toolId) {
      const values = [toolId, FAILING_STREAK - 1]
      await statements.run('UPDATE tool_health SET streak = $2 WHERE tool_id = $1 AND streak > $2', values)
    },
  }
}

// A streak continues unless a call in between succeeded. A wrong input says nothing about the tool, so such a call
// neither ends nor extends a streak.
const FOLD = `
WITH gone AS (
  DELETE FROM tool_delta WHERE id IN (SELECT id FROM tool_delta ORDER BY id LIMIT 20000 FOR UPDATE SKIP LOCKED)
  RETURNING id, tool_id, environment, slug, latency_class, error, ended_at
), counted AS (
  INSERT INTO tool_figure AS f (environment, tool_id, day, latency_class, calls)
  SELECT environment, tool_id, (ended_at AT TIME ZONE 'UTC')::date, latency_class, count(*)
  FROM gone GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
  ON CONFLICT (environment, tool_id, day, latency_class) DO UPDATE SET calls = f.calls + excluded.calls
), lately AS (
  SELECT tool_id, min(environment) AS environment, min(slug) AS slug,
         bool_or(latency_class >= 0) AS succeeded,
         count(*) FILTER (WHERE latency_class = $1 AND id > coalesce(last_success, 0)) AS streak,
         (array_agg(error ORDER BY id DESC) FILTER (WHERE latency_class = $1))[1] AS last_error,
         max(ended_at) FILTER (WHERE latency_class = $1) AS last_error_at
  FROM (SELECT gone.*, max(id) FILTER (WHERE latency_class >= 0) OVER (PARTITION BY tool_id) AS last_success FROM gone) g
  WHERE latency_class >= $1
  GROUP BY tool_id ORDER BY tool_id
), noted AS (
  INSERT INTO tool_health AS h (tool_id, environment, slug, streak, last_error, last_error_at)
  SELECT tool_id, environment, slug, streak, last_error, last_error_at FROM lately
  ON CONFLICT (tool_id) DO UPDATE
  SET streak = excluded.streak + CASE WHEN (SELECT succeeded FROM lately WHERE lately.tool_id = h.tool_id) THEN 0 ELSE h.streak END,
      last_error = coalesce(excluded.last_error, h.last_error),
      last_error_at = coalesce(excluded.last_error_at, h.last_error_at)
)
SELECT count(*) AS folded FROM gone`

const READ = `
SELECT f.tool_id, f.classes, f.calls, h.streak, h.last_error
FROM (SELECT tool_id, array_agg(latency_class) AS classes, array_agg(calls) AS calls
      FROM (SELECT tool_id, latency_class, sum(calls)::bigint AS calls FROM tool_figure
            WHERE environment = $1::environment AND day >= $2::date
              AND tool_id IN (SELECT id FROM tool WHERE environment = $1::environment AND owner_id = $3) GROUP BY tool_id, latency_class) summed
      GROUP BY tool_id) f
LEFT JOIN tool_health h ON h.tool_id = f.tool_id`

const TAKE_FAILING = `
UPDATE tool_health SET looked_at = $1
WHERE tool_id IN (SELECT tool_id FROM tool_health WHERE streak >= $2 AND greatest(last_error_at, looked_at) < $3
                  ORDER BY looked_at NULLS FIRST LIMIT $4 FOR UPDATE SKIP LOCKED)
RETURNING tool_id AS "toolId", environment, slug`

interface StatsRow {
  tool_id: ToolId
  classes: number[]
  calls: (bigint | number | string)[]
  streak: number | null
  last_error: string | null
}

/** The first day that counts, in PostgreSQL's date format. */
function oldest(now: Date): string {
  return new Date(now.getTime() - 6 * 86_400_000).toISOString().slice(0, 10)
}

const QUIET_MS = 60_000
