import type { Hex } from '../chain/model.ts'
import type { PaymentEventData } from '../deliveries/model.ts'
import type { Id } from '../kit/ids.ts'
import { toWire, type Usdc } from '../kit/money.ts'
import type { Owner } from '../kit/owner.ts'
import type { Statements } from '../kit/transaction.ts'
import type { NamedSale, Sale } from '../sales/model.ts'

/**
 * `requested`: counted, and it waits for something: for the seller's balance most of the time. `funded`: its money is
 * held. `sent`: its authorization is submitted, and only the chain ends it. `confirmed`: the payer has the money.
 * `failed`: nothing left, and nothing will.
 */
export const REFUND_STATES = ['requested', 'funded', 'sent', 'confirmed', 'failed'] as const
export type RefundState = (typeof REFUND_STATES)[number]

/**
 * How the money goes back. `wallet`: from the treasury, for the seller's balance, to the payer's address. `account`: the
 * buyer paid from an account of this server, and its balance gets the money. `simulated`: no money moves, because none
 * was paid. `own`: from the address that received the payment, whose owner signs.
 */
export const REFUND_WAYS = ['wallet', 'account', 'simulated', 'own'] as const
export type RefundWay = (typeof REFUND_WAYS)[number]

export const REQUESTERS = ['seller', 'rule', 'dispute', 'agent'] as const
export type Requester = (typeof REQUESTERS)[number]

/** What a requested refund waits for, by the code of the error that held it up. */
export const WAITS = ['insufficient_balance', 'withdrawal_limit', 'quota_exceeded', 'payouts_paused'] as const
export type Wait = (typeof WAITS)[number]

/** Money that goes back to the payer of a sale. */
export interface Refund {
  id: Id<'rfd'>
  saleId: string
  /** The seller. */
  owner: Owner
  amount: Usdc
  /** The seller's words. */
  reason: string | null
  requestedBy: Requester
  way: RefundWay
  state: RefundState
  waitsFor: Wait | null
  /** How much the balance lacks. Null unless it waits for that. */
  missing: Usdc | null
  tryAt: Date | null
  /** Of its transfer, if it was requested with a key. Null: it follows from the id. */
  nonce: Hex | null
  /** Why it failed, as a code. */
  failure: string | null
  txHash: string | null
  createdAt: Date
  fundedAt: Date | null
  sentAt: Date | null
  endedAt: Date | null
  /** Of the way `own`, in Unix seconds: from then on USDC refuses its authorization. Null for every other way. */
  validBefore: bigint | null
  /** No block up to this one can have used that authorization. */
  seenBlock: bigint | null
  signature: Hex | null
  /** When to ask the chain about it again. */
  lookAt: Date | null
}

/** What fixes the authorization of a refund from the seller's own wallet, besides the sale and the refund's id. */
export type OwnTerms = Pick<Refund, 'validBefore' | 'seenBlock' | 'lookAt'>

export type NewRefund = Pick<
  Refund,
  'id' | 'saleId' | 'owner' | 'amount' | 'reason' | 'requestedBy' | 'way' | 'waitsFor' | 'missing' | 'tryAt' | 'nonce'
> &
  OwnTerms & { now: Date }

export interface RefundRequest {
  saleId: string
  /** Null: all that is left. */
  amount: Usdc | null
  reason: string | null
  by: Requester
  /** Only a sale of this owner. Null: any sale, for callers that have checked it. */
  owner: Owner | null
  /** Names the request's key, its account and its address. */
  keyHash?: Buffer | null
  /** The key is not new. */
  mayHaveBegun?: boolean
  /** From the seller's own wallet: the newest block before the request, null for a simulated sale. Absent: from the balance. */
  own?: { seenBlock: bigint | null }
  /** In the refund's own transaction, with the sale locked. Throws where it may not be refunded any more. */
  assert?(inside: Statements): Promise<void>
}

/** A refund as its seller and its buyer see it: its sale says where the money goes. */
export interface ShownRefund {
  refund: Refund
  sale: Pick<Sale, 'id' | 'network' | 'payer' | 'recipient' | 'simulated'>
}

/** A refund as the buyer sees it beside the payment. */
export interface ReceiptRefund extends Pick<Refund, 'id' | 'state' | 'txHash'> {
  amount: number
  explorerUrl: string | null
}

/** A payment of any product, with everything that went back of it, oldest first. */
export interface RefundedPayment extends NamedSale {
  refunds: readonly Refund[]
}

/** What the events about money that went back, or was asked back, say of the payment. */
export function paymentData(
  { product, subject, details, resource, ...sale }: PaidSale,
  now: Date,
  pay: string,
): PaymentEventData {
  const called = calledAt({ details })
  return {
    id: sale.id,
    checkoutId: product === 'checkout' ? subject : null,
    paywallId: product === 'gate' ? subject : null,
    customerId: sale.payer,
    amount: toWire(sale.amount),
    currency: 'USDC',
    endpoint: product === 'checkout' ? `${pay}/${subject}` : (called.endpoint ?? resource ?? ''),
    route: called.route,
    network: sale.network,
    txHash: sale.txHash,
    at: now.toISOString(),
    ...(sale.simulated ? { test: true as const } : {}),
  }
}

type PaidSale = Pick<
  Sale,
  'id' | 'product' | 'subject' | 'details' | 'resource' | 'payer' | 'amount' | 'network' | 'txHash' | 'simulated'
>

/** The request at a gate that was paid for. */
export function calledAt({ details }: Pick<Sale, 'details'>): { endpoint: string | null; route: string | null } {
  return { endpoint: textIn(details, 'endpoint'), route: textIn(details, 'route') }
}

function textIn(details: Sale['details'], name: string): string | null {
  const value = details[name]
  return typeof value === 'string' ? value : null
}

/** Published in the transaction in which a refund ended. The sale is as it is afterwards, and locked. */
export interface RefundFact {
  kind: 'refund.ended'
  refund: Refund
  sale: Sale
}
