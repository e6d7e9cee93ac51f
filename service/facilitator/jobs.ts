import type { Sweeper } from '../queue/model.ts'
import type { Facilitator } from './service.ts'

export function facilitatorSweepers(facilitator: Facilitator): Sweeper[] {
  return [{ name: 'facilitator.reconcile', everyMs: 5_000, run: (now) => facilitator.reconcile(now) }]
}
