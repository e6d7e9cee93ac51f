import type { Log } from '../../kit/log.ts'
import { PRODUCTS, type ProductName } from '../model.ts'
import type { Journal, SaleStore } from '../ports.ts'
import { HELD_MS } from '../rules.ts'
import { BUYER_AWAY, type Settle } from './settle.ts'

/** Continues sales without a waiting buyer, including those of a process that has ended. */
export function createSweeping({ store, journal, settle, log }: SweepingDeps) {
  async function each<Item>(items: readonly Item[], act: (item: Item) => Promise<unknown>): Promise<void> {
    const outcomes = await Promise.allSettled(items.map(act))
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') log.error({ err: outcome.reason }, 'a sale could not be resumed')
    }
  }

  // Separately: simulated sales cost nothing to make, and must not delay those with real money.
  const resume = async (product: ProductName, now: Date): Promise<void> => {
    const turns = [false, true].map(async (simulated) => {
      const open = await store.takeOpen(product, now, { limit: AT_ONCE, simulated })
      await each(open, (sale) => settle(sale, BUYER_AWAY, { waitMs: 0 }))
    })
    await Promise.all(turns)
  }

  /** Each has turns of its own: what one product's sales are paid by may be slow, and no other one waits for it. */
  const turns: readonly Turn[] = [
    {
      name: 'lost',
      run: async (now) => each(await store.findLost(now, LOST_AT_ONCE), (lost) => journal.release(lost, 'interrupted')),
    },
    ...PRODUCTS.map((product) => ({ name: product, run: (now: Date) => resume(product, now) })),
  ]

  return {
    turns,
    /** A turn of all of them. */
    async sales(now: Date): Promise<void> {
      await Promise.all(turns.map(({ run }) => run(now)))
    },
    answers: (now: Date): Promise<void> => store.forgetAnswers(new Date(now.getTime() - HELD_MS), now),
  }
}

interface Turn {
  name: string
  run(now: Date): Promise<void>
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
