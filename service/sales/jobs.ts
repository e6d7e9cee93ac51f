import type { Sweeper } from '../queue/model.ts'
import type { Sweeping } from './service/sweep.ts'

export function saleSweepers(sweeping: Sweeping): Sweeper[] {
  return [
    { name: 'sales.open', everyMs: 2_000, run: (now) => sweeping.sales(now) },
    { name: 'sales.answers', everyMs: 30_000, run: (now) => sweeping.answers(now) },
  ]
}
