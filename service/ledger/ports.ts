import type { Usdc } from '../kit/money.ts'
import type { Statements } from '../kit/transaction.ts'
import type {
  Act,
  ActOutcome,
  Balances,
  Capture,
  Credit,
  Days,
  Ended,
  Funds,
  Hold,
  HoldState,
  Line,
  OpenLock,
  Release,
  Reserve,
  Transfer,
} from './model.ts'
import type { Environment, Owner } from '../kit/owner.ts'

/**
 * Where the ledger is kept. Each of the five movements is one statement that is idempotent by its id: the
 * same command again answers as before, another command under the same id throws a conflict. Given a
 * transaction's statements a movement takes part in it; without, it may share a statement with its neighbours.
 */
export interface LedgerStore {
  reserve(command: Reserve, inside?: Statements): Promise<Hold>
  capture(command: Capture, inside?: Statements): Promise<Ended>
  release(command: Release, inside?: Statements): Promise<Ended>
  credit(command: Credit, inside?: Statements): Promise<Credited>
  transfer(command: Transfer, inside?: Statements): Promise<void>

  /** Many locks, and what follows from them, in one transaction; see the service. */
  actTogether<T>(acts: readonly Act[], also: Also<T>, judge?: Judge): Promise<T>

  /** Releases locks whose deadline has passed, at most `limit`; answers their ids. */
  expire(now: Date, limit: number): Promise<readonly string[]>

  /** Makes a person's wallet and credits in both environments; making them twice changes nothing. */
  openAccounts(userId: string, inside?: Statements): Promise<void>

  wallet(owner: Owner): Promise<WalletFigures | null>
  credits(owner: Owner): Promise<Funds | null>
  /** The states of those of these holds that the owner has. */
  holdStates(owner: Owner, ids: readonly string[]): Promise<readonly HoldState[]>
  /** What each of these people has, as of the transaction's moment. */
  balances(owners: readonly Owner[], inside?: Statements): Promise<readonly Balances[]>
  statement(owner: Owner, page: { limit: number; offset: number }): Promise<{ lines: readonly Line[]; total: number }>
  /** `sold` are references of deposits that paid for something. */
  days(owner: Owner, since: Date, sold: readonly string[]): Promise<Days>
  /** What people have, and what the house earned, as of the transaction's moment. */
  totals(environment: Environment, inside?: Statements): Promise<Totals>
  findMovement(id: string): Promise<{ reference: string | null; at: Date } | null>

  /** Every difference between what the accounts say and what the postings and locks add up to. */
  differences(): Promise<readonly Difference[]>
}

/** What is written with the money; may be called again with new outcomes when two processes collided. */
export type Also<T> = (inside: Statements, outcomes: readonly ActOutcome[]) => Promise<T>

/**
 * Asked first in the transaction, before any account is locked: an outcome ends its act there, null lets it go on.
 * May be called again, as `Also`.
 */
export type Judge = (inside: Statements, acts: readonly Act[]) => Promise<readonly (ActOutcome | null)[]>

export interface Credited {
  balanceAfter: Usdc
  replayed: boolean
}

export interface WalletFigures {
  funds: Funds
  locks: readonly OpenLock[]
}

export interface Totals {
  wallets: bigint
  revenue: bigint
  /** What sales have brought into the guests' wallet so far. */
  guests: bigint
}

export interface Difference {
  subject: string
  figure: string
  recorded: string
  recomputed: string
}
