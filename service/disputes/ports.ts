import type { Address, Hex } from '../chain/model.ts'
import type { NetworkName } from '../chain/networks.ts'
import type { NewEvent } from '../deliveries/model.ts'
import type { Id } from '../kit/ids.ts'
import type { Usdc } from '../kit/money.ts'
import type { Owner } from '../kit/owner.ts'
import type { Statements } from '../kit/transaction.ts'
import type { Announcement } from '../queue/model.ts'
import type { Refund, RefundRequest } from '../refunds/model.ts'
import type { NamedSale, Sale } from '../sales/model.ts'
import type { Decider, Dispute, DisputeState, RefundPolicy, ShownDispute } from './model.ts'
import type { CustomerShares, Unasked } from './rules.ts'

/** Where disputes and policies are stored. Every transaction locks the sale before its dispute. */
export interface DisputeStore {
  /** Runs one transaction, and repeats it after a conflict. */
  together<T>(work: (inside: Statements) => Promise<T>): Promise<T>
  find(id: string): Promise<Dispute | null>
  ofSale(saleId: string, inside?: Statements): Promise<Dispute | null>
  findOwn(owner: Owner, id: string): Promise<ShownDispute | null>
  list(
    owner: Owner,
    state: DisputeState | null,
    page: Page,
  ): Promise<{ disputes: readonly ShownDispute[]; total: number }>
  /** The dispute of this request. Null where none, or those of several payers, have the key. */
  byRequest(key: string, payer: Address | null, inside?: Statements): Promise<Dispute | null>
  /** How many were reported to the account since then; no more than that many are counted. */
  countSince(owner: Owner, since: Date, most: number): Promise<number>
  add(inside: Statements, dispute: Dispute): Promise<void>
  /** From `open` to `refunding`. Null when it was not open, or another attempt began. */
  claim(inside: Statements, id: string, attempts: number, claim: DisputeClaim): Promise<Dispute | null>
  /** Ends an open one. Null when it was not open. */
  end(inside: Statements, id: string, end: DisputeEnd): Promise<Dispute | null>
  /** Open again after the attempt came to nothing. Null when it was not refunding by this attempt. */
  reopen(
    inside: Statements,
    id: string,
    attempts: number,
    why: { failure: string; answerBy: Date },
  ): Promise<Dispute | null>
  /** The refund's end decides about the dispute that waits for it, and about one of a sale of which all went back. */
  refunded(inside: Statements, saleId: string, by: { refundId: string | null; now: Date }): Promise<Dispute | null>
  postpone(id: string, answerBy: Date): Promise<void>
  prolong(id: string, leaseUntil: Date): Promise<void>
  /** Open ones whose time is over. Accounts take turns. */
  due(now: Date, limit: number): Promise<readonly Dispute[]>
  /** Refunding ones that no process works on. */
  left(now: Date, limit: number): Promise<readonly Dispute[]>

  policy(owner: Owner, inside?: Statements): Promise<RefundPolicy>
  /** Merges the fields into what is stored then, or into the default. */
  changePolicy(owner: Owner, change: Partial<RefundPolicy>, now: Date): Promise<RefundPolicy>
  /** What was refunded since then without the seller's answer. No other transaction of the account decides meanwhile. */
  holdUnasked(inside: Statements, owner: Owner, payer: Address, since: Date): Promise<Unasked>
  /** The customers of the last settled sales of a checkout, and the sums of their shares. */
  counted(checkout: string): Promise<CustomerShares>
}

interface Page {
  limit: number
  offset: number
}

export interface DisputeClaim {
  refundId: Id<'rfd'>
  refundAmount: Usdc | null
  answer: string | null
  decidedBy: Decider
  leaseUntil: Date
  now: Date
}

export interface DisputeEnd {
  state: 'declined' | 'closed'
  answer: string | null
  decidedBy: Decider
  now: Date
}

export interface Sales {
  /** Locked until the transaction ends. */
  lock(inside: Statements, id: string): Promise<Sale | null>
  findAll(ids: readonly string[]): Promise<ReadonlyMap<string, Sale>>
  /** With the product's name as it was bought. */
  findOwn(owner: Owner, id: string): Promise<NamedSale | null>
  /** The sales that this transaction paid; a transaction pays many. */
  byTransaction(txHash: string, network: NetworkName): Promise<readonly Sale[]>
  /** Whether an answer waits for the buyer. */
  hasAnswer(inside: Statements, id: string): Promise<boolean>
}

export interface RefundPort {
  request(refund: RefundRequest, operation: Id<'op'>): Promise<Refund>
  ofSale(saleId: string, inside?: Statements): Promise<readonly Refund[]>
  /** Throws where no refund of such a sale is accepted: whatever its amount, or of this one. */
  assertRefundable(sale: Sale, amount?: Usdc): void
}

/** Whether the seller's server has confirmed the order of this sale, or may be working on it. */
export type IsOrderServed = (saleId: string) => Promise<boolean>

/** Whether the address signed the text: with its key, or as a contract. */
export interface PayerSignatures {
  recover(text: string, signature: Hex): Promise<Address | null>
  isSignedByCode(network: NetworkName, payer: Address, signed: { text: string; signature: Hex }): Promise<boolean>
}

export type AnnounceEvent = (inside: Statements, event: NewEvent) => Promise<void>
export type Announce = (inside: Statements, announcements: readonly Announcement[]) => Promise<void>
/** Sends a mail to the account's own address, if it has one. Safe to repeat: the id identifies the mail. */
export type MailOwner = (userId: string, mail: { id: string; subject: string; text: string }) => Promise<void>
