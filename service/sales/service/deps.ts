import type { Address, Hex } from '../../chain/model.ts'
import type { NetworkName } from '../../chain/networks.ts'
import type { Clock } from '../../kit/clock.ts'
import type { Departure } from '../../kit/departure.ts'
import type { Failpoints } from '../../kit/failpoints.ts'
import type { Id } from '../../kit/ids.ts'
import type { Log, Measures } from '../../kit/log.ts'
import type { Usdc } from '../../kit/money.ts'
import type { Environment, Owner } from '../../kit/owner.ts'
import type { Dialects } from '../../x402/dialects.ts'
import type { Presented, RefundTerms, Requirements } from '../../x402/model.ts'
import type { DeliveryErrors } from '../errors.ts'
import type { Escrow, ProductName, Right, Sale, StoredAnswer } from '../model.ts'
import type { Journal, Method, Methods } from '../ports.ts'
import type { PaymentTokens } from './proof.ts'

/** The dependencies of the engine. */
export interface SellingDeps {
  journal: Journal
  /** For new payments. */
  method: Method
  /** For sales that have begun. */
  methods: Methods
  dialects: Dialects
  tokens: PaymentTokens
  clock: Clock
  log: Log
  failpoints: Failpoints
  measures: Measures
  /** How long a buyer waits for the chain. */
  settleMs: number
  /** What a 402 of this seller says about refunds. Absent where nobody answers requests for them. */
  refundTerms?: ((owner: Owner) => Promise<RefundTerms | null>) | undefined
}

/** A buyer's request, through any channel. */
export interface PurchaseRequest {
  /** Identifies this request. The sale's id is derived from it. */
  operation: Id<'op'>
  presented: Presented | null
  /** The token of an existing sale, or one that the buyer chooses for a new one. */
  token: string | null
  /** Names an existing sale: its id, or the nonce of its authorization. */
  payment: string | null
  departure: Departure
}

/** The price, and what the sale stores about the product. */
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
  /** The longest time that the work takes before the money moves. 0 when the money comes first. */
  workMs: number
  /** The work is done elsewhere after the claim, and the product says how it ended (`service/capture.ts`). */
  holds?: boolean
  /**
   * The payer's balance must suffice for this and all that it has open. The work then comes first for every wallet, also
   * for one with code: its seller takes the risk that the money is gone after the work, and no more of it than that.
   */
  promised?: boolean
  /** The money waits in the escrow while the work is done. */
  escrow?: Pick<Escrow, 'captureBy' | 'workMs'>
  /** For the product, in the transaction of the claim. */
  note: unknown
}

/** What a sale without an authorization stores. */
type UnsignedTerms = Pick<
  Terms,
  'subject' | 'userId' | 'environment' | 'network' | 'inputHash' | 'details' | 'workMs' | 'holds'
> & { resource: string }

/** What a sale stores that costs nothing. Its details name the right. */
export type FreeTerms = UnsignedTerms & Pick<Sale, 'recipient'>

/** What a sale stores that an account of this server pays. */
export type AccountTerms = UnsignedTerms & Pick<Terms, 'amount' | 'recipient'>

/** The current terms of a sale that is claimed again: it goes on only for the price of today's offer. */
export type Standing = Pick<Terms, 'amount' | 'network' | 'recipient' | 'workMs' | 'promised' | 'details' | 'note'>

/** The delivered value, and what is stored of it. */
export interface Made<Value> {
  value: Value
  /** Null when it cannot be stored. */
  answer: StoredAnswer | null
  bodyHash: Buffer | null
  details: Sale['details'] | null
  /** What was used, where the sale's method takes no more. Absent: all of the sale's amount. */
  amount?: Usdc
  /** For the product, in the transaction of the payment. */
  note: unknown
  /** Called when the value is not handed over. */
  discard(): void
}

export interface Product<Order extends PurchaseRequest, Value> {
  name: ProductName
  idOf(operation: Id<'op'>): string
  isId(id: string): boolean
  /** The terms that the signed authorization must match. */
  terms(order: Order & { presented: Presented }): Terms
  /** What is sold to a buyer who has a right to it. Absent where there is no such right. */
  freeTerms?(order: Order, right: Right): FreeTerms
  /** What is sold to an account of this server. Absent where it is sold so by other means. */
  accountTerms?(order: Order): AccountTerms
  /** Whether the sale was made at this address of the product. */
  isHere(sale: Sale, order: Order): boolean
  /** Whether payments here must have an identifier of the client's choice. */
  requiresIdentifier?(order: Order): boolean
  /** Throws unless the sale belongs to exactly this request. */
  assertSame(sale: Sale, order: Order): void
  /** The error for a request that does not prove which sale it means. */
  badProof(why: string): Error
  /**
   * Checks what must hold before anything is claimed, and throws when it does not. Returns a function that frees the
   * place.
   */
  enter?(order: Order): Promise<() => void> | (() => void)
  /** Called for each authorization that is refused before a sale exists. */
  refused?(
    order: Order & { presented: Presented },
    terms: Terms,
    refusal: { reason: string; digest: Hex | null },
  ): Promise<void>
  /** Null when the payment's effects are the whole delivery. The sale is then returned in its current state. */
  delivery: Delivery<Order, Value> | null
}

/** How an answer is made and handed over. */
export interface Delivery<Order extends PurchaseRequest, Value> {
  /** Two requests that prove the same sale may both wait for its payment, and both get the answer. */
  joins: boolean
  /** The longest time that making an answer takes. No other request takes over the sale during it. */
  makingMs: number
  /** How long the seller owes an answer that was paid for in advance. Null: until it was handed over. */
  owedMs: number | null
  /** The current terms of a released sale that is claimed again. Throws when the product is not sold any more. */
  standing(sale: Sale, order: Order): Promise<Standing>
  /** `paid`: the money has arrived. */
  make(order: Order, sale: Sale, paid: boolean): Promise<Made<Value>>
  /** Recreates the value from the stored answer. */
  restore(answer: StoredAnswer, sale: Sale, order: Order): Promise<Value>
  errors: DeliveryErrors
}

/** The buyer's result. The value is null when nothing is delivered, or nothing was paid yet. */
export interface Sold<Value> {
  sale: Sale
  value: Value | null
  /** The token that fetches the result again. */
  token: string
  /** Whether this request made the value. */
  fresh: boolean
}
