import type { Sweeper } from '../queue/model.ts'
import type { Pruning } from './service.ts'

export function pruningSweepers(pruning: Pruning): Sweeper[] {
  return [{ name: 'pruning', everyMs: 600_000, run: (now, signal) => pruning.prune(now, signal) }]
}
