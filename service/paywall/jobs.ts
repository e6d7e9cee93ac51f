import type { Sweeper } from '../queue/model.ts'
import type { Paywalls } from './service.ts'

export function paywallSweepers({ sweepers }: Paywalls): Sweeper[] {
  return [{ name: 'paywall.holds', everyMs: 30_000, run: (now) => sweepers.holds(now) }]
}
