import type { Statements } from '../../service/kit/transaction.ts'
import { until } from './until.ts'

/** Sends a request, and hangs up while what serves it waits for a lock of this transaction. */
export async function leaveWhileWaiting(
  inside: Statements,
  send: (signal: AbortSignal) => Promise<unknown>,
): Promise<void> {
  const controller = new AbortController()
  const sent = send(controller.signal)
  await until(async () => {
    // A transaction reads the activity once, unless it is told to read it again.
    await inside.run('SELECT pg_stat_clear_snapshot()', [])
    const waiting = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
    return (await inside.run(waiting, [])).length > 0
  })
  controller.abort()
  await expect(sent).rejects.toThrow()
  // The service, in this same process, hears of it before it hears from the database.
  await inside.run('SELECT 1', [])
}
