import type { Statements } from '../../service/kit/transaction.ts'
import { until } from './until.ts'

/** Some statement in this database waits for a lock. */
export async function lockWaitedFor(statements: Statements): Promise<void> {
  await until(async () => {
    // A transaction reads the activity once, unless it is told to read it again.
    await statements.run('SELECT pg_stat_clear_snapshot()', [])
    return (await statements.run(WAITING, [])).length > 0
  })
}

const WAITING = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
