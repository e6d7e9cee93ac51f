import type { Address, Hex } from '../chain/model.ts'
import type { NetworkName } from '../chain/networks.ts'
import type { Purchase } from '../facilitator/model.ts'
import type { Usdc } from '../kit/money.ts'
import type { Statements } from '../kit/transaction.ts'
import type { EscrowRequirements, PaymentRequest, Presented, RequestBody, Requirements } from '../x402/model.ts'
import type {
  PaymentMethod,
  Delivered,
  Escrow,
  Handover,
  NewSale,
  ProductName,
  Sale,
  SaleHooks,
  SaleReader,
  Settled,
  StoredAnswer,
  WorkResult,
} from './model.ts'

/*
 * The engine (`service/sell.ts` and its parts) uses only `Journal`, `Method` and `Methods`. It is the same in this service and in
 * the middleware that others install in their own servers. The interfaces after these belong to this service only.
 */

/** The record of sales. Everything that it returns is stored durably. */
export interface Journal {
  find(digest: Hex): Promise<Sale | null>
  findById(id: string): Promise<Sale | null>
  /** The sale for which this payer chose the id. */
  findByIdentifier(payer: Address, identifier: string): Promise<Sale | null>
  /**
   * Stores the claim of the authorization and the sale together. Returns what the authorization has bought: this sale's
   * id, or another purchase's. A free sale claims no authorization. Throws when the product refuses the claim, or when the payer has used the sale's
   * identifier for another sale, and then nothing is claimed.
   */
  begin(sale: NewSale, claim: Claim): Promise<string>
  /**
   * Leases the sale until then. Null when another process has the lease, or when nothing is left to do. A released sale
   * is claimed again with these details, if its product and the rules of a new claim allow it.
   */
  take(sale: Reclaim, until: Date, note: unknown): Promise<Sale | null>
  /** Ends this lease, so that the next request can take the sale. The lease of another process stays. */
  leave(sale: Lease): Promise<void>
  /** Stores a new simulated sale. False when one of this id exists already. */
  simulated(sale: Sale, resumeAt: Date | null): Promise<boolean>
  /**
   * The delivery before the payment failed, so nothing is charged. A sale that another process has taken stays its own. Where
   * something was set aside for it, it has failed; any other one can be taken again.
   */
  release(sale: Lease & PaymentMethod, reason: string): Promise<void>
  /** Binds the sale to this body before all of it was forwarded. False when it is bound to another body. */
  bind(id: string, bodyHash: Buffer): Promise<boolean>
  /** Call before the chain is asked. False when another process has taken over the sale. */
  settling(lease: Lease, delivered: Delivered, until: Date | null): Promise<boolean>
  /**
   * Stores the payment and everything that follows from it in one step. When another process has already ended the
   * sale, returns its result.
   */
  paid(id: string, txHash: string, paid: Paid): Promise<Sale>
  failed(id: string, reason: string, end?: EscrowEnd): Promise<Sale>
  /** Why its payer could not pay at the last look. It stays `settling`. */
  unpaid(id: string, reason: string): Promise<void>
  /** The money waits in the escrow: the work begins, or is given up at once where no time is left for it. */
  authorized(id: string, txHash: string): Promise<Sale>
  /**
   * Stores the answer to a sale that was paid in advance, until it was handed over. False when the sale owes no answer
   * any more.
   */
  store(id: string, answer: StoredAnswer, bodyHash: Buffer | null): Promise<boolean>
  answerOf(id: string): Promise<StoredAnswer | null>
  /** From here on the answer is not sent a second time, unless it is stored. */
  begun(id: string): Promise<void>
  handedOver(id: string): Promise<void>
  /** Ends a free sale whose work has failed as refunded, once: its right is given back. Null when it ended so before. */
  giveBack(id: string): Promise<Sale | null>
  /**
   * Uses the authorization as a proof of identity only. It can buy nothing else from then on. Once it has expired (`validBefore`,
   * in seconds), it is refused anyway.
   */
  prove(digest: Hex, purchaseId: string, validBefore: bigint): Promise<boolean>
}

/**
 * `state`: the one in which the sale begins. `resumeAt`: when the sale is looked at without a waiting buyer. `promised`:
 * the payer's balance must suffice for all that it has open. `balance`: what its payer has, as far as it is known.
 * `note`: for the product, in the same transaction.
 */
export interface Claim {
  state: 'claimed' | 'held'
  resumeAt: Date | null
  promised: boolean
  balance: bigint | null
  note: unknown
  /** The transaction that it begins in, with what else that writes. One of its own when absent. */
  within?: Within
}

/** A sale that goes on, and by what it is judged where it was released. */
export type Reclaim = Pick<Sale, 'id' | 'details'> & Pick<Claim, 'promised' | 'balance'>

type Within = <T>(write: (inside: Statements) => Promise<T>) => Promise<T>

/**
 * How far the payment advances the handover, and the part of the request that the product stores in the same
 * transaction.
 */
export interface Paid {
  handover: Handover
  note: unknown
  /** No request of its buyer waits for the payment. */
  away?: boolean
}

interface NewPaid extends Pick<Sale, 'handover' | 'owedUntil'> {
  txHash: string
  now: Date
}

/** How money in the escrow ended that was not captured. */
export interface EscrowEnd {
  end: NonNullable<Escrow['end']>
  voidedTx: string | null
}

/** Takes new payments for a product. */
export interface Method {
  /** Identifies the authorization. Null for an unknown network. */
  digestOf(signed: Pick<PaymentRequest, 'network' | 'authorization' | 'permit'>): Hex | null
  /** The digest of a submitted authorization, found by what its payer knows of it. Null when it cannot be found. */
  digestBy(network: NetworkName, payer: Address, nonce: Hex): Promise<Hex | null>
  verify(request: RequestBody): Promise<Verified>
  /** What the sale stores of how it is paid. */
  choose(presented: Pick<Presented, 'challenge' | 'permit'>, requirements: Pick<Requirements, 'escrow'>): PaymentMethod
  serves(network: NetworkName): boolean
  /** Absent where no money can wait in the escrow. */
  escrow?: EscrowOffer
  /** Who takes what was used of a permit, for the terms that the payer signs. Null or absent where nobody can. */
  taker?(): Address | null
  /** A product was changed, or is sold again: its entry in catalogues, if it has one, shows these terms. Absent where nothing is listed. */
  offered?(requirements: Requirements): Promise<void>
  /** The product that has had these terms is not sold any more: catalogues show no entry of it. Absent where nothing is listed. */
  withdrawn?(requirements: Requirements): Promise<void>
}

/** The terms of payments that wait in the escrow. */
export interface EscrowOffer {
  /** Who ends them, for the terms that the payer signs. Null where this process knows no sponsor. */
  operator(): Address | null
  /** What a wallet signs for these terms. Each call has another salt. */
  prepare(terms: EscrowRequirements, now: Date): { to: Address; salt: Hex; nonce: Hex; validBefore: number }
}

/** The methods of sales that have begun (`methods/registry.ts`). */
export interface Methods {
  of(sale: PaymentMethod): SaleMethod
}

/** How a sale goes on. The engine believes only outcomes that the method can prove. */
export interface SaleMethod {
  /** Its buyer signed an authorization, which a chain is asked to carry out. */
  signed: boolean
  /** No money moves, and it is counted nowhere. */
  simulated: boolean
  /** What is taken when so much was used (`Delivered.amount`). Absent where it is always all that was signed for. */
  taken?(sale: Sale, used: Usdc): Usdc
  /** Judges the authorization as it stands now. */
  verify(sale: Sale): Promise<Verified>
  /**
   * Asks for what the sale needs next (`stepOf`), under its id, so that a repeated call asks for the same. `waiting`: it is
   * not to be asked for yet. `isFirst`: nobody can have asked before; where it is absent, somebody may have.
   */
  settle(sale: Sale, waitMs?: number, isFirst?: boolean): Promise<Settled | { status: 'waiting' }>
  /** What the escrow still has of the payment. Absent where no money waits there. */
  left?(sale: Sale): Promise<bigint>
  /** Moves the money, in the transaction in which the sale becomes paid. Absent where no ledger moves it. */
  pay?(inside: Statements, sale: Sale): Promise<void>
  /** Gives back what was set aside, in the transaction in which the sale fails. */
  giveBack?(inside: Statements, sale: Sale): Promise<void>
}

/** `payerHasCode` and the payer's `balance` are absent when they are not known. */
export interface Verified {
  payer: string | null
  refusal: string | null
  payerHasCode?: boolean
  balance?: bigint | null
}

/** The part of the facilitator's register that is used here: one authorization buys one thing in the whole service. */
export interface Purchases {
  claim(inside: Statements, purchase: Purchase): Promise<string | null>
  prove(inside: Statements, purchase: Purchase): Promise<boolean>
}

/** The end of held sales. Null when the sale was not held any more. */
export interface HeldJournal {
  /** The sale becomes `settling`, and the chain may be asked. */
  capture(id: string, result: WorkResult): Promise<Sale | null>
  /** It has failed; where its money waits in the escrow it becomes `settling` until that is given back. */
  giveUp(id: string, result: WorkResult): Promise<Sale | null>
  /** Stores the result of a sale that is paid already. False when it has a result, or is not paid. */
  report(id: string, result: WorkResult): Promise<boolean>
}

export type Hooks = Readonly<Partial<Record<ProductName, SaleHooks>>>

/** A sale as the process knows it that works on it, or that found it lost. */
export interface Lease {
  readonly id: string
  leaseUntil: Date | null
}

/** Where sales are stored. */
export interface SaleStore extends SaleReader {
  inTransaction<T>(work: (inside: Statements) => Promise<T>): Promise<T>
  find(id: string, inside?: Statements): Promise<Sale | null>
  /** Nothing about the sale changes until the transaction ends. */
  lock(inside: Statements, id: string): Promise<Sale | null>
  findByDigest(digest: Hex): Promise<Sale | null>
  findByIdentifier(payer: Address, identifier: string, on?: Statements): Promise<Sale | null>
  /**
   * The amounts and requests of its payer's other open sales, at most so many. Until the transaction ends no other one reads
   * them so.
   */
  lockOpen(
    inside: Statements,
    sale: Pick<Sale, 'id' | 'payer' | 'network'>,
    limit: number,
  ): Promise<readonly { amount: Usdc; request: RequestBody | null }[]>
  /** Until when nobody works for this wallet before it has paid; null where somebody may. */
  defaultedUntil(inside: Statements, payer: Address, network: NetworkName, now: Date): Promise<Date | null>
  addDefault(inside: Statements, left: { payer: Address; network: NetworkName; until: Date }): Promise<void>
  /** False when a sale with this id or authorization exists already. */
  add(inside: Statements, sale: Sale, resumeAt: Date | null): Promise<boolean>
  /** Returns the sale's previous state. */
  take(
    inside: Statements,
    sale: Pick<Sale, 'id' | 'details'>,
    time: { now: Date; until: Date },
  ): Promise<{ sale: Sale; before: Sale['state'] } | null>
  leave(sale: Lease): Promise<void>
  release(
    inside: Statements,
    sale: Lease,
    end: { state: 'released' | 'failed'; reason: string; now: Date },
  ): Promise<Sale | null>
  bind(id: string, bodyHash: Buffer): Promise<boolean>
  settling(lease: Lease, delivered: Delivered, time: { now: Date; until: Date | null }): Promise<boolean>
  paid(inside: Statements, id: string, paid: NewPaid): Promise<Sale | null>
  failed(
    inside: Statements,
    id: string,
    failure: { reason: string; end: EscrowEnd | null; now: Date },
  ): Promise<Sale | null>
  unpaid(id: string, reason: string): Promise<void>
  store(
    inside: Statements,
    id: string,
    answer: StoredAnswer,
    about: { bodyHash: Buffer | null; now: Date },
  ): Promise<Sale | null>
  answerOf(id: string): Promise<StoredAnswer | null>
  begun(id: string): Promise<void>
  handedOver(id: string): Promise<void>
  giveBack(inside: Statements, id: string): Promise<Sale | null>
  /** Sales that wait for the chain. */
  takeOpen(product: ProductName, now: Date, which: { limit: number; simulated: boolean }): Promise<readonly Sale[]>
  /** Its money waits in the escrow, and its work must have ended by then. Null when it was held before. */
  hold(inside: Statements, id: string, held: { txHash: string; until: Date; now: Date }): Promise<Sale | null>
  /** Held sales that are due. */
  takeHeld(product: ProductName, now: Date, limit: number): Promise<readonly Sale[]>
  /** Ends the hold, if there still is one. */
  endHold(
    inside: Statements,
    id: string,
    end: { state: 'settling' | 'failed'; result: WorkResult; now: Date },
  ): Promise<Sale | null>
  report(inside: Statements, id: string, result: WorkResult): Promise<Sale | null>
  /** Takes back that the work for a paid sale has failed, unless all of its money goes back. */
  reopen(inside: Statements, id: string): Promise<void>
  /** Runs of assets that were paid in this time, of which nothing was delivered or went back, and nobody works on. */
  findUndelivered(paid: { after: Date; before: Date }, now: Date, limit: number): Promise<readonly Sale[]>
  /** Ends what `findUndelivered` found. False when an answer came meanwhile, or somebody works on it. */
  giveUpUndelivered(id: string, result: WorkResult, now: Date): Promise<boolean>
  /** Sales whose delivering process has ended. */
  findLost(now: Date, limit: number): Promise<readonly (Lease & PaymentMethod)[]>
  forgetAnswers(before: Date, now: Date): Promise<void>
}
