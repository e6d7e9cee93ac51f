import type { Clock } from '../../kit/clock.ts'
import type { Log } from '../../kit/log.ts'
import type { PrepaidStore, Tally } from '../ports.ts'

/**
 * Calls and refusals by route and day, gathered and written once a second: a free call must not cost a row. Money is
 * counted where it moves, in the same statement; here a crash loses a second of counts.
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
      log.warn({ err: error, rows: rows.length }, 'counts of gates could not be written; they come with the next ones')
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
    /** All that was counted up to now is in the database then. */
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

/** A database that is away for long must not fill the memory. */
const DISTINCT_MAX = 10_000
