import type { Id } from '../../../kit/ids.ts'
import type { StatementPool, Statements } from '../../../kit/transaction.ts'
import type { Run } from '../../model/run.ts'
import type { RunStore } from '../../ports/run.ts'
import { fromRow, WHOLE, type WholeRow } from './rows.ts'

/** Runs that have not ended. */
export function openRunsStore(
  statements: StatementPool,
): Pick<RunStore, 'claim' | 'runningOf' | 'handOn' | 'postpone' | 'waiting' | 'lost'> {
  return {
    async claim(id, process, now) {
      const [row] = await statements.run<WholeRow>(
        `UPDATE run SET status = 'running', process = $2, started_at = $3
         WHERE id = $1 AND (status = 'queued' OR status = 'running' AND process = $2) RETURNING ${WHOLE}`,
        [id, process, now],
        'run_claim',
      )
      return row === undefined ? null : fromRow<Run>(row)
    },

    async runningOf(processes, ids) {
      const rows = await statements.run<WholeRow>(
        `SELECT ${WHOLE} FROM run WHERE id = ANY ($1::text[]) AND status = 'running' AND process = ANY ($2::text[])`,
        [ids, processes],
        'run_running_of',
      )
      return rows.map((row) => fromRow<Run>(row))
    },

    handOn: (id, process) => handOn(statements, id, process),

    postpone: (id, process, announce) =>
      statements.together(async (inside) => {
        const isOwn = await handOn(inside, id, process)
        if (isOwn) await announce(inside)
        return isOwn
      }),

    async waiting({ userId, environment }, most) {
      const [row] = await statements.run<{ waiting: bigint }>(
        `SELECT count(*) AS waiting FROM (
           SELECT FROM run WHERE user_id = $1 AND environment = $2::environment AND status = 'queued' LIMIT $3
         ) w`,
        [userId, environment, most],
        'run_waiting',
      )
      return Number(row?.waiting ?? 0n)
    },

    /** Not locked: the ledger's lock decides between the process that ends a run here and one that is only slow. */
    async lost(now, limit) {
      const rows = await statements.run<WholeRow>(
        `SELECT ${WHOLE} FROM run
         WHERE status IN ('queued', 'running')
           AND (deadline <= $1
                OR status = 'running' AND NOT EXISTS (SELECT FROM lease WHERE name = $3 || run.process AND until > $1))
         ORDER BY deadline LIMIT $2`,
        [now, limit, HEARTBEAT],
        'run_lost',
      )
      return rows.map((row) => fromRow<Run>(row))
    },
  }
}

/** The lease by which a process says that it lives. */
export const HEARTBEAT = 'runs.'

async function handOn(statements: Statements, id: Id<'run'>, process: string): Promise<boolean> {
  const rows = await statements.run(
    `UPDATE run SET status = 'queued', process = NULL, started_at = NULL
     WHERE id = $1 AND status = 'running' AND process = $2 RETURNING id`,
    [id, process],
    'run_hand_on',
  )
  return rows.length > 0
}
