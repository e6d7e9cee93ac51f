import type { Sweeper } from '../../queue/model.ts'
import type { Calls } from '../service/calls.ts'

export function callSweepers(calls: Calls): Sweeper[] {
  return [
    {
      name: 'tools.figures',
      everyMs: 1_000,
      async run() {
        await calls.foldFigures()
      },
    },
    { name: 'tools.failing', everyMs: 30_000, run: (now) => calls.lookAtFailing(now) },
    { name: 'tools.forget', everyMs: 600_000, run: (now) => calls.forget(now) },
  ]
}
