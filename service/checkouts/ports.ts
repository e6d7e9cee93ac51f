import type { Usdc } from '../kit/money.ts'
import type { Address } from '../chain/model.ts'
import type { NetworkName } from '../chain/networks.ts'
import type { AnsweredDelivery, NewDelivery, NewEvent, NewTarget } from '../deliveries/model.ts'
import type { BrandView } from '../brands/model.ts'
import type { Content, CustomerUpload, Purpose, StoredFile, Upload } from '../files/model.ts'
import type { Id } from '../kit/ids.ts'
import type { Statements } from '../kit/transaction.ts'
import type { Caller } from '../kit/caller.ts'
import type { Reader } from '../kit/language.ts'
import type { Environment, Owner } from '../kit/owner.ts'
import type { Span } from '../kit/clock.ts'
import type { AccountBuyer, AccountPayment, ProductName, Sale } from '../sales/model.ts'
import type { Announcement } from '../queue/model.ts'
import type { JsonSigned, ReceiptPayload, TypedSigned } from '../x402/offer-receipt.ts'
import type { Checkout, NoticeKind, PaymentRequest, Progress, ReceiptRefund, Source, Turn } from './model.ts'
import type { CheckoutView, PaymentView } from './views.ts'

export type RequestClaim = 'claimed' | 'taken' | 'over'

/** Stores the further amounts that buyers are asked for. */
export interface RequestStore {
  /** Whether this checkout of the owner's is one of a request. It is from its creation on, or never. */
  isOfRequest(owner: Owner, checkout: string): Promise<boolean>
  /** All of this payment. No other transaction adds one meanwhile. */
  lockRequests(inside: Statements, payment: string): Promise<readonly PaymentRequest[]>
  /** If its id exists already, nothing changes. */
  addRequest(inside: Statements, request: PaymentRequest): Promise<void>
  /** By payment, the oldest first. Those without requests are missing. */
  requestsOf(payments: readonly string[]): Promise<ReadonlyMap<string, readonly PaymentRequest[]>>
  /**
   * Null where the checkout is of no request; `taken` where another payment has begun, or the request has ended; `over` where
   * the order that it belongs to has.
   */
  claimRequest(inside: Statements, claim: { checkout: string; sale: string; now: Date }): Promise<RequestClaim | null>
  /** The payment of it failed, so it is open again. */
  releaseRequest(inside: Statements, sale: string): Promise<void>
  /** Ends the request that this sale pays. Null where it pays none, or it has ended already. */
  payRequest(inside: Statements, sale: string, now: Date): Promise<PaymentRequest | null>
  /** Null where it is not open, or of another payment. */
  refuseRequest(inside: Statements, refusal: { id: string; payment: string; now: Date }): Promise<PaymentRequest | null>
  /** Ends open ones whose time is over. No other call returns them. */
  expireRequests(inside: Statements, now: Date, limit: number): Promise<readonly PaymentRequest[]>
}

/** Stores the turns of chats. What was said is the sales' and the deliveries'. */
export interface ChatStore {
  /** The next turn of this pass. If the sale is one already, nothing changes. The pass must be locked. */
  addTurn(inside: Statements, turn: { saleId: string; passId: string; owner: Owner; now: Date }): Promise<void>
  /** How busy a chat and its seller are, without this sale. */
  turnLoad(
    inside: Statements,
    of: { saleId: string; passId: string; owner: Owner },
    since: { working: Date; recent: Date },
  ): Promise<{ isWorking: boolean; ofPass: number; ofAccount: number }>
  /** Null for a sale that is no turn. */
  turnOf(inside: Statements, saleId: string): Promise<{ passId: string; number: number } | null>
  /** The latest of a pass, oldest first; before this turn, or all. */
  turnsOf(inside: Pick<Statements, 'run'> | null, passId: string, before: number | null): Promise<readonly Turn[]>
}

/** Stores checkouts. */
export interface CheckoutStore extends RequestStore, ChatStore {
  inTransaction<T>(work: (inside: Statements) => Promise<T>): Promise<T>
  /** Any owner's, in any state. With a version: as it was shown then. */
  find(id: string, version?: number | null): Promise<Checkout | null>
  findOwn(owner: Owner, id: string): Promise<Checkout | null>
  list(owner: Owner, page: Page): Promise<{ checkouts: readonly Checkout[]; total: number }>
  /** The owner's persistent checkouts that sell now, the oldest first. */
  listOffered(owner: Owner, limit: number, now: Date): Promise<readonly { id: string; name: string }[]>
  /** Of these ids, those that `listOffered` would list. */
  findOffered(owner: Owner, ids: readonly string[], now: Date): Promise<readonly Checkout[]>
  /** Of these ids, those of checkouts that have ended. */
  ended(ids: readonly string[], now: Date, inside: Statements): Promise<ReadonlySet<string>>

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
  /** Changes nothing else: the checkout's state, its end and its version stay. */
  allowSites(
    inside: Statements,
    owner: Owner,
    sites: { id: string; embedOrigins: readonly string[]; now: Date },
  ): Promise<Checkout | null>
  /** Null when the owner has no such active checkout. */
  prolong(owner: Owner, id: string, until: Date, now: Date): Promise<Checkout | null>
  /**
   * With its request, if it has one. Null when the owner has no such checkout, or `onlyTemporary` one that is not; an expired one
   * stays unchanged.
   */
  expire(owner: Owner, id: string, at: { now: Date; onlyTemporary: boolean }): Promise<Checkout | null>
  /** The same at that time, unless the checkout is registered again before. */
  endSoon(owner: Owner, id: string, end: { at: Date; onlyTemporary: boolean }): Promise<Checkout | null>
  /** Expires checkouts whose lease is over. */
  expireLeases(now: Date): Promise<void>

  /** Counts that there was nothing; from so many on it is paused. Answers the one that became so. */
  countMissing(
    inside: Statements,
    id: string,
    pause: { most: number; now: Date; probeAt: Date },
  ): Promise<Checkout | null>
  /**
   * Counts a server error. It is paused where the errors began at `since` or before, and the one before this is not older
   * than `from`. Answers the one that became so.
   */
  countFailing(
    inside: Statements,
    id: string,
    pause: { since: Date; from: Date; now: Date; probeAt: Date },
  ): Promise<Checkout | null>
  /** It gave another answer, so the next error is the first one again. */
  forgetFailing(id: string): Promise<void>
  /** These gave another answer, so the count starts at zero again. */
  forgetMissing(ids: readonly string[]): Promise<void>
  /** The workflows of these checkouts respond again. */
  resume(ids: readonly string[], now: Date): Promise<void>
  /** Paused checkouts whose probe is due. No other process probes them before their next time. */
  takeProbes(now: Date, until: Date, limit: number): Promise<readonly Checkout[]>
  probeAgain(id: string, at: Date): Promise<void>

  /** Locked until the transaction ends; without lines when there was none. */
  lockProgress(inside: Statements, payment: string, now: Date): Promise<Progress>
  saveProgress(inside: Statements, payment: string, progress: Progress, now: Date): Promise<void>
  /** By payment. Those without lines are missing. */
  progressOf(payments: readonly string[]): Promise<ReadonlyMap<string, Progress['lines']>>

  /** The last one with this token counts. False where the checkout has the maximum of them. */
  putDraft(draft: { tokenHash: Buffer; checkout: string; content: string; until: Date }, now: Date): Promise<boolean>
  /** What this checkout's page stored under the token. */
  findDraft(tokenHash: Buffer, checkout: string, now: Date): Promise<string | null>

  /** Adds to how often the pages of checkouts were opened. */
  addOpenings(rows: readonly { checkout: string; day: string; count: number }[]): Promise<void>
  /** The sums of all checkouts, and then the twenty that were opened most. */
  conversion(owner: Owner, span: Span): Promise<readonly Converted[]>

  findInside(inside: Statements, id: string, version: number | null): Promise<Checkout | null>
  /** As it was in that version; it stays open until the transaction ends. Null where it does not sell at this moment. */
  holdOpen(inside: Statements, id: string, version: number | null, now: Date): Promise<Checkout | null>
  /**
   * Stores that the account is to be mailed of a sale, once. True where that is a mail of its own: no more than `alone` of
   * those since then.
   */
  addNotice(notice: Notice, bounds: { since: Date; alone: number }): Promise<boolean>
  /** The sale is worked on again: if that fails too, it is a failure of its own. */
  setFailureAside(inside: Statements, saleId: string): Promise<void>
  /** How many notices wait, by account, where the first has waited since before. No other call returns them. */
  takeNotices(inside: Statements, before: Date, limit: number): Promise<readonly NoticeDigest[]>
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

/** How the seller shows itself to buyers; null where nothing was set. */
export interface BrandPort {
  shown(owner: Owner): Promise<BrandView | null>
}

/** The part of the files' API that checkouts use. */
export interface FilePort {
  /** The owner's file; throws with the field's name. */
  named(owner: Owner, id: string, as: { purpose: Purpose; field: string }): Promise<StoredFile>
  /** From now on the checkout uses exactly these files. */
  use(inside: Statements, owner: Owner, subject: string, files: readonly string[]): Promise<void>
  /** False where it was deleted meanwhile. */
  sold(inside: Statements, id: string, subject: string): Promise<boolean>
  content(id: string): Promise<Content>
  addressOf(picture: string): string
  customers: CustomerFilePort
}

/** What customers upload into forms. */
export interface CustomerFilePort {
  bytesMax: number
  put(checkout: { id: string; owner: Owner }, name: string, upload: Upload): Promise<CustomerUpload>
  content(checkoutId: string, id: string, token: string): Promise<Content>
  /** The fields whose values name an upload that cannot be bought with; every other address is fine. */
  refused(checkoutId: string, values: readonly (readonly [field: string, value: string])[]): Promise<string[]>
  /** The same, and the others stay until then. Without a sale they count as waiting. */
  keep(
    inside: Statements,
    order: { checkoutId: string; saleId: string | null; until: Date },
    values: readonly (readonly [field: string, value: string])[],
  ): Promise<string[]>
  /** Of a sale that has failed: they count as waiting again, where no other one names them. */
  free(inside: Statements, saleId: string): Promise<void>
  inTransaction<T>(work: (inside: Statements) => Promise<T>): Promise<T>
}

/** Sends what is left of a payment back to its payer, once for each operation. */
export interface RefundPort {
  request(
    refund: {
      saleId: string
      amount: null
      reason: string
      by: 'rule'
      owner: null
      assert?(inside: Statements): Promise<void>
    },
    operation: Id<'op'>,
  ): Promise<unknown>
  /** Of each of these sales, as its buyer sees them, oldest first. */
  shown(sales: readonly Pick<Sale, 'id' | 'network'>[]): Promise<ReadonlyMap<string, readonly ReceiptRefund[]>>
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
  /** A POST without a body that names the checkout, since an address may belong to another one by now; null without an answer. */
  ask(url: string, checkoutId: string): Promise<{ status: number; body: Buffer } | null>
}

/** The address that receives payments for an owner's wallet; null until the wallet has one. */
export type WalletAddress = (owner: Owner) => Promise<Address | null>

export interface SellersRecipients {
  /** Where a seller is paid: their own wallet's address where they name none. Throws for an address where nobody could spend it. */
  ofSales(owner: Owner, named: { recipient: Address | null; network: NetworkName }): Promise<Address | null>
}

/** Sends a mail to the account's own address, if it has one. Safe to repeat: the id identifies the mail. */
export type MailOwner = (userId: string, mail: { id: string; subject: string; text: string }) => Promise<void>

/** Pays from the caller's account. */
export interface AccountPayments {
  here: {
    /** The account as a buyer for `maxAmount`, within the limits of its agent. Null where the recipient is no account here. */
    buyer(
      caller: Caller,
      purchase: { request: PaidCall; network: NetworkName; recipient: Address },
      operation: Id<'op'>,
    ): Promise<AccountBuyer | null>
  }
  /** Pays an address, which is called twice. */
  pay(
    caller: Caller,
    request: PaidCall,
    operation: Id<'op'>,
    options: { keyed: boolean; background: boolean },
  ): Promise<{
    payment: AccountPayment | null
    response: { status: number; body: string; encoding: 'utf8' | 'base64' } | null
  }>
}

/** A request that costs money, and the most that it may cost. */
interface PaidCall {
  url: string
  method: string
  headers: Readonly<Record<string, string>>
  body: string
  maxAmount: Usdc
}

/** Runs in the transaction of the change that it announces. */
export type Announce = (inside: Statements, announcements: readonly Announcement[]) => Promise<void>

/** The receipts of all products; null without the payment's token. */
export type Receipts = (id: string, token: string | null) => Promise<FoundReceipt | null>

export interface FoundReceipt {
  body: {
    receipt: Receipt
    delivery: PaymentView['delivery']
    result: PaymentView['result']
    dispute: ReceiptDispute | null
    signed: SignedForms | null
  }
  /** For its page, if it was bought at a checkout. */
  checkout: { view: CheckoutView; payment: PaymentView } | null
  /** Of its seller, for the page of any other purchase. */
  brand: BrandView | null
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
  /** What went back of it, is about to, or did not, oldest first. */
  refunds: readonly ReceiptRefund[]
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
  checkout(view: CheckoutView, reader: Reader, embed?: Embed | null): Shown
  /** The address of one payment, opened in a browser. */
  payment(view: CheckoutView | null, payment: PaymentView, reader: Reader, embed?: Embed | null): Shown
  /** The receipt of a purchase that was not made at a checkout. */
  receipt(
    receipt: Receipt & { dispute: ReceiptDispute | null; brand: BrandView | null },
    signed: SignedForms | null,
    reader: Reader,
  ): Shown
  /** Verifies a signed receipt in the reader's browser, by the keys at these addresses. `home`: the page's own origin. */
  verify(issuers: Readonly<Record<string, string>>, home: string, reader: Reader): Shown
  missing(error: { status: number; code: string; sentence: string }, reader: Reader): Shown
}

/** A site that shows the page in a frame. `tab`: the page is open beside the frame, where more wallets work. */
export interface Embed {
  origin: string
  tab: boolean
}

interface Shown {
  type: string
  content: string | Buffer
  headers?: Readonly<Record<string, string>>
}

/** How often a checkout's page was opened, and how many payments were made there. */
export interface Converted {
  /** Null for all checkouts together. */
  id: string | null
  name: string | null
  opened: number
  paid: number
  before: { opened: number; paid: number }
  /** How many checkouts it is the sum of. */
  checkouts: number
}

/** Mails the receipt of a sale to its buyer, where an address was entered. */
export interface ReceiptPort {
  paid(inside: Statements, sale: Sale): Promise<void>
}

export interface Notice {
  saleId: string
  kind: NoticeKind
  owner: Owner
  at: Date
  /** The work that mails it. */
  announcement: string
}

/** What one mail has for many sales. */
export interface NoticeDigest {
  userId: string
  environment: Environment
  kind: NoticeKind
  count: number
}
