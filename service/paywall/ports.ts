import type { Address } from '../chain/model.ts'
import type { NetworkName } from '../chain/networks.ts'
import type { NewEvent } from '../deliveries/model.ts'
import type { Usdc } from '../kit/money.ts'
import type { Statements } from '../kit/transaction.ts'
import type { Owner } from '../kit/owner.ts'
import type { Places } from './rules/pricing.ts'
import type { DayRow, Facts, Gate, Offered, Payment, Paywall, Tier } from './model.ts'

/*
 * Two kinds of ports. The engine (`service/gate.ts` and its modules) uses only `PaymentJournal`, `Method` and `Tally`:
 * it is the same in this service's gateway and in the middleware for other servers. The ports after them belong to the
 * gateway.
 */

/** Balances and tiers. Every result is durable before it is returned. */
export interface Prepaid {
  /** Sets aside the maximum cost of a measured call. */
  hold(hold: Hold): Promise<Held>
  /** Charges the actual cost and releases the rest of the hold. Returns the remaining balance. */
  draw(call: string, amount: Usdc): Promise<Usdc>
  /** The payer's available balance at this paywall. */
  left(paywall: string, network: NetworkName, payer: Address): Promise<Usdc>
  /** The tier of this customer's next call, by `nextTier`. Calls that were paid on another network do not count. */
  tier(
    paywall: string,
    route: string,
    payer: Address,
    tiers: readonly Tier[],
    windowStart: Date,
    network: NetworkName,
  ): Promise<number>
  /**
   * Uses a sign-in once. `unpaid`: the payer has not paid for the path since then, or all of it is refunded or about to be.
   * `used`: the nonce was used before. A payment of a sale with `passIn` is what is paid for.
   */
  signIn(pass: Pass, by: { since: Date; nonce: Buffer }): Promise<SignedIn>
}

/** Where a customer's calls at a tiered price are counted. */
export interface Place extends Pick<Payment, 'network' | 'route' | 'payer'> {
  paywallId: string
  windowStart: Date
}

/** A wallet and what it has paid for. */
export interface Pass {
  paywallId: string
  payer: Address
  /** By `passHash`. */
  path: Buffer
}

export type SignedIn = 'passed' | 'unpaid' | 'used'

export interface Hold {
  call: string
  paywallId: string
  network: NetworkName
  route: string
  by: { token: Buffer } | { payer: Address }
  amount: Usdc
  /** Charged when the process that could report the cost is gone. */
  minimum: Usdc
  until: Date
}

/**
 * The remaining balance, or the available one if it is not enough; null if the token is unknown. `payer`: the owner of
 * a balance that is not enough.
 */
export type Held =
  { held: true; payer: Address; left: Usdc } | { held: false; balance: Usdc | null; payer?: Address | null }

/** Counts events that cost nothing. Counts are gathered in memory and written from time to time. */
export interface Tally {
  count(paywall: string, route: string, outcome: string): void
}

export type CountTokens = (text: string) => Promise<number>

/** Stores paywalls. */
export interface PaywallStore {
  inTransaction<T>(work: (inside: Statements) => Promise<T>): Promise<T>
  /** Null when another paywall has the slug; the same id again returns the paywall that it created. */
  add(paywall: Paywall, sealed: SealedDeps): Promise<Paywall | null>
  find(owner: Owner, id: string): Promise<Paywall | null>
  list(owner: Owner, page: Page): Promise<{ paywalls: readonly Paywall[]; total: number }>
  /** All of the owner's paywalls, or those of these ids among them, the oldest first. */
  listGates(owner: Owner, ids: readonly string[] | null): Promise<readonly Omit<StoredGate, 'sealed'>[]>
  /** Locks its row; null when the owner has no such paywall. */
  lock(inside: Statements, owner: Owner, id: string): Promise<Paywall | null>
  /** The previous terms stay valid until then. Null when another paywall has the slug. */
  change(
    inside: Statements,
    paywall: Paywall,
    before: { offered: Offered; until: Date } | null,
    sealed: Partial<SealedDeps>,
  ): Promise<Paywall | null>
  remove(owner: Owner, id: string, now: Date): Promise<Paywall | null>
  bySlug(slug: string): Promise<StoredGate | null>
  analytics(owner: Owner, id: string, from: string, to: string): Promise<Analytics | null>
  /** What a customer has paid ahead at the owner's paywalls, also at removed ones, the most left first. */
  balancesOf(owner: Owner, customer: string, limit: number): Promise<readonly CustomerBalance[]>
}

/** What a wallet has paid ahead at one paywall: what is left, what calls under way hold, and what calls have cost. */
export interface CustomerBalance {
  paywallId: string
  name: string
  network: NetworkName
  payer: Address
  available: Usdc
  held: Usdc
  paid: Usdc
  drawn: Usdc
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

export interface Analytics {
  revenue: Usdc
  customers: number
  days: readonly DayRow[]
}

export interface Page {
  limit: number
  offset: number
}

/** Stores tiers, customers, balances and counts. */
export interface PrepaidStore {
  inTransaction<T>(work: (inside: Statements) => Promise<T>): Promise<T>
  /** Counts the payment as under way in its window. Returns the counts from before. */
  takePlace(inside: Statements, payment: Payment): Promise<Places>
  /** The place is free for another call. */
  freePlace(inside: Statements, payment: Payment): Promise<void>
  /** Writes the effects of a payment: customer, revenue, day, balance and tier. */
  paid(inside: Statements, payment: Payment, credit: Credit, now: Date): Promise<Facts>
  hold(hold: Hold): Promise<Held>
  draw(call: string, amount: Usdc, now: Date): Promise<Usdc>
  left(paywall: string, network: NetworkName, payer: Address): Promise<Usdc>
  places(place: Place): Promise<Places>
  addCounts(
    rows: readonly { paywall: string; day: string; route: string; outcome: string; count: number }[],
  ): Promise<void>
  endHolds(now: Date): Promise<void>
  /** The payer may sign in to this path from now on. */
  addPass(inside: Statements, pass: Pass, now: Date): Promise<void>
  signIn(pass: Pass, by: { since: Date; nonce: Buffer }, now: Date): Promise<SignedIn>
  /** Deletes sign-ins that were used before then. */
  forgetSignIns(before: Date): Promise<void>
}

/** A payment into a balance: the token that opens it, and the hold for the call that came with the payment. */
export interface Credit {
  tokenHash: Buffer | null
  hold: Hold | null
}

/** The part of the deliveries' API that paywalls use. */
export interface DeliveryPort {
  event(inside: Statements, event: NewEvent): Promise<void>
}

/** Checks upstream addresses. Users supply them, so the caller must pass a guarded client. */
export interface Addresses {
  /** Throws a DomainError that explains why the address is not allowed. */
  check(url: string): Promise<void>
  checkHeaders(headers: Readonly<Record<string, string>>): void
}

export interface Sealing {
  seal(text: string, context: string): string
  open(sealed: string, context: string): string
}

export interface SellersRecipients {
  /** Where a seller is paid: their own wallet's address where they name none. Throws for an address where nobody could spend it. */
  ofSales(owner: Owner, named: { recipient: Address | null; network: NetworkName }): Promise<Address | null>
}
