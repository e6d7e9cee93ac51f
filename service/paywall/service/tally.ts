import type { Clock } from '../../kit/clock.ts'
import { Counts } from '../../kit/counts.ts'
import type { Log } from '../../kit/log.ts'
import type { PrepaidStore, Tally } from '../ports.ts'

/**
 * Counts calls and refusals by route and day, and writes them once a second: a free call must not cost a query. Money
 * is counted in the statement that moves it; here a crash loses one second of counts.
 */
export function createTally({ store, clock, log }: TallyDeps) {
  const counts = new Counts<readonly [paywall: string, day: string, route: string, outcome: string]>({
    write: (rows) =>
      store.addCounts(
        rows.map(({ key: [paywall, day, route, outcome], count }) => ({ paywall, day, route, outcome, count })),
      ),
    log,
    of: 'gates',
  })
  const tally: Tally = {
    count(paywall, route, outcome) {
      counts.add([paywall, clock.now().toISOString().slice(0, 10), route, outcome])
    },
  }
  return { ...tally, flush: () => counts.flush() }
}

interface TallyDeps {
  store: Pick<PrepaidStore, 'addCounts'>
  clock: Clock
  log: Log
}
