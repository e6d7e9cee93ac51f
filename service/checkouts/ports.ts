import type { Usdc } from '../kit/money.ts'
import type { Address } from '../chain/model.ts'
import type { AnsweredDelivery, NewDelivery, NewEvent, NewTarget } from '../deliveries/model.ts'
import type { Id } from '../kit/ids.ts'
import type { Statements } from '../kit/transaction.ts'
import type { Owner } from '../kit/owner.ts'
import type { ProductName } from '../sales/model.ts'
import type { Announcement } from '../queue/model.ts'
import type { Checkout, CheckoutView, PaymentView, Source } from './model.ts'

/** Where checkouts are kept. */
export interface CheckoutStore {
  inTransaction<T>(work: (inside: Statements) => Promise<T>): Promise<T>
  /** Of whatever owner and state. */
  find(id: string): Promise<Checkout | null>
  findOwn(owner: Owner, id: string): Promise<Checkout | null>
  list(owner: Owner, page: Page): Promise<{ checkouts: readonly Checkout[]; total: number }>

  /** Those that stand for this place, held until the transaction ends; nobody else makes one for it meanwhile. */
  lockSource(inside: Statements, owner: Owner, source: Source): Promise<readonly Checkout[]>
  /** Under an id that exists, of this owner's, nothing changes; answers what is there, or null if it is not theirs. */
  /** Throws where the account has all active checkouts that it may have beside this one. */
  assertRoom(inside: Statements, checkout: Checkout): Promise<void>
  add(inside: Statements, checkout: Checkout): Promise<Checkout | null>
  save(inside: Statements, checkout: Checkout): Promise<void>
  /** Null when there is none of theirs that lives. */
  prolong(owner: Owner, id: string, until: Date, now: Date): Promise<Checkout | null>
  /** Null when there is none of theirs; an expired one stays as it is. */
  expire(owner: Owner, id: string, now: Date): Promise<Checkout | null>
  /** Ends it then, unless it is registered again before; null when there is none of theirs. */
  endSoon(owner: Owner, id: string, at: Date): Promise<Checkout | null>
  /** Those whose time is over. */
  expireLeases(now: Date): Promise<void>

  /** Counts that there was nothing; from so many on it is paused. Answers the one that became so. */
  countMissing(
    inside: Statements,
    id: string,
    pause: { most: number; now: Date; probeAt: Date },
  ): Promise<Checkout | null>
  /** These answered something else: the count begins anew. */
  forgetMissing(ids: readonly string[]): Promise<void>
  /** These are there again. */
  resume(ids: readonly string[], now: Date): Promise<void>
  /** Paused ones that are to be asked; nobody else asks them before their next time. */
  takeProbes(now: Date, until: Date, limit: number): Promise<readonly Checkout[]>
  probeAgain(id: string, at: Date): Promise<void>

  findInside(inside: Statements, id: string): Promise<Checkout | null>
  /** Whether it sells at this moment: then it does until the transaction ends. */
  holdOpen(inside: Statements, id: string, now: Date): Promise<boolean>
  /** Of each day of UTC since then, what was sold and what failed, without what was simulated; the oldest first. */
  days(owner: Owner, since: Date): Promise<readonly SaleDay[]>
}

export interface Page {
  limit: number
  offset: number
}

/** What of the deliveries is called here. */
export interface DeliveryPort {
  write(inside: Statements, delivery: NewDelivery): Promise<void>
  event(inside: Statements, event: NewEvent): Promise<void>
  bySubject(owner: Owner | null, subjects: readonly string[]): Promise<ReadonlyMap<string, AnsweredDelivery>>
  targets: {
    put(inside: Statements, target: NewTarget): Promise<{ secret: string }>
    rotate(target: { id: string; owner: Owner }, operation: Id<'op'>): Promise<{ secret: string }>
  }
}

/** The workflow's address, which somebody gave us: guarded by whoever hands this in. */
export interface Callbacks {
  /** Throws a DomainError that says why the address is not called. */
  check(url: string): Promise<void>
  /** A POST without a body; null when no answer came. */
  ask(url: string): Promise<{ status: number; body: Buffer } | null>
}

/** Where the owner of a wallet is paid; null until the wallet has an address. */
export type WalletAddress = (owner: Owner) => Promise<Address | null>

/** A mail to an account's own address, where there is one. Safe to repeat: the id names the mail. */
export type MailOwner = (userId: string, mail: { id: string; subject: string; text: string }) => Promise<void>

/** Written in the transaction of what is announced. */
export type Announce = (inside: Statements, announcements: readonly Announcement[]) => Promise<void>

/** What was bought, of every product; null for who has not the payment's token. */
export type Receipts = (id: string, token: string | null) => Promise<FoundReceipt | null>

export interface FoundReceipt {
  body: { receipt: Receipt; delivery: PaymentView['delivery'] }
  /** Where it was bought at one, for its page. */
  checkout: { view: CheckoutView; payment: PaymentView } | null
}

export interface Receipt {
  id: string
  product: ProductName
  /** What was bought, as its seller calls it. */
  name: string
  status: string
  amount: number
  currency: 'USDC'
  network: string
  payer: string
  txHash: string | null
  testMode: boolean
  createdAt: string
  paidAt: string | null
}

/** What a browser is shown. */
export interface CheckoutPages {
  checkout(view: CheckoutView): Shown
  /** The address of one payment, for somebody who opens it in a browser. */
  payment(view: CheckoutView | null, payment: PaymentView): Shown
  /** Of something that was not bought at a checkout. */
  receipt(receipt: Receipt): Shown
  missing(error: { status: number; code: string; sentence: string }): Shown
}

interface Shown {
  type: string
  content: string | Buffer
  headers?: Readonly<Record<string, string>>
}

export interface SaleDay {
  day: string
  paid: number
  failed: number
  amount: Usdc
}
