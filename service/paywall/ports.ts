import type { Address } from '../chain/model.ts'
import type { NetworkName } from '../chain/networks.ts'
import type { NewEvent } from '../deliveries/model.ts'
import type { Usdc } from '../kit/money.ts'
import type { Statements } from '../kit/transaction.ts'
import type { Owner } from '../kit/owner.ts'
import type { Places } from './rules/pricing.ts'
import type { DayRow, Facts, Gate, Offered, Payment, Paywall, Tier } from './model.ts'

/*
 * Two kinds of ports. The engine (`service/gate.ts` and what it is made of) knows `PaymentJournal`, `Method` and `Tally`
 * alone: it is the same in this service's gateway and in the middleware that others put into their own server. What
 * follows after them belongs to the gateway.
 */

/** Balances and tiers. Whatever it answers is written down for good. */
export interface Prepaid {
  /** Sets aside what a measured call can cost at most. */
  hold(hold: Hold): Promise<Held>
  /** Takes what it did cost; the rest goes back. Answers what is left. */
  draw(call: string, amount: Usdc): Promise<Usdc>
  /** What a payer may draw from here. */
  left(paywall: string, network: NetworkName, payer: Address): Promise<Usdc>
  /** In which tier this customer's next call is, by `nextTier`. */
  tier(paywall: string, route: string, payer: Address, tiers: readonly Tier[], windowStart: Date): Promise<number>
}

export interface Hold {
  call: string
  paywallId: string
  network: NetworkName
  route: string
  by: { token: Buffer } | { payer: Address }
  amount: Usdc
  /** Charged when nobody is left to say what it cost. */
  minimum: Usdc
  until: Date
}

/**
 * What is left besides, or what there is where that is not enough; null where nobody is known by that token. `payer`:
 * whose balance it is, where it is not enough.
 */
export type Held =
  { held: true; payer: Address; left: Usdc } | { held: false; balance: Usdc | null; payer?: Address | null }

/** Counts what costs nothing; told in passing, written now and then. */
export interface Tally {
  count(paywall: string, route: string, outcome: string): void
}

export type CountTokens = (text: string) => Promise<number>

/** Where paywalls are kept. */
export interface PaywallStore {
  inTransaction<T>(work: (inside: Statements) => Promise<T>): Promise<T>
  /** Null when the slug is another's; the same id again finds what it made. */
  add(paywall: Paywall, sealed: SealedDeps): Promise<Paywall | null>
  find(owner: Owner, id: string): Promise<Paywall | null>
  list(owner: Owner, page: Page): Promise<{ paywalls: readonly Paywall[]; total: number }>
  /** Holds its row; null when it is not theirs. */
  lock(inside: Statements, owner: Owner, id: string): Promise<Paywall | null>
  /** What it said before stays in force until then. Null when the slug is another's. */
  change(
    inside: Statements,
    paywall: Paywall,
    before: { offered: Offered; until: Date } | null,
    sealed: Partial<SealedDeps>,
  ): Promise<Paywall | null>
  remove(owner: Owner, id: string, now: Date): Promise<Paywall | null>
  bySlug(slug: string): Promise<StoredGate | null>
  /** What all of them were paid, by day. */
  days(owner: Owner, since: Date): Promise<readonly SaleDay[]>
  analytics(owner: Owner, id: string, from: string, to: string): Promise<Analytics | null>
}

export interface SealedDeps {
  /** The owner's headers by name. */
  headers: string
  secret: string
}

export interface StoredGate {
  gate: Omit<Gate, 'address' | 'testToken' | 'earlier'>
  earlier: readonly { offered: Offered; until: Date }[]
  sealed: SealedDeps
}

export interface SaleDay {
  day: string
  paid: number
  amount: Usdc
}

export interface Analytics {
  revenue: Usdc
  customers: number
  days: readonly DayRow[]
}

export interface Page {
  limit: number
  offset: number
}

/** Where tiers, customers, balances and counts are kept. */
export interface PrepaidStore {
  inTransaction<T>(work: (inside: Statements) => Promise<T>): Promise<T>
  /** Counts it as under way in its window. Answers what was counted before it. */
  takePlace(inside: Statements, payment: Payment): Promise<Places>
  /** It becomes somebody's next call again. */
  freePlace(inside: Statements, payment: Payment): Promise<void>
  /** What follows from a payment: its customer, revenue, day, balance and tier. */
  paid(inside: Statements, payment: Payment, credit: Credit, now: Date): Promise<Facts>
  hold(hold: Hold): Promise<Held>
  draw(call: string, amount: Usdc, now: Date): Promise<Usdc>
  left(paywall: string, network: NetworkName, payer: Address): Promise<Usdc>
  places(paywall: string, route: string, payer: Address, windowStart: Date): Promise<Places>
  addCounts(
    rows: readonly { paywall: string; day: string; route: string; outcome: string; count: number }[],
  ): Promise<void>
  endHolds(now: Date): Promise<void>
}

/** Of a payment into a balance: what opens it, and what is set aside at once for the call that came with it. */
export interface Credit {
  tokenHash: Buffer | null
  hold: Hold | null
}

/** What of the deliveries is called here. */
export interface DeliveryPort {
  event(inside: Statements, event: NewEvent): Promise<void>
}

/** The upstream's address, which somebody gave us: guarded by whoever hands this in. */
export interface Addresses {
  /** Throws a DomainError that says why the address is not called. */
  check(url: string): Promise<void>
  checkHeaders(headers: Readonly<Record<string, string>>): void
}

export interface Sealing {
  seal(text: string, context: string): string
  open(sealed: string, context: string): string
}

/** Where the owner of a wallet is paid; null until the wallet has an address. */
export type WalletAddress = (owner: Owner) => Promise<Address | null>
