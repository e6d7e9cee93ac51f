import type { StatementPool, Statements } from '../../../kit/transaction.ts'
import type { RunStore } from '../../ports/run.ts'
import { openRunsStore } from './open.ts'
import { createRunReads } from './read.ts'
import { chargeRun, writeRuns } from './write.ts'

export function createRunStore(statements: StatementPool): RunStore {
  return {
    write: writeRuns,
    charge: chargeRun,
    ...createRunReads(statements),
    ...openRunsStore(statements),
    foldStats: () => foldStats(statements),
  }
}

/** Moves what ended runs left behind into their assets' statistics, each exactly once; answers how many assets changed. */
export async function foldStats(statements: Statements): Promise<number> {
  const rows = await statements.run<{ rda_id: string }>(FOLD, [], 'run_fold_stats')
  return rows.length
}

const FOLD = `
WITH gone AS (
  DELETE FROM run_delta WHERE id IN (SELECT id FROM run_delta ORDER BY id LIMIT 20000 FOR UPDATE SKIP LOCKED)
  RETURNING rda_id, runs, succeeded, revenue, latency_ms
), sums AS (
  SELECT rda_id, sum(runs) AS runs, sum(succeeded) AS succeeded, sum(revenue) AS revenue, sum(latency_ms) AS latency_ms
  FROM gone GROUP BY rda_id ORDER BY rda_id
)
INSERT INTO rda_stats AS s (rda_id, runs, succeeded, revenue, latency_ms)
SELECT sums.* FROM sums JOIN rda ON rda.id = sums.rda_id
ON CONFLICT (rda_id) DO UPDATE
SET runs = s.runs + excluded.runs, succeeded = s.succeeded + excluded.succeeded,
    revenue = s.revenue + excluded.revenue, latency_ms = s.latency_ms + excluded.latency_ms
RETURNING rda_id`
