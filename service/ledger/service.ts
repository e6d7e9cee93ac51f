import type { Clock } from '../kit/clock.ts'
import { usdc } from '../kit/money.ts'
import type { Statements } from '../kit/transaction.ts'
import type { Capture, Credit, Release, Reserve, Transfer } from './model.ts'
import type { LedgerStore } from './ports.ts'
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
    statement: store.statement.bind(store),
    findMovement: store.findMovement.bind(store),
    differences: store.differences.bind(store),
  }
}

export type Ledger = ReturnType<typeof createLedger>

const SWEEP_BATCH = 500
