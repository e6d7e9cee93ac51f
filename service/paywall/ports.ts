import type { PaymentRequest, RequestBody } from '../x402/model.ts'
import type { Address, Hex } from '../chain/model.ts'
import type { NetworkName } from '../chain/networks.ts'
import type { NewEvent } from '../deliveries/model.ts'
import type { Purchase } from '../facilitator/model.ts'
import type { Usdc } from '../kit/money.ts'
import type { Statements } from '../kit/transaction.ts'
import type { Owner } from '../kit/owner.ts'
import type { Places } from './rules/pricing.ts'
import type { DayRow, Facts, Gate, Offered, Payment, Paywall, Settled, StoredAnswer, Tier } from './model.ts'

/*
 * Two kinds of ports. The engine (`service/gate.ts` and what it is made of) knows `Books`, `Settler` and `Tally`
 * alone: it is the same in this service's gateway and in the middleware that others put into their own server. What
 * follows after them belongs to the gateway.
 */

/** What is kept of payments. Whatever it answers is written down for good. */
export interface Books {
  find(digest: Hex): Promise<Payment | null>
  findById(id: string): Promise<Payment | null>
  /** The authorization and the payment that it pays, together, and for a tiered price its place in the window. */
  begin(payment: Payment, tiers: readonly Tier[] | null): Promise<Begun>
  /**
   * Nobody else works on it until then; null when somebody does, or nothing is left to do. One that was released takes
   * a place again, in the window that the payment names now.
   */
  take(payment: Payment, tiers: readonly Tier[] | null, until: Date): Promise<Payment | null>
  /** Nobody works on it any more; whoever presents it again does. */
  leave(id: string): Promise<void>
  /** The upstream failed: nothing is charged. */
  release(id: string): Promise<void>
  /** Binds the payment to this body, before an upstream has all of it. False where it is bound to another one. */
  bind(id: string, bodyHash: Buffer): Promise<boolean>
  /** The chain is about to be asked. The answer is kept for the case that its outcome takes longer than anybody waits. */
  settling(id: string, sold: Sold): Promise<void>
  /** In one step with all that follows from it; what somebody else wrote meanwhile when it has ended already. */
  paid(id: string, txHash: string, end: Ending): Promise<Payment>
  failed(id: string, reason: string): Promise<Payment>
  /** A payment that touches no chain. */
  simulated(payment: Payment): Promise<void>
  /** The answer to what was paid for first, until it was delivered: the upstream is not asked for it again. */
  keep(id: string, answer: StoredAnswer, bodyHash: Buffer | null): Promise<void>
  answerOf(id: string): Promise<StoredAnswer | null>
  /** From here on no byte of it is given a second time, but for an answer that is kept. */
  begun(id: string): Promise<void>
  delivered(id: string): Promise<void>

  /** Sets aside what a measured call can cost at most. */
  hold(hold: Hold): Promise<Held>
  /** Takes what it did cost; the rest goes back. Answers what is left. */
  draw(call: string, amount: Usdc): Promise<Usdc>
  /** What a payer may draw from here. */
  left(paywall: string, network: NetworkName, payer: Address): Promise<Usdc>
  /** An authorization that only proves who is asking buys this, and nothing else ever. */
  prove(digest: Hex, buys: string): Promise<boolean>
  /** In which tier this customer's next call is, by `nextTier`. */
  tier(paywall: string, route: string, payer: Address, tiers: readonly Tier[], windowStart: Date): Promise<number>
}

/** `bought`: the authorization is another purchase's already. `tier`: the payer is in that one by now. */
export type Begun = { begun: true } | { begun: false; bought: string } | { begun: false; tier: number }

export interface Sold {
  answer: StoredAnswer | null
  bodyHash: Buffer | null
  /** Of a measured call; null where it is measured later. */
  cost: Usdc | null
}

/** `hold`: the call that came with a balance goes on, and this is set aside for it. */
export interface Ending {
  delivery: Payment['delivery']
  hold: Hold | null
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

/** Who moves the money. Nothing of what it says about an outcome is believed that it cannot prove. */
export interface Settler {
  /** Names the authorization; null for a network that is not known. */
  digestOf(signed: Pick<PaymentRequest, 'network' | 'authorization'>): Hex | null
  /** Of an authorization that was submitted, by what its payer knows of it; null where that cannot be found. */
  digestBy(network: NetworkName, payer: Address, nonce: Hex): Promise<Hex | null>
  /** `payerHasCode` is absent where that is not known. */
  verify(request: RequestBody): Promise<{ payer: string | null; refusal: string | null; payerHasCode?: boolean }>
  /** Under the payment's own id: asked again, it asks for the same transfer. */
  settle(request: RequestBody, operation: string, waitMs?: number): Promise<Settled>
  serves(network: NetworkName): boolean
}

/** Counts what costs nothing; told in passing, written now and then. */
export interface Tally {
  count(paywall: string, route: string, outcome: string): void
}

export type CountTokens = (text: string) => Promise<number>

/** Where paywalls are kept. */
export interface PaywallStore {
  inTransaction<T>(work: (inside: Statements) => Promise<T>): Promise<T>
  /** Null when the slug is another's; the same id again finds what it made. */
  add(paywall: Paywall, sealed: SealedParts): Promise<Paywall | null>
  find(owner: Owner, id: string): Promise<Paywall | null>
  list(owner: Owner, page: Page): Promise<{ paywalls: readonly Paywall[]; total: number }>
  /** Holds its row; null when it is not theirs. */
  lock(inside: Statements, owner: Owner, id: string): Promise<Paywall | null>
  /** What it said before stays in force until then. Null when the slug is another's. */
  change(
    inside: Statements,
    paywall: Paywall,
    before: { offered: Offered; until: Date } | null,
    sealed: Partial<SealedParts>,
  ): Promise<Paywall | null>
  remove(owner: Owner, id: string, now: Date): Promise<Paywall | null>
  bySlug(slug: string): Promise<StoredGate | null>
  payments(owner: Owner, id: string, page: Page): Promise<{ payments: readonly Payment[]; total: number } | null>
  /** What all of them were paid, by day. */
  days(owner: Owner, since: Date): Promise<readonly SaleDay[]>
  analytics(owner: Owner, id: string, from: string, to: string): Promise<Analytics | null>
}

export interface SealedParts {
  /** The owner's headers by name. */
  headers: string
  secret: string
}

export interface StoredGate {
  gate: Omit<Gate, 'address' | 'testToken' | 'earlier'>
  earlier: readonly { offered: Offered; until: Date }[]
  sealed: SealedParts
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

/** Where payments at gates are kept. */
export interface PaymentStore {
  inTransaction<T>(work: (inside: Statements) => Promise<T>): Promise<T>
  find(digest: Hex): Promise<Payment | null>
  findById(id: string): Promise<Payment | null>
  /** Counts it as under way in its window. Answers what was counted before it. */
  takePlace(inside: Statements, payment: Payment): Promise<Places>
  /** False when there is one of this id already. */
  add(inside: Statements, payment: Payment, resumeAt: Date | null): Promise<boolean>
  /** One that was released is in this window from now on. */
  take(
    inside: Statements,
    payment: Pick<Payment, 'id' | 'windowStart'>,
    now: Date,
    until: Date,
  ): Promise<Payment | null>
  leave(id: string): Promise<void>
  release(id: string, now: Date): Promise<void>
  bind(id: string, bodyHash: Buffer): Promise<boolean>
  settling(id: string, sold: Sold, now: Date): Promise<void>
  paid(inside: Statements, id: string, txHash: string, end: Ending, now: Date): Promise<Facts | null>
  /** The tier that a customer was told to be in last. */
  failed(inside: Statements, id: string, reason: string, now: Date): Promise<Payment | null>
  keep(id: string, answer: StoredAnswer, bodyHash: Buffer | null, now: Date): Promise<void>
  answerOf(id: string): Promise<StoredAnswer | null>
  begun(id: string): Promise<void>
  delivered(id: string): Promise<void>
  hold(hold: Hold): Promise<Held>
  draw(call: string, amount: Usdc, now: Date): Promise<Usdc>
  left(paywall: string, network: NetworkName, payer: Address): Promise<Usdc>
  places(paywall: string, route: string, payer: Address, windowStart: Date): Promise<Places>
  addCounts(
    rows: readonly { paywall: string; day: string; route: string; outcome: string; count: number }[],
  ): Promise<void>

  takeOpen(now: Date, limit: number): Promise<readonly Payment[]>
  /** Those whose upstream was being asked by somebody who is gone. */
  releaseLost(now: Date): Promise<void>
  endHolds(now: Date): Promise<void>
  forgetAnswers(before: Date): Promise<void>
}

/** What of the deliveries is called here. */
export interface DeliveryPort {
  event(inside: Statements, event: NewEvent): Promise<void>
}

/** What of the facilitator's register is called here: one authorization buys one thing, in all of the service. */
export interface Purchases {
  claim(inside: Statements, purchase: Purchase): Promise<string>
  prove(inside: Statements, purchase: Purchase): Promise<boolean>
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

/** Passed between any two steps of a payment, so that a test can end the process there. */
export type Checkpoint = (name: Step) => Promise<void> | void
export type Step = 'begun' | 'answered' | 'settled' | 'paid'
