import type { Clock } from '../../kit/clock.ts'
import type { Log } from '../../kit/log.ts'
import type { PrepaidStore, Tally } from '../ports.ts'

/**
 * Counts calls and refusals by route and day, and writes them once a second: a free call must not cost a query. Money
 * is counted in the statement that moves it; here a crash loses one second of counts.
 */
export function createTally({ store, clock, log }: TallyDeps) {
  let counts = new Map<string, Count>()
  let writing: Promise<void> | null = null

  async function write(): Promise<void> {
    if (counts.size === 0) return
    const rows = [...counts.values()]
    counts = new Map()
    try {
      await store.addCounts(rows)
    } catch (error) {
      log.warn(
        { err: error, rows: rows.length },
        'counts of gates could not be written; they are written with the next batch',
      )
      for (const row of rows) add(row)
    }
  }

  function add({ paywall, day, route, outcome, count }: Count): void {
    const key = JSON.stringify([paywall, day, route, outcome])
    const known = counts.get(key)
    if (known !== undefined) known.count += count
    else if (counts.size < DISTINCT_MAX) counts.set(key, { paywall, day, route, outcome, count })
  }

  const tally: Tally = {
    count(paywall, route, outcome) {
      add({ paywall, day: clock.now().toISOString().slice(0, 10), route, outcome, count: 1 })
    },
  }
  return {
    ...tally,
    /** When this resolves, all counts so far are in the database. */
    async flush(): Promise<void> {
      await writing
      await (writing = write().finally(() => (writing = null)))
    },
  }
}

interface TallyDeps {
  store: Pick<PrepaidStore, 'addCounts'>
  clock: Clock
  log: Log
}

interface Count {
  paywall: string
  day: string
  route: string
  outcome: string
  count: number
}

/** A limit, so that a long outage of the database does not fill the memory. */
const DISTINCT_MAX = 10_000
