import type { Log } from '../../kit/log.ts'
import { PRODUCTS } from '../model.ts'
import type { Journal, SaleStore } from '../ports.ts'
import { HELD_MS } from '../rules.ts'
import { NOTHING_HANDED_OVER, type Settle } from './settle.ts'

/** Continues sales without a waiting buyer, including those of a process that has ended. */
export function createSweeping({ store, journal, settle, log }: SweepingDeps) {
  async function each<Item>(items: readonly Item[], act: (item: Item) => Promise<unknown>): Promise<void> {
    const outcomes = await Promise.allSettled(items.map(act))
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') log.error({ err: outcome.reason }, 'a sale could not be resumed')
    }
  }

  return {
    async sales(now: Date): Promise<void> {
      await each(await store.findLost(now, LOST_AT_ONCE), (lost) => journal.release(lost, 'interrupted'))
      for (const product of PRODUCTS) {
        // Separately: simulated sales cost nothing to make, and must not delay those with real money.
        for (const simulated of [false, true]) {
          const open = await store.takeOpen(product, now, { limit: AT_ONCE, simulated })
          await each(open, (sale) => settle(sale, NOTHING_HANDED_OVER, 0))
        }
      }
    },
    answers: (now: Date): Promise<void> => store.forgetAnswers(new Date(now.getTime() - HELD_MS)),
  }
}

export type Sweeping = ReturnType<typeof createSweeping>

interface SweepingDeps {
  store: SaleStore
  journal: Journal
  settle: Settle
  log: Log
}

const AT_ONCE = 50
const LOST_AT_ONCE = 500
