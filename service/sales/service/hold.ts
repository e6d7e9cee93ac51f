import type { Clock } from '../../kit/clock.ts'
import type { Failpoints } from '../../kit/failpoints.ts'
import type { Statements } from '../../kit/transaction.ts'
import type { ProductName, Sale, WorkResult } from '../model.ts'
import type { HeldJournal, SaleStore } from '../ports.ts'
import { HELD_MS } from '../rules.ts'
import { NOTHING_HANDED_OVER, type Settle } from './settle.ts'

/**
 * Sales whose work is done elsewhere: nothing is charged until the product says that the work has succeeded. The first
 * of success, failure and deadline decides, in one statement; whatever comes later changes nothing.
 */
export function createHolding({ store, held, settle, clock, failpoints, settleMs }: HoldingDeps) {
  return {
    /** The work has succeeded: the money moves. Returns the sale in the state that it has reached. */
    async capture(id: string, result: WorkResult): Promise<Sale | null> {
      const captured = await held.capture(id, result)
      if (captured === null) return null
      await failpoints.reach('sale captured')
      return await settle(captured, NOTHING_HANDED_OVER, { waitMs: settleMs })
    },

    /**
     * The work has failed or was too slow: the authorization is never used, and money in the escrow goes back. Null when
     * something else came first.
     */
    async giveUp(id: string, result: WorkResult): Promise<Sale | null> {
      const given = await held.giveUp(id, result)
      if (given?.state !== 'settling') return given
      await failpoints.reach('sale given up')
      return await settle(given, NOTHING_HANDED_OVER, { waitMs: settleMs })
    },

    /** Stores the result of a sale that is paid already. False when it has a result, or is not paid. */
    async report(id: string, result: WorkResult): Promise<boolean> {
      const isFirst = await held.report(id, result)
      if (isFirst) await failpoints.reach('sale reported')
      return isFirst
    },

    /** The sale, whose state stays as it is until the transaction ends. */
    lock: (inside: Statements, id: string): Promise<Sale | null> => store.lock(inside, id),

    /** The work for a paid sale begins anew, so that a failure reported before says nothing any more. */
    reopen: (inside: Statements, id: string): Promise<void> => store.reopen(inside, id),

    /** Runs of assets that were paid some time ago, and of which nothing was delivered or went back. */
    undelivered(): Promise<readonly Sale[]> {
      const now = clock.now()
      const [after, before] = [UNDELIVERED_MAX_MS, UNDELIVERED_MS].map((ms) => new Date(now.getTime() - ms)) as [
        Date,
        Date,
      ]
      return store.findUndelivered({ after, before }, now, UNDELIVERED_AT_ONCE)
    },

    /** Nothing will be delivered for it any more. False when something was meanwhile, or somebody works on it. */
    giveUpUndelivered: (id: string, result: WorkResult): Promise<boolean> =>
      store.giveUpUndelivered(id, result, clock.now()),

    /** Held sales to look at now. No other process gets them before their next time. */
    due: (product: ProductName): Promise<readonly Sale[]> => store.takeHeld(product, clock.now(), AT_ONCE),
  }
}

export type Holding = ReturnType<typeof createHolding>

interface HoldingDeps {
  store: Pick<SaleStore, 'lock' | 'reopen' | 'takeHeld' | 'findUndelivered' | 'giveUpUndelivered'>
  held: HeldJournal
  settle: Settle
  clock: Clock
  failpoints: Failpoints
  settleMs: number
}

const AT_ONCE = 500
const UNDELIVERED_AT_ONCE = 100
/** As long as a buyer can come back for an answer. */
const UNDELIVERED_MS = HELD_MS
/** A refund that was refused for so long is a matter for a person. */
const UNDELIVERED_MAX_MS = 14 * 86_400_000
