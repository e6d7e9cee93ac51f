import type { Clock } from '../kit/clock.ts'
import { usdc, ZERO, type Usdc } from '../kit/money.ts'
import type { Statements } from '../kit/transaction.ts'
import type { Owner } from '../kit/owner.ts'
import { payoutsPaused } from './errors.ts'
import type { Outflow, OutflowSettings, OutflowStore, Purchase } from './model.ts'
import { assertAllowed, assertMayLeave, DAY_MS, isNumbered, isPurchaseCounted } from './rules.ts'

/** The one counter of all money that leaves. */
export function createOutflow({ store, clock, settings }: OutflowDeps) {
  async function isPaused(inside?: Statements): Promise<boolean> {
    return settings.paused || (await store.isPaused(inside))
  }

  async function assertOpen(inside?: Statements): Promise<void> {
    if (await isPaused(inside)) throw payoutsPaused()
  }

  async function take(outflow: Outflow, inside: Statements): Promise<void> {
    await store.lock(outflow, inside)
    const now = clock.now()
    const asked = { ...outflow, numbered: isNumbered(outflow.kind, settings) }
    const left = await store.leftSince(asked, new Date(now.getTime() - DAY_MS), inside)
    if (left.isCounted) return
    assertMayLeave(outflow, left, settings)
    await store.count(outflow.isOfGuests === true ? { ...outflow, amount: ZERO } : outflow, now, inside)
  }

  return {
    /**
     * Counts money that is about to leave, in the transaction that sets it aside, or throws why it may not leave:
     * then that transaction must not commit. The same id again is counted once.
     */
    take,

    /** Whether a purchase of this amount from another account is counted: `takePurchase` does nothing otherwise. */
    countsPurchase: (amount: Usdc) => isPurchaseCounted({ amount }, settings),

    async takePurchase(purchase: Purchase, inside: Statements): Promise<void> {
      const { id, buyer: owner, amount } = purchase
      if (isPurchaseCounted(purchase, settings)) await take({ id, owner, kind: 'account', to: null, amount }, inside)
    },

    /** Only for money that provably did not leave: all of it, or what was not taken. */
    async giveBack(id: string, inside: Statements, taken: Usdc = ZERO): Promise<void> {
      await store.giveBack(id, taken, clock.now(), inside)
    },

    /** Asked before anything is signed or sent: what waits goes on when payouts do. */
    isPaused: () => isPaused(),

    /** Before a stranger hears anything. `take` decides. */
    assertOpen: () => assertOpen(),

    assertAllowed: (to: string) => {
      assertAllowed(to, settings.allowList)
    },

    /** What may still leave an account today; read without a lock: `take` decides. */
    async terms(owner: Owner): Promise<{ perDay: Usdc | null; left: Usdc | null; paused: boolean }> {
      const { perDay } = settings.limits
      const paused = await isPaused()
      if (perDay === null) return { perDay, left: null, paused }
      const since = new Date(clock.now().getTime() - DAY_MS)
      const { account } = await store.leftSince({ id: null, owner, kind: 'account', numbered: false }, since)
      return { perDay, left: usdc(account > perDay ? 0n : perDay - account), paused }
    },

    /** For an operator; every process honours it from its next reservation on. */
    setPaused: (paused: boolean) => store.setPaused(paused, clock.now()),
  }
}

export type Outflows = ReturnType<typeof createOutflow>

export interface OutflowDeps {
  store: OutflowStore
  clock: Clock
  settings: OutflowSettings
}
