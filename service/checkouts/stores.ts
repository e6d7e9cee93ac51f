import type { Statements } from '../kit/transaction.ts'
import type { Environment, Owner } from '../kit/owner.ts'
import type { Span } from '../kit/clock.ts'
import type { Checkout, NoticeKind, PaymentRequest, Progress, Source, Turn } from './model.ts'

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
  /** The owner's persistent checkouts that have ended or are paused, since then; the latest first. */
  listFormer(
    owner: Owner,
    limit: number,
    at: { now: Date; since: Date },
  ): Promise<readonly { id: string; name: string }[]>
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
    pause: { most: number; now: Date; probeAt: Date; simulated: boolean },
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
