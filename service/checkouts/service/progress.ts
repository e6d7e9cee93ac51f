import type { Caller } from '../../kit/caller.ts'
import { isWorking, withLine } from '../rules/lifecycle.ts'
import { ownSale } from './capture.ts'
import type { CheckoutDeps } from './deps.ts'
import type { Showing } from './presenter.ts'
import type { Purchases } from './purchases.ts'

/** What a workflow writes for its buyer while it works. */
export function createProgress({ store, selling, clock, showing, purchases }: ProgressDeps) {
  return {
    /** False where the workflow has ended already or has not begun: nobody would read it. */
    async writeProgress(caller: Caller, payment: string, { text, percent }: Line): Promise<boolean> {
      const { id, subject } = await ownSale(selling.journal, caller, payment)
      const bought = await purchases.find(subject, id)
      if (!isWorking(bought.payment, await showing.sale(bought, 'owner'))) return false
      await store.inTransaction(async (inside) => {
        const now = clock.now()
        const before = await store.lockProgress(inside, bought.payment.id, now)
        const after = withLine(before, { text, percent, at: now.toISOString() })
        await store.saveProgress(inside, bought.payment.id, after, now)
      })
      return true
    },
  }
}

interface Line {
  text: string
  percent: number | null
}

interface ProgressDeps extends Pick<CheckoutDeps, 'store' | 'selling' | 'clock'> {
  showing: Pick<Showing, 'sale'>
  purchases: Pick<Purchases, 'find'>
}
