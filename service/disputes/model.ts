import type { Address, Hex } from '../chain/model.ts'
import type { Id } from '../kit/ids.ts'
import { usdc, type Usdc } from '../kit/money.ts'
import type { Owner } from '../kit/owner.ts'
import type { Sale } from '../sales/model.ts'

/**
 * `open`: the seller can answer. `refunding`: a refund is requested, and its end decides. `refunded`: the payer has the
 * money. `declined`: the seller said no. `closed`: the seller did not answer in time, or no refund was possible.
 */
export const DISPUTE_STATES = ['open', 'refunding', 'refunded', 'declined', 'closed'] as const
export type DisputeState = (typeof DISPUTE_STATES)[number]

/** The reasons of the x402 extension `refund`. */
export const REASONS = [
  'service_not_delivered',
  'service_defective',
  'duplicate_payment',
  'overcharge',
  'customer_request',
  'other',
] as const
export type Reason = (typeof REASONS)[number]

/** What happens to a report that was not answered in time. */
export const UNANSWERED = ['refund', 'close'] as const
/** `automatic`: a request of a program is refunded at once, within limits. `asked`: the seller answers it. */
export const AGENTS = ['automatic', 'asked'] as const

/** Who decided: the seller, the end of the time to answer, or the policy for requests of programs. */
export type Decider = 'seller' | 'deadline' | 'policy'

/** What a seller promises buyers. */
export interface RefundPolicy {
  /** How long after the payment a buyer may report a problem. 0: not at all. */
  windowDays: number
  answerDays: number
  unanswered: (typeof UNANSWERED)[number]
  partialRefunds: boolean
  agents: (typeof AGENTS)[number]
  /** The limits of automatic refunds: for one sale, and in 24 hours. */
  perSale: Usdc
  perDay: Usdc
}

export const DEFAULT_POLICY: RefundPolicy = {
  windowDays: 30,
  answerDays: 7,
  unanswered: 'close',
  partialRefunds: true,
  agents: 'asked',
  perSale: usdc(1_000_000n),
  perDay: usdc(20_000_000n),
}

/** A buyer's report of a problem with a payment. A sale has one at most. */
export interface Dispute {
  id: Id<'dsp'>
  saleId: string
  /** The seller. */
  owner: Owner
  state: DisputeState
  reason: Reason
  text: string | null
  /** What the buyer asks for. Null: all of it. */
  amount: Usdc | null
  openedBy: 'buyer' | 'agent'
  payer: Address
  /** With these a program repeats its request. Null where a person reported the problem. */
  requestKey: string | null
  requestHash: Buffer | null
  unanswered: RefundPolicy['unanswered']
  answerDays: number
  answerBy: Date
  answer: string | null
  decidedBy: Decider | null
  decidedAt: Date | null
  /** How many refunds were requested. */
  attempts: number
  refundId: Id<'rfd'> | null
  /** Null: all that is left. */
  refundAmount: Usdc | null
  /** Why the last refund failed, as a code. */
  refundFailure: string | null
  /** While it is refunding: the sweeper goes on with it after that. */
  leaseUntil: Date | null
  createdAt: Date
  endedAt: Date | null
}

/** With what was paid, as far as it is shown. */
export interface ShownDispute {
  dispute: Dispute
  sale: Pick<Sale, 'id' | 'product' | 'subject' | 'amount' | 'refunded' | 'network' | 'simulated'>
}

/** A buyer's report, before it is stored. */
export interface Report {
  reason: Reason
  text: string | null
  amount: Usdc | null
  openedBy: Dispute['openedBy']
  request: { key: string; hash: Buffer } | null
}

/** How a seller answers. */
export interface SellerAnswer {
  action: 'refund' | 'decline'
  /** Null: all that is left. */
  amount: Usdc | null
  text: string | null
}

/** The proof of a payer who has no token: a signature of a text that the service writes anew. */
export interface SignedProof {
  signature: Hex
  expiresAt: Date
}

/** How the last sales of a checkout went. The shares are whole percents, with each customer counted once. */
export interface TrackRecord {
  /** At least so many customers. */
  customers: number
  refundedPercent: number
  disputedPercent: number
}

export const DENIALS = [
  'outside_window',
  'not_payer',
  'already_refunded',
  'amount_exceeds_settled',
  'policy_denied',
  'unknown_payment',
] as const
export type Denial = (typeof DENIALS)[number]

/** A program's request by the x402 extension `refund`. */
export interface RefundClaim {
  txHash: string
  /** CAIP-2. */
  network: string
  /** The payment's id here, or the one that the client chose for it. */
  paymentId: string | null
  amount: Usdc
  reason: Reason
  detail: string | null
  refundTo: Address | null
  key: string
  proof: SignedProof | null
  token: string | null
}

export type RefundAnswer =
  | { status: 'executed'; amount: Usdc; refundTxHash: string | null }
  | { status: 'pending'; amount: Usdc }
  | { status: 'denied'; amount: Usdc; denialReason: Denial }
