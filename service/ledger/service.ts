import type { Clock } from '../kit/clock.ts'
import { usdc } from '../kit/money.ts'
import type { Statements } from '../kit/transaction.ts'
import type { Act, ActOutcome, Capture, Credit, Release, Reserve, Transfer } from './model.ts'
import type { Also, Judge, LedgerStore } from './ports.ts'
import { assertAmount, assertShares } from './rules.ts'

/** The only way to money. Other capabilities see this and the model, never the store. */
export function createLedger(store: LedgerStore, clock: Clock) {
  return {
    /** Sets money aside, or throws `unaffordable` with what was required and available. */
    async reserve(command: Reserve, inside?: Statements) {
      assertAmount(command.amount)
      return await store.reserve(command, inside)
    },

    /** Ends a lock by taking its money. Late, after the sweeper gave it back, it is refused: never charged. */
    async capture(command: Capture, inside?: Statements) {
      assertAmount(command.amount)
      assertShares(command.amount, command.shares)
      return await store.capture(command, inside)
    },

    async release(command: Release, inside?: Statements) {
      return await store.release(command, inside)
    },

    /**
     * Takes and ends any number of locks in one transaction, together with what its caller writes about them:
     * `also` is given each act's outcome, in order. A refused act leaves its neighbours alone; an error of `also`
     * throws undoes everything. Ends go first, so that what they give back is there for the rest. `judge` may end
     * acts before any money is looked at.
     */
    async actTogether<T>(acts: readonly Act[], also: Also<T>, judge?: Judge): Promise<T> {
      const faults = acts.map(faultOf)
      const sound = acts.filter((_, place) => faults[place] === null)
      const completed: Also<T> = (inside, outcomes) => {
        const rest = outcomes[Symbol.iterator]()
        const all = faults.map((fault): ActOutcome => {
          if (fault !== null) return { refusal: fault }
          const next = rest.next()
          if (next.done === true) throw new Error('the ledger left an act without an outcome')
          return next.value
        })
        return also(inside, all)
      }
      return await store.actTogether(sound, completed, judge)
    },

    async credit(command: Credit, inside?: Statements) {
      assertAmount(command.amount, usdc(1n))
      return await store.credit(command, inside)
    },

    async transfer(command: Transfer, inside?: Statements) {
      assertAmount(command.amount, usdc(1n))
      assertShares(command.amount, command.shares)
      await store.transfer(command, inside)
    },

    /** Gives back what dead processes left locked. Answers how many locks it ended. */
    async sweep() {
      let swept = 0
      for (;;) {
        const ended = await store.expire(clock.now(), SWEEP_BATCH)
        swept += ended.length
        if (ended.length < SWEEP_BATCH) return swept
      }
    },

    openAccounts: store.openAccounts.bind(store),
    wallet: store.wallet.bind(store),
    credits: store.credits.bind(store),
    balances: store.balances.bind(store),
    holdStates: store.holdStates.bind(store),
    statement: store.statement.bind(store),
    days: store.days.bind(store),
    totals: store.totals.bind(store),
    findMovement: store.findMovement.bind(store),
    differences: store.differences.bind(store),
  }
}

export type Ledger = ReturnType<typeof createLedger>

const SWEEP_BATCH = 500

/** The mistake in one act, so that the other acts are carried out. */
function faultOf(act: Act): Error | null {
  try {
    if ('reserve' in act) assertAmount(act.reserve.amount)
    if ('capture' in act) {
      assertAmount(act.capture.amount)
      assertShares(act.capture.amount, act.capture.shares)
    }
    return null
  } catch (error) {
    return error as Error
  }
}
