import type { Usdc } from '../kit/money.ts'
import type { Address, Hex } from '../chain/model.ts'
import type { NetworkName } from '../chain/networks.ts'
import type { AnsweredDelivery, NewDelivery, NewEvent, NewTarget } from '../deliveries/model.ts'
import type { Id } from '../kit/ids.ts'
import type { Statements } from '../kit/transaction.ts'
import type { Caller } from '../kit/caller.ts'
import type { Owner } from '../kit/owner.ts'
import type { ProductName } from '../sales/model.ts'
import type { Announcement } from '../queue/model.ts'
import type { JsonSigned, ReceiptPayload, TypedSigned } from '../x402/offer-receipt.ts'
import type { Checkout, CheckoutView, PaymentView, Source } from './model.ts'

/** Stores checkouts. */
export interface CheckoutStore {
  inTransaction<T>(work: (inside: Statements) => Promise<T>): Promise<T>
  /** Any owner's, in any state. With a version: as it was shown then. */
  find(id: string, version?: number | null): Promise<Checkout | null>
  findOwn(owner: Owner, id: string): Promise<Checkout | null>
  list(owner: Owner, page: Page): Promise<{ checkouts: readonly Checkout[]; total: number }>
  /** The owner's persistent checkouts that sell now, the oldest first. */
  listOffered(owner: Owner, limit: number, now: Date): Promise<readonly { id: string; name: string }[]>
  /** Of these ids, those that `listOffered` would list. */
  findOffered(owner: Owner, ids: readonly string[], now: Date): Promise<readonly Checkout[]>

  /**
   * The checkouts of this source, locked until the transaction ends. No other transaction can create one for it
   * meanwhile.
   */
  lockSource(inside: Statements, owner: Owner, source: Source): Promise<readonly Checkout[]>
  /** Throws when the account already has the maximum number of active checkouts, not counting this one. */
  assertRoom(inside: Statements, checkout: Checkout): Promise<void>
  /**
   * If this owner's id exists already, nothing changes. Returns the stored checkout, or null if the id is another
   * owner's.
   */
  add(inside: Statements, checkout: Checkout): Promise<Checkout | null>
  /** Locked until the transaction ends; null when the owner has no such checkout. */
  lockOwn(inside: Statements, owner: Owner, id: string): Promise<Checkout | null>
  /** Keeps the version that it replaces. */
  save(inside: Statements, before: Checkout, checkout: Checkout): Promise<void>
  /** Null when the owner has no such active checkout. */
  prolong(owner: Owner, id: string, until: Date, now: Date): Promise<Checkout | null>
  /** Null when the owner has no such checkout; an expired one stays unchanged. */
  expire(owner: Owner, id: string, now: Date): Promise<Checkout | null>
  /** Ends the checkout at that time unless it is registered again before; null when the owner has no such checkout. */
  endSoon(owner: Owner, id: string, at: Date): Promise<Checkout | null>
  /** Expires checkouts whose lease is over. */
  expireLeases(now: Date): Promise<void>

  /** Counts that there was nothing; from so many on it is paused. Answers the one that became so. */
  countMissing(
    inside: Statements,
    id: string,
    pause: { most: number; now: Date; probeAt: Date },
  ): Promise<Checkout | null>
  /** These gave another answer, so the count starts at zero again. */
  forgetMissing(ids: readonly string[]): Promise<void>
  /** The workflows of these checkouts respond again. */
  resume(ids: readonly string[], now: Date): Promise<void>
  /** Paused checkouts whose probe is due. No other process probes them before their next time. */
  takeProbes(now: Date, until: Date, limit: number): Promise<readonly Checkout[]>
  probeAgain(id: string, at: Date): Promise<void>

  /** Until when this wallet must pay first; null where it may pay after the success. */
  defaultedUntil(payer: Address, network: NetworkName, now: Date): Promise<Date | null>
  addDefault(inside: Statements, left: { payer: Address; network: NetworkName; until: Date }): Promise<void>

  findInside(inside: Statements, id: string, version: number | null): Promise<Checkout | null>
  /** Whether it sells at this moment. If so, it stays open until the transaction ends. */
  holdOpen(inside: Statements, id: string, now: Date): Promise<boolean>
  /** Sales and failures by UTC day since then, without simulated ones; the oldest day first. */
  days(owner: Owner, since: Date): Promise<readonly SaleDay[]>
}

export interface Page {
  limit: number
  offset: number
}

/** The part of the deliveries' API that checkouts use. */
export interface DeliveryPort {
  write(inside: Statements, delivery: NewDelivery): Promise<void>
  /** No further attempt is made. An attempt under way, and one that a receiver has claimed, goes on. */
  stop(inside: Statements, id: string, error: string): Promise<void>
  event(inside: Statements, event: NewEvent): Promise<void>
  bySubject(owner: Owner | null, subjects: readonly string[]): Promise<ReadonlyMap<string, AnsweredDelivery>>
  targets: {
    put(inside: Statements, target: NewTarget): Promise<{ secret: string }>
    rotate(target: { id: string; owner: Owner }, operation: Id<'op'>): Promise<{ secret: string }>
  }
}

/** Sends what is left of a payment back to its payer, once for each operation. */
export interface RefundPort {
  request(
    refund: { saleId: string; amount: null; reason: string; by: 'rule'; owner: null },
    operation: Id<'op'>,
  ): Promise<unknown>
}

/** What becomes of problems with payments. */
export interface DisputePort {
  /** How the last sales of a checkout went. Null while there are too few. */
  trackRecord(checkout: string): Promise<CheckoutView['trackRecord']>
}

/** Calls workflows. Users supply their addresses, so the caller must pass a guarded client. */
export interface Callbacks {
  /** Throws a DomainError that explains why the address is not allowed. */
  check(url: string): Promise<void>
  /** A POST without a body; null without an answer. */
  ask(url: string): Promise<{ status: number; body: Buffer } | null>
}

/** The address that receives payments for an owner's wallet; null until the wallet has one. */
export type WalletAddress = (owner: Owner) => Promise<Address | null>

/** Sends a mail to the account's own address, if it has one. Safe to repeat: the id identifies the mail. */
export type MailOwner = (userId: string, mail: { id: string; subject: string; text: string }) => Promise<void>

/** Pays an address from the caller's account. */
export interface AccountPayments {
  pay(
    caller: Caller,
    request: { url: string; method: string; headers: Readonly<Record<string, string>>; body: string; maxAmount: Usdc },
    operation: Id<'op'>,
    options: { keyed: boolean; background: boolean },
  ): Promise<{
    payment: AccountPayment | null
    response: { status: number; body: string; encoding: 'utf8' | 'base64' } | null
  }>
  /** Throws when the caller has no such payment. */
  find(caller: Caller, id: string): Promise<{ payment: AccountPayment }>
}

/** An account's payment, and the authorization that it signed. */
export interface AccountPayment {
  id: string
  amount: Usdc
  network: NetworkName
  payer: Address
  nonce: Hex
  /** `returned`: nothing was charged. */
  state: string
  /** What the seller answered. Null when it has not. */
  answerStatus: number | null
  createdAt: Date
}

/** Runs in the transaction of the change that it announces. */
export type Announce = (inside: Statements, announcements: readonly Announcement[]) => Promise<void>

/** The receipts of all products; null without the payment's token. */
export type Receipts = (id: string, token: string | null) => Promise<FoundReceipt | null>

export interface FoundReceipt {
  body: {
    receipt: Receipt
    delivery: PaymentView['delivery']
    dispute: ReceiptDispute | null
    signed: SignedForms | null
  }
  /** For its page, if it was bought at a checkout. */
  checkout: { view: CheckoutView; payment: PaymentView } | null
}

/** The signed receipt in both forms, and the terms that were paid. */
export interface SignedForms {
  eip712: TypedSigned<ReceiptPayload>
  jws: JsonSigned
  /** Null when the sale has no recipient. */
  terms: JsonSigned | null
  /** The page that verifies it. */
  verifyUrl: string
}

export interface Receipt {
  id: string
  product: ProductName
  /** The seller's name for the product. */
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
  /** What went back of it, or is about to, oldest first. */
  refunds: readonly ReceiptRefund[]
}

export interface ReceiptRefund {
  id: string
  /** `confirmed`: the payer has the money. */
  state: 'requested' | 'funded' | 'sent' | 'confirmed'
  amount: number
  /** Null until it is sent, and for a refund to an account of this server. */
  txHash: string | null
  explorerUrl: string | null
}

/** The buyer's report of a problem with the payment. */
export interface ReceiptDispute {
  id: string
  state: string
  reason: string
  answer: string | null
  answerBy: string
  createdAt: string
}

/** The pages for a browser. */
export interface CheckoutPages {
  checkout(view: CheckoutView): Shown
  /** The address of one payment, opened in a browser. */
  payment(view: CheckoutView | null, payment: PaymentView): Shown
  /** The receipt of a purchase that was not made at a checkout. */
  receipt(receipt: Receipt & { dispute: ReceiptDispute | null }, signed: SignedForms | null): Shown
  /** Verifies a signed receipt in the reader's browser, by the keys at these addresses. `home`: the page's own origin. */
  verify(issuers: Readonly<Record<string, string>>, home: string): Shown
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
