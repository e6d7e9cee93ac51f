import type { Address } from '../chain/model.ts'
import type { Usdc } from '../kit/money.ts'
import type { Owner } from '../kit/owner.ts'
import type { Statements } from '../kit/transaction.ts'

/** The ways on which money leaves an account: to an address outside, or, by `account`, to another account of this server. */
export const KINDS = ['withdrawal', 'pay', 'refund', 'account'] as const
export type OutflowKind = (typeof KINDS)[number]

/** Money that is about to leave. Its id is that of the lock that sets it aside. */
export interface Outflow {
  id: string
  owner: Owner
  kind: OutflowKind
  /** Null for an account that sells: it has no address. */
  to: Address | null
  amount: Usdc
  /** It goes back to the address that it came from, so the list of allowed addresses does not bind it. */
  returns?: boolean
  /**
   * What a guest paid for a run that failed: it is no account's, so its amount takes nothing of what `owner` may let leave. It
   * counts in their number of the day alone, since it costs gas as any other.
   */
  isOfGuests?: boolean
}

/** What one account pays another for a run or a template. The id is that of the run's lock or the transfer. */
export interface Purchase {
  id: string
  buyer: Owner
  amount: Usdc
}

/** What has left in the last 24 hours, or is set aside for that. */
export interface Left {
  account: Usdc
  /** Of all accounts, to addresses outside; 0 for a kind that takes nothing of it. */
  total: Usdc
  /** How often the account let money leave in this way, also where it failed; 0 for a kind whose number has no limit. */
  ofKind: number
  /** When the oldest of these was made. */
  oldestOfKind: Date | null
  /** This outflow is among them already. */
  isCounted: boolean
  /** By the operator's switch. */
  isPaused: boolean
}

export interface OutflowSettings {
  /** The hard stop of the environment: nothing stored can lift it. */
  paused: boolean
  /** What may leave in 24 hours; null where there is no limit. */
  limits: {
    perDay: Usdc | null
    totalPerDay: Usdc | null
    withdrawalsPerDay: number | null
    refundsPerDay: number | null
    paymentsPerDay: number | null
  }
  /** A purchase from another account counts if it costs more than this. */
  purchasesAbove: Usdc
  /** Where money may go, in lower case; empty: anywhere. */
  allowList: readonly string[]
}

export interface OutflowStore {
  /** Until the transaction's end nothing else is counted for this account, nor in the total if this kind is part of it. */
  lock(of: Pick<Outflow, 'owner' | 'kind'>, inside: Statements): Promise<void>
  /** `numbered`: also how often, which takes a look at each of the day. */
  leftSince(
    of: Pick<Outflow, 'owner' | 'kind'> & { id: string | null; numbered: boolean },
    since: Date,
    inside?: Statements,
  ): Promise<Left>
  count(outflow: Outflow, now: Date, inside: Statements): Promise<void>
  /** All but `taken` comes back. False when it was not counted, or came back already. */
  giveBack(id: string, taken: Usdc, now: Date, inside: Statements): Promise<boolean>
  isPaused(inside?: Statements): Promise<boolean>
  setPaused(paused: boolean, now: Date): Promise<void>
}
