import type { Statements } from '../../service/kit/transaction.ts'
import { until } from './until.ts'

/** So many statements in this database wait for a lock. */
export async function lockWaitedFor(statements: Statements, count = 1): Promise<void> {
  await until(async () => {
    // A transaction reads the activity once, unless it is told to read it again.
    await statements.run('SELECT pg_stat_clear_snapshot()', [])
    return (await statements.run(WAITING, [])).length >= count
  })
}

const WAITING = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
