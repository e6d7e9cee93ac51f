import type { Statements } from '../../../kit/transaction.ts'
import type { Environment } from '../../../kit/owner.ts'
import type { Figures } from '../../model/figures.ts'
import type { ToolId } from '../../model/tool.ts'
import type { FailingTool } from '../../ports/calls.ts'
import type { Scope } from '../../ports/keeping.ts'
import { FAILED, FAILING_STREAK, summed } from '../../rules/figures.ts'

/** What ended calls left behind, into the day's counters and the tool's health; answers how many calls that were. */
export async function foldFigures(statements: Statements): Promise<number> {
  const [row] = await statements.run<{ folded: bigint }>(FOLD, [FAILED.upstream], 'tool_fold')
  return Number(row?.folded ?? 0n)
}

// A streak goes on from where it was unless a call in between succeeded. What is wrong with a caller's input says
// nothing about the tool, so such a call neither ends a streak nor makes it longer.
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

/** Of the last week, by tool; tools that nobody called have none. */
export async function readFigures(
  statements: Statements,
  { environment, ownerId }: Scope,
  now: Date,
): Promise<ReadonlyMap<ToolId, Figures>> {
  const rows = await statements.run<FigureRow>(READ, [environment, oldest(now), ownerId ?? ''], 'tool_figures')
  return new Map(
    rows.map(({ tool_id, classes, calls, streak, last_error }) => {
      const counters = new Map(classes.map((one, place) => [one, Number(calls[place] ?? 0n)]))
      return [tool_id, { ...summed(counters), lastError: last_error, failing: (streak ?? 0) >= FAILING_STREAK }]
    }),
  )
}

const READ = `
SELECT f.tool_id, f.classes, f.calls, h.streak, h.last_error
FROM (SELECT tool_id, array_agg(latency_class) AS classes, array_agg(calls) AS calls
      FROM (SELECT tool_id, latency_class, sum(calls)::bigint AS calls FROM tool_figure
            WHERE environment = $1::environment AND day >= $2::date
              AND tool_id IN (SELECT id FROM tool WHERE environment = $1::environment AND owner_id = $3) GROUP BY tool_id, latency_class) summed
      GROUP BY tool_id) f
LEFT JOIN tool_health h ON h.tool_id = f.tool_id`

interface FigureRow {
  tool_id: ToolId
  classes: number[]
  calls: (bigint | number | string)[]
  streak: number | null
  last_error: string | null
}

export async function forgetFigures(statements: Statements, now: Date): Promise<void> {
  await statements.run('DELETE FROM tool_figure WHERE day < $1::date', [oldest(now)])
}

/** Tools that fail and were not looked at for some minutes; from now on they were. */
export async function takeFailing(statements: Statements, now: Date, limit: number): Promise<FailingTool[]> {
  const rows = await statements.run<{ tool_id: ToolId; environment: Environment; slug: string }>(
    `UPDATE tool_health SET looked_at = $1
     WHERE tool_id IN (SELECT tool_id FROM tool_health
                       WHERE streak >= $2 AND greatest(last_error_at, looked_at) < $3
                       ORDER BY looked_at NULLS FIRST LIMIT $4 FOR UPDATE SKIP LOCKED)
     RETURNING tool_id, environment, slug`,
    [now, FAILING_STREAK, new Date(now.getTime() - QUIET_MS), limit],
    'tool_failing',
  )
  return rows.map((row) => ({ toolId: row.tool_id, environment: row.environment, slug: row.slug }))
}

/** One failure more and it is said to fail again. */
export async function recovered(statements: Statements, toolId: ToolId): Promise<void> {
  await statements.run('UPDATE tool_health SET streak = $2 WHERE tool_id = $1 AND streak > $2', [
    toolId,
    FAILING_STREAK - 1,
  ])
}

/** The first day that counts, as PostgreSQL writes days. */
function oldest(now: Date): string {
  return new Date(now.getTime() - 6 * 86_400_000).toISOString().slice(0, 10)
}

const QUIET_MS = 60_000
