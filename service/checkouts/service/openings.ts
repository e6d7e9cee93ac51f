import { createHmac, randomBytes } from 'node:crypto'
import type { Clock } from '../../kit/clock.ts'
import { Counts } from '../../kit/counts.ts'
import { addressGroup } from '../../kit/http.ts'
import type { Log } from '../../kit/log.ts'
import type { CheckoutStore } from '../stores.ts'

/**
 * Counts how often payment pages are opened: a browser counts once a day at each checkout. Nothing of the reader is stored;
 * what tells two readers apart is hashed with a key of this process, in memory, and forgotten at the end of the day.
 */
export function createOpenings({ store, clock, log }: OpeningDeps) {
  const counts = new Counts<readonly [checkout: string, day: string]>({
    write: (rows) => store.addOpenings(rows.map(({ key: [checkout, day], count }) => ({ checkout, day, count }))),
    log,
    of: 'openings',
  })
  let key = randomBytes(32)
  let today = ''
  const seen = new Set<string>()

  return {
    count(checkout: string, { header, address }: Reader): void {
      if (!isReader(header)) return
      const day = clock.now().toISOString().slice(0, 10)
      // In a full day readers are told apart anew, so that memory is bounded.
      if (day !== today || seen.size >= READERS_MAX) {
        key = randomBytes(32)
        today = day
        seen.clear()
      }
      const reader = [checkout, addressGroup(address), header('user-agent') ?? ''].join('\n')
      const hash = createHmac('sha256', key).update(reader).digest('base64').slice(0, 22)
      if (seen.has(hash)) return
      seen.add(hash)
      counts.add([checkout, day])
    },
    flush: (): Promise<void> => counts.flush(),
  }
}

interface OpeningDeps {
  store: Pick<CheckoutStore, 'addOpenings'>
  clock: Clock
  log: Log
}

export interface Reader {
  header: (name: string) => string | undefined
  address: string
}

/**
 * Browsers say that a person goes to a page; programs that look for previews of links, and search engines, do not. A page
 * that is fetched ahead may never be seen.
 */
function isReader(header: Reader['header']): boolean {
  const purpose = header('sec-purpose') ?? header('purpose') ?? ''
  return header('sec-fetch-mode') === 'navigate' && !purpose.includes('prefetch')
}

const READERS_MAX = 50_000
