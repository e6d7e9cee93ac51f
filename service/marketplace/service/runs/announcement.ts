import type { Environment } from '../../../kit/owner.ts'
import type { Announcement } from '../../../queue/model.ts'
import type { NewRun } from '../../ports/run.ts'

/** It takes its caller's turn, and occupies a place of the creator whose server does the work. */
export function announcementOf(run: Announced, dueAt?: Date): Announcement {
  const { id, environment, userId, ownerId } = run
  const turn = { account: `${environment}/${userId}`, target: `${environment}/${ownerId}` }
  return { topic: EXECUTE[environment], payload: { runId: id }, turn, ...(dueAt === undefined ? {} : { dueAt }) }
}

/** Each environment has its own places. */
export const EXECUTE = {
  production: 'marketplace.execute',
  sandbox: 'marketplace.execute.sandbox',
} as const satisfies Record<Environment, string>

type Announced = Pick<NewRun, 'id' | 'environment' | 'userId' | 'ownerId'>
