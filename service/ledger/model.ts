import type { Owner } from '../kit/owner.ts'
import { usdc, type Usdc } from '../kit/money.ts'
import type { Announcement } from '../queue/model.ts'

/** The platform's accounts: what it earned, and the world outside that money comes from and goes to. */
export type PlatformAccount = 'revenue' | 'redeemed' | 'grants' | 'treasury' | 'clearing'

/**
 * The wallet of all who buy without an account: each sale fills it with what its run may cost, and the run empties it
 * again. No id that is made here has this form, so no person can be this user.
 */
export const GUESTS = 'usr_guests'

export interface Funds {
  available: Usdc
  locked: Usdc
  /** Lifetime deposits of a wallet, lifetime grants of credits. */
  deposited: Usdc
  spent: Usdc
}

/** What an owner has in both of their accounts. */
export interface Balances {
  wallet: Usdc
  credits: Usdc
}

/** What the account's owner has: a lock alone does not lower it, its capture does. */
export function balanceOf(funds: Funds): Usdc {
  return usdc(funds.available + funds.locked)
}

/** Holds money. The id is the caller's (a run, a withdrawal, a call) and makes it happen once. */
export interface Reserve {
  id: string
  owner: Owner
  amount: Usdc
  /** Credits pay first, the wallet the rest. Only for the platform's own tools: credits never become cash. */
  useCredits: boolean
  deadline: Date
  reference: string | null
  /**
   * `async`: the commit does not wait for the disk, so the hold may be lost when the database crashes; its capture is
   * then refused and no output is given out. The capture does wait, and writes the hold with it. `sync` when absent.
   */
  durability?: 'sync' | 'async'
}

export interface Hold {
  id: string
  amount: Usdc
  fromCredits: Usdc
}

export type HoldState = 'open' | 'captured' | 'released' | 'expired'

/** Take a lock's money, all or part; the rest goes back. */
export interface Capture {
  hold: string
  /** Whose lock it is. */
  owner: Owner
  amount: Usdc
  /** What goes to others; what they leave is the platform's revenue. */
  shares: readonly Share[]
  /** A payout leaves the house and is not spending. */
  kind: 'capture' | 'payout'
  reference: string | null
  /** Announced once the money has moved: written in the movement's own statement. */
  announcements: readonly Announcement[]
}

export interface Share {
  to: Recipient
  amount: Usdc
}

export type Recipient = { userId: string } | { platform: PlatformAccount }

export interface Release {
  hold: string
  owner: Owner
  announcements: readonly Announcement[]
}

/** One of several locks to take or to end in one transaction. */
export type Act = { reserve: Reserve } | { capture: Capture } | { release: Release }

/** The result of an act; a refusal leaves the other acts alone. */
export type ActOutcome =
  | { hold: Hold }
  | { ended: Ended }
  | { refusal: Error }
  /** Neither done nor refused: a larger amount stood in front. Try again in the next transaction. */
  | { askAgain: true }

export interface Ended {
  captured: Usdc
  /** True when the same command had ended this lock before. */
  replayed: boolean
}

/** Money that comes in from outside, or credits that the house grants. */
export interface Credit {
  id: string
  kind: 'deposit' | 'grant'
  owner: Owner
  amount: Usdc
  reference: string | null
  /** The act that reports it: the same id by the same act is a repetition, by another one a conflict. */
  act: string
  /** The balance may not become larger than this by it. */
  ceiling?: Usdc
}

/** Money from one person's wallet to others at once, without a lock between. */
export interface Transfer {
  id: string
  owner: Owner
  amount: Usdc
  shares: readonly Share[]
  reference: string | null
}

/** What came into a wallet and what left it on one day of UTC. */
export interface Day {
  day: string
  moneyIn: Usdc
  /** Of what came in, what was earned; the rest is the owner's own money. */
  sales: Usdc
  moneyOut: Usdc
}

/** Days on which money moved, the oldest first. `wholeFrom`: earlier ones are not known. Null where all are. */
export interface Days {
  wholeFrom: string | null
  days: readonly Day[]
}

/** A line of a wallet's statement. */
export interface Line {
  movementId: string
  kind: 'deposit' | 'grant' | 'capture' | 'payout' | 'transfer'
  side: 'payer' | 'receiver'
  /** What it did to the balance: positive in, negative out. */
  change: Usdc
  balanceAfter: Usdc
  reference: string | null
  at: Date
}

export interface OpenLock {
  id: string
  amount: Usdc
}
