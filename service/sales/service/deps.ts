import type { Address, Hex } from '../../chain/model.ts'
import type { NetworkName } from '../../chain/networks.ts'
import type { Clock } from '../../kit/clock.ts'
import type { Departure } from '../../kit/departure.ts'
import type { Failpoints } from '../../kit/failpoints.ts'
import type { Id } from '../../kit/ids.ts'
import type { Log, Measures } from '../../kit/log.ts'
import type { Usdc } from '../../kit/money.ts'
import type { Environment } from '../../kit/owner.ts'
import type { Presented, Requirements } from '../../x402/model.ts'
import type { DeliveryErrors } from '../errors.ts'
import type { ProductName, Sale, StoredAnswer } from '../model.ts'
import type { Journal, Method } from '../ports.ts'
import type { PaymentTokens } from './proof.ts'

/** What the engine stands on. */
export interface SellingDeps {
  journal: Journal
  method: Method
  tokens: PaymentTokens
  clock: Clock
  log: Log
  failpoints: Failpoints
  measures: Measures
  /** How long a buyer waits for the chain. */
  settleMs: number
}

/** What a buyer sends, through any door. */
export interface PurchaseRequest {
  /** Names this request; the sale's id comes from it. */
  operation: Id<'op'>
  presented: Presented | null
  /** The token of a sale, or one that the buyer chooses for a new one. */
  token: string | null
  /** A sale that was made here: its id, or the nonce of its authorization. */
  payment: string | null
  departure: Departure
}

/** What is to be paid for it, and what the sale says of it. */
export interface Terms {
  subject: string
  userId: string | null
  environment: Environment
  amount: Usdc
  network: NetworkName
  recipient: Address
  requirements: Requirements
  inputHash: Buffer
  details: Sale['details']
  /** How long the work takes at most before the money moves; 0 where the money comes first. */
  workMs: number
  /** For the product, in the transaction of the claim. */
  note: unknown
}

/** What a sale is that is claimed again. */
export type Standing = Pick<Terms, 'workMs' | 'details' | 'note'>

/** What was delivered, and what is written of it. */
export interface Made<Value> {
  value: Value
  /** Null where it cannot be stored. */
  answer: StoredAnswer | null
  bodyHash: Buffer | null
  details: Sale['details'] | null
  /** For the product, in the transaction of the payment. */
  note: unknown
  /** It is not handed to anyone. */
  discard(): void
}

export interface Product<Order extends PurchaseRequest, Value> {
  name: ProductName
  idOf(operation: Id<'op'>): string
  isId(id: string): boolean
  /** For what was signed. */
  terms(order: Order & { presented: Presented }): Terms
  /** Whether the sale was made at this door of the product. */
  isHere(sale: Sale, order: Order): boolean
  /** Throws unless the sale is of this very request. */
  assertSame(sale: Sale, order: Order): void
  /** The error that names what is wrong with how a sale was named. */
  badProof(why: string): Error
  /** What must hold before anything is claimed; throws where it does not. Answers how to give a place back. */
  enter?(order: Order): Promise<() => void> | (() => void)
  /** Called for each authorization that is refused before there is a sale. */
  refused?(
    order: Order & { presented: Presented },
    terms: Terms,
    refusal: { reason: string; digest: Hex | null },
  ): Promise<void>
  /** Null where nothing is delivered but by what the payment sets off: then a sale is given back however far it came. */
  delivery: Delivery<Order, Value> | null
}

/** How an answer is made and handed over. */
export interface Delivery<Order extends PurchaseRequest, Value> {
  /** Two who prove the same sale may both wait for its payment, and both have the answer. */
  joins: boolean
  /** How long making an answer takes at most: no other request takes the sale over meanwhile. */
  makingMs: number
  /** How long an answer that was paid for first is owed; null: until it was handed over. */
  owedMs: number | null
  /** One that was released is claimed again: what it is now, or thrown why it is not sold any more. */
  standing(sale: Sale, order: Order): Promise<Standing>
  /** `paid`: the money has arrived. */
  make(order: Order, sale: Sale, paid: boolean): Promise<Made<Value>>
  /** What was stored, as it was when it was made. */
  restore(answer: StoredAnswer, sale: Sale, order: Order): Promise<Value>
  errors: DeliveryErrors
}

/** What a buyer has now. The value is null where nothing is delivered, or nothing was paid yet. */
export interface Sold<Value> {
  sale: Sale
  value: Value | null
  /** The token that fetches it again. */
  token: string
  /** Whether the value was made by this very request. */
  fresh: boolean
}
