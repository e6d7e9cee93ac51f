import type { Id } from '../../../kit/ids.ts'
import type { Statements } from '../../../kit/transaction.ts'
import type { Owner } from '../../../kit/owner.ts'
import type { Run } from '../../model/run.ts'
import { fromRow, WHOLE, type WholeRow } from './rows.ts'

/**
 * From queued to running, once: a second worker with the same announcement finds nothing to claim. The one that claimed
 * it finds it again, for it may have been told too late that it had.
 */
export async function claimRun(statements: Statements, id: Id<'run'>, process: string, now: Date): Promise<Run | null> {
  const [row] = await statements.run<WholeRow>(
    `UPDATE run SET status = 'running', process = $2, started_at = $3
     WHERE id = $1 AND (status = 'queued' OR status = 'running' AND process = $2) RETURNING ${WHOLE}`,
    [id, process, now],
    'run_claim',
  )
  return row === undefined ? null : fromRow(row)
}

/** Of these runs those that are running in the name of one of these processes. */
export async function runningRunsOf(
  statements: Statements,
  processes: readonly string[],
  ids: readonly Id<'run'>[],
): Promise<Run[]> {
  const rows = await statements.run<WholeRow>(
    `SELECT ${WHOLE} FROM run WHERE id = ANY ($1::text[]) AND status = 'running' AND process = ANY ($2::text[])`,
    [ids, processes],
    'run_running_of',
  )
  return rows.map(fromRow)
}

export async function handOnRun(statements: Statements, id: Id<'run'>, process: string): Promise<boolean> {
  const rows = await statements.run(
    `UPDATE run SET status = 'queued', process = NULL, started_at = NULL
     WHERE id = $1 AND status = 'running' AND process = $2 RETURNING id`,
    [id, process],
    'run_hand_on',
  )
  return rows.length > 0
}

export async function countWaiting(
  statements: Statements,
  { userId, environment }: Owner,
  most: number,
): Promise<number> {
  const [row] = await statements.run<{ waiting: bigint }>(
    `SELECT count(*) AS waiting FROM (
       SELECT FROM run WHERE user_id = $1 AND environment = $2::environment AND status = 'queued' LIMIT $3
     ) w`,
    [userId, environment, most],
    'run_waiting',
  )
  return Number(row?.waiting ?? 0n)
}

/**
 * Open runs that nobody will end: past their deadline, or of a process whose lease has run out. Not locked: the
 * ledger's lock decides between who ends them here and whoever comes after all.
 */
export async function lostRuns(statements: Statements, now: Date, limit: number): Promise<Run[]> {
  const rows = await statements.run<WholeRow>(
    `SELECT ${WHOLE} FROM run
     WHERE status IN ('queued', 'running')
       AND (deadline <= $1
            OR status = 'running' AND NOT EXISTS (SELECT FROM lease WHERE name = $3 || run.process AND until > $1))
     ORDER BY deadline LIMIT $2`,
    [now, limit, PRESENCE],
    'run_lost',
  )
  return rows.map(fromRow)
}

/** The lease by which a process says that it lives. */
export const PRESENCE = 'runs.'
