import type { Statements } from '../../service/kit/transaction.ts'
import { lockWaitedFor } from './locks.ts'

/** Sends a request, and hangs up while what serves it waits for a lock of this transaction. */
export async function leaveWhileWaiting(
  inside: Statements,
  send: (signal: AbortSignal) => Promise<unknown>,
): Promise<void> {
  const controller = new AbortController()
  const sent = send(controller.signal)
  await lockWaitedFor(inside)
  controller.abort()
  await expect(sent).rejects.toThrow()
  // The service, in this same process, hears of it before it hears from the database.
  await inside.run('SELECT 1', [])
}
