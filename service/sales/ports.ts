import type { Address, Hex } from '../chain/model.ts'
import type { NetworkName } from '../chain/networks.ts'
import type { Purchase } from '../facilitator/model.ts'
import type { Statements } from '../kit/transaction.ts'
import type { PaymentRequest, RequestBody } from '../x402/model.ts'
import type {
  Delivered,
  Handover,
  NewSale,
  ProductName,
  Sale,
  SaleHooks,
  SaleReader,
  Settled,
  StoredAnswer,
} from './model.ts'

/*
 * The engine (`service/sell.ts` and what it is made of) knows `Journal` and `Method` alone: it is the same in this
 * service and in the middleware that others put into their own server. What follows after them belongs to this service.
 */

/** The record of sales. What it answers is stored durably. */
export interface Journal {
  find(digest: Hex): Promise<Sale | null>
  findById(id: string): Promise<Sale | null>
  /**
   * The authorization and the sale that it pays for, together. Answers what the authorization has bought: the sale's
   * own id, or another purchase's. What the product refuses in this very moment is thrown, and nothing is claimed.
   */
  begin(sale: NewSale, claim: Claim): Promise<string>
  /**
   * Leases the sale until then; null when another process has it, or nothing is left to do. One that was released is
   * claimed again with these details, as far as its product lets it.
   */
  take(sale: Pick<Sale, 'id' | 'details'>, until: Date, note: unknown): Promise<Sale | null>
  /** Ends the lease, so that the next request takes it. */
  leave(id: string): Promise<void>
  /** One of test mode, as it begins. False where there is one of this id already. */
  simulated(sale: Sale, resumeAt: Date | null): Promise<boolean>
  /** What is delivered first failed: nothing is charged. */
  release(id: string, reason: string): Promise<void>
  /** Binds the sale to this body, before all of it was passed on. False where it is bound to another one. */
  bind(id: string, bodyHash: Buffer): Promise<boolean>
  /** The chain is about to be asked. False where another process has taken the sale over. */
  settling(id: string, delivered: Delivered, until: Date | null): Promise<boolean>
  /** In one step with all that follows from it; what another process wrote when it has ended already. */
  paid(id: string, txHash: string, paid: Paid): Promise<Sale>
  failed(id: string, reason: string): Promise<Sale>
  /** The answer to what was paid for first, until it was handed over. False where it is not owed any more. */
  store(id: string, answer: StoredAnswer, bodyHash: Buffer | null): Promise<boolean>
  answerOf(id: string): Promise<StoredAnswer | null>
  /** From here on no byte of it is given a second time, but for an answer that is stored. */
  begun(id: string): Promise<void>
  handedOver(id: string): Promise<void>
  /** An authorization that only proves who is asking buys this, and nothing else ever. */
  prove(digest: Hex, purchaseId: string): Promise<boolean>
}

/** `resumeAt`: when the chain is asked without a waiting buyer. `note`: for the product, in the same transaction. */
export interface Claim {
  resumeAt: Date | null
  note: unknown
}

/** How far the handover has come by the payment, and what of the request its product writes in the same transaction. */
export interface Paid {
  handover: Handover
  note: unknown
}

/** How it is paid. Nothing of what it says about an outcome is believed that it cannot prove. */
export interface Method {
  /** Names the authorization; null for a network that is not known. */
  digestOf(signed: Pick<PaymentRequest, 'network' | 'authorization'>): Hex | null
  /** Of an authorization that was submitted, by what its payer knows of it; null where that cannot be found. */
  digestBy(network: NetworkName, payer: Address, nonce: Hex): Promise<Hex | null>
  /** `payerHasCode` is absent where that is not known. */
  verify(request: RequestBody): Promise<{ payer: string | null; refusal: string | null; payerHasCode?: boolean }>
  /** Under the sale's own id: asked again, it asks for the same transfer. */
  settle(request: RequestBody, sale: string, waitMs?: number): Promise<Settled>
  serves(network: NetworkName): boolean
}

/** What of the facilitator's register is called here: one authorization buys one thing, in all of the service. */
export interface Purchases {
  claim(inside: Statements, purchase: Purchase): Promise<string>
  prove(inside: Statements, purchase: Purchase): Promise<boolean>
}

export type Hooks = Readonly<Partial<Record<ProductName, SaleHooks>>>

/** Where sales are stored. */
export interface SaleStore extends SaleReader {
  inTransaction<T>(work: (inside: Statements) => Promise<T>): Promise<T>
  find(id: string): Promise<Sale | null>
  findByDigest(digest: Hex): Promise<Sale | null>
  /** False when there is one of this id or authorization already. */
  add(inside: Statements, sale: Sale, resumeAt: Date | null): Promise<boolean>
  /** Answers the state that it was in before. */
  take(
    inside: Statements,
    sale: Pick<Sale, 'id' | 'details'>,
    time: { now: Date; until: Date },
  ): Promise<{ sale: Sale; before: Sale['state'] } | null>
  leave(id: string): Promise<void>
  release(inside: Statements, id: string, reason: string): Promise<Sale | null>
  bind(id: string, bodyHash: Buffer): Promise<boolean>
  settling(id: string, delivered: Delivered, time: { now: Date; until: Date | null }): Promise<boolean>
  paid(inside: Statements, id: string, paid: { txHash: string; handover: Handover; now: Date }): Promise<Sale | null>
  failed(inside: Statements, id: string, reason: string, now: Date): Promise<Sale | null>
  store(
    inside: Statements,
    id: string,
    answer: StoredAnswer,
    about: { bodyHash: Buffer | null; now: Date },
  ): Promise<Sale | null>
  answerOf(id: string): Promise<StoredAnswer | null>
  begun(id: string): Promise<void>
  handedOver(id: string): Promise<void>
  /** Those that wait for the chain. */
  takeOpen(product: ProductName, now: Date, which: { limit: number; simulated: boolean }): Promise<readonly Sale[]>
  /** Those whose delivering process has ended. */
  findLost(now: Date, limit: number): Promise<readonly string[]>
  forgetAnswers(before: Date): Promise<void>
}
