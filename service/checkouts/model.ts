import type { EscrowRequirements, Requirements } from '../x402/model.ts'
import type { Address } from '../chain/model.ts'
import type { NetworkName } from '../chain/networks.ts'
import type { Field } from '../kit/fields.ts'
import type { Id } from '../kit/ids.ts'
import type { Usdc } from '../kit/money.ts'
import type { Owner } from '../kit/owner.ts'
import type { Sale, WorkResult } from '../sales/model.ts'

/** A price on a workflow: the input that a customer gives, and where the paid input is sent. */
export interface Checkout extends Terms {
  id: Id<'chk'>
  owner: Owner
  /** The stored state; `statusOf` derives the current one. */
  state: 'active' | 'paused' | 'expired'
  /** A temporary checkout ends then unless its listener sends a heartbeat. */
  leasedUntil: Date | null
  pausedAt: Date | null
  expiredAt: Date | null
  /** Counts the changes of `Shown`. */
  version: number
  createdAt: Date
  updatedAt: Date
}

/** What buyers are shown before they pay. They get this, also where the checkout is changed meanwhile. */
export type Shown = Pick<
  Terms,
  | 'product'
  | 'price'
  | 'network'
  | 'recipient'
  | 'fields'
  | 'redirectUrl'
  | 'responseMode'
  | 'capture'
  | 'runSeconds'
  | 'refundOnFailure'
>

/** What the owner configures. */
export interface Terms {
  callbackUrl: string
  product: { name: string; description: string | null }
  price: Usdc
  network: NetworkName
  /** Null only in test mode, where no money is paid. */
  recipient: Address | null
  fields: readonly Field[]
  redirectUrl: string | null
  testMode: boolean
  lifetime: Lifetime
  responseMode: ResponseMode
  /** Whether to check that the workflow responds before money is taken. */
  preflight: boolean
  onUnconfirmed: 'hold' | 'redeliver'
  /** When the money moves. */
  capture: Capture
  /** With `onSuccess`: how long the workflow may take until its outcome is known. */
  runSeconds: number
  /** With `onPayment`: send the money back by itself where the workflow fails. */
  refundOnFailure: boolean
  /** The node that the checkout belongs to: the same source gets the same checkout back. */
  source: Source | null
}

/**
 * `onPayment`: before the workflow runs. `onSuccess`: the buyer's authorization is held while it runs, and is used only
 * where it succeeds. `escrow`: the money waits in a contract while it runs, for the seller if it succeeds, or else for
 * the buyer.
 */
export type Capture = 'onPayment' | 'onSuccess' | 'escrow'

/** Whether the workflow runs before the payment is charged. */
export function isLate(capture: Capture): boolean {
  return capture !== 'onPayment'
}
export type Lifetime = 'temporary' | 'persistent'
/** `lastNode`: the payer sees the workflow's answer. */
export type ResponseMode = 'immediately' | 'lastNode'
export type Status = 'active' | 'paused' | 'expired'

export interface Source {
  instanceId: string
  workflowId: string
  nodeId: string
}

export interface Payment {
  id: Id<'pay'>
  checkoutId: Id<'chk'>
  owner: Owner
  state: PaymentState
  amount: Usdc
  network: NetworkName
  /** Null for a simulated payment. */
  recipient: Address | null
  payer: Address
  simulated: boolean
  /** The customer's input, with defaults for omitted fields. */
  input: Readonly<Record<string, unknown>>
  txHash: string | null
  /** The reason of a failure, as a code of the protocol, or as one of `WORK_FAILURES`. */
  reason: string | null
  capture: Capture
  /** The payment's way through the escrow. Null without one. */
  escrow: Sale['escrow']
  /** When a held payment ends unless its workflow has succeeded. Null where none is held. */
  deadline: Date | null
  /** What the seller reported about the work. */
  result: WorkResult | null
  createdAt: Date
  paidAt: Date | null
  /** The sum of its refunds that have not failed. */
  refunded: Usdc
}

/**
 * `created`: accepted; the authorization belongs to this payment alone. `settling`: the chain was called, its answer is
 * not known yet. Both end without further requests, even if the process that started them is gone. With `onSuccess`
 * a payment is `created` until its workflow has ended.
 */
export type PaymentState = 'created' | 'settling' | 'paid' | 'failed'

/** How a payment in test mode ends; payments with money can end in the same ways. `slow` is paid after some seconds. */
export const OUTCOMES = ['paid', 'declined', 'insufficient_funds', 'slow', 'delivery_failed'] as const
export type SimulatedOutcome = (typeof OUTCOMES)[number]

/** A price that stays valid for ten minutes. */
export interface Quote {
  price: Usdc
  network: NetworkName
  recipient: Address | null
  /** The version that was shown with it. Null in a quote of an earlier release. */
  version: number | null
  expiresAt: Date
}

export const ZERO_ADDRESS: Address = '0x0000000000000000000000000000000000000000'

/*
 * What the payer sees. These are the answers of /p/… themselves, so amounts are decimals and times are text: the page
 * is rendered from them, and its script reads them as they are sent.
 */

/** `GET /p/{chk}` for a program, and the page's data. */
export interface CheckoutView {
  checkout: {
    id: string
    /** The page's URL. */
    url: string
    /** The same URL, for agents. */
    x402Url: string
    /** The same as a tool for models. Null where there is none. */
    mcp: { url: string; tool: string } | null
    status: Status
    lifetime: Lifetime
    /** Nothing is charged; payments are simulated. */
    testMode: boolean
    product: { name: string; description: string | null }
    price: number
    currency: 'USDC'
    network: NetworkName
    chainId: number
    /** Null only in test mode. */
    recipient: string | null
    asset: { address: string; name: string; version: string; decimals: 6 }
    fields: readonly Field[]
    redirectUrl: string | null
    responseMode: ResponseMode
    capture: Capture
    /** With `onSuccess`: how long the workflow may take. */
    runSeconds: number | null
    /** The network's block explorer: `{explorer}/tx/{hash}`. */
    explorer: string
  }
  /** False while the workflow does not respond or this server cannot settle: pay calls are refused with a 503. */
  available: boolean
  /** Send its id with the pay call. The price is valid until it expires. */
  quote: { quoteId: string; expiresAt: string }
  /** What the customer signs, in both versions of x402; null in test mode, and where it cannot be paid now. */
  paymentRequirements: Signable | null
  /** With `escrow`: a payment for a wallet to sign, since only its sender may compute the nonce. Null for the others. */
  prepared: Prepared | null
  /** How the last sales went, as rounded figures. Null while there are fewer than 20, and where it is not shown. */
  trackRecord: { sales: number; refundedPercent: number; disputedPercent: number } | null
}

/** Where the money waits in the escrow, version 1 has no terms. */
export interface Signable {
  v1: Requirements['v1'] | null
  v2: Requirements['v2'] | EscrowRequirements
}

/** What the payer's authorization must contain. Other salts give other nonces. */
export interface Prepared {
  to: string
  salt: string
  nonce: string
  /** Unix seconds. */
  validBefore: number
}

/** A payment's way through the escrow. */
export interface EscrowView {
  /** The address of the contract. */
  contract: string
  /** After it the payer can take back what was not captured with a call of its own, `reclaim`. */
  captureBy: string
  /**
   * `authorizing`: on its way into the contract. `waiting`: it waits there. `captured`: the seller has it. `voiding`: it
   * is being given back. `voided`: the payer has it. `reclaimable`: the payer takes it back. `none`: it never moved.
   */
  state: 'authorizing' | 'waiting' | 'capturing' | 'captured' | 'voiding' | 'voided' | 'reclaimable' | 'none'
  /** The transactions that moved it into the contract, and back. */
  authorizedTx: string | null
  voidedTx: string | null
}

/** `POST /p/{chk}/pay`, `GET /p/{chk}/payments/{pay}`, and each `state` event of the latter. */
export interface PaymentView {
  payment: {
    id: string
    checkoutId: string
    /** `created` and `settling` are in progress: never show them as failed. */
    status: PaymentState
    txHash: string | null
    amount: number
    /** What went back of it, or is about to. */
    refunded: number
    currency: 'USDC'
    network: NetworkName
    payer: string
    /** Null without a transaction, and for a simulated payment. */
    explorerUrl: string | null
    /** Why it failed: `code` is the code of x402, `sentence` is for a person. */
    reason: { code: string; sentence: string } | null
    /** The URL to follow the payment: JSON, or server-sent events. */
    statusUrl: string
    testMode: boolean
    /** `onSuccess`: nothing is charged unless the workflow succeeds. */
    capture: Capture
    /** Nothing is charged if the workflow has not succeeded by then. Null once its outcome is known. */
    deadline: string | null
    /** Where the money waits, or waited, in a contract. Null for every other payment. */
    escrow: EscrowView | null
    createdAt: string
    paidAt: string | null
    /** The checkout's `redirectUrl` with `checkout_id` and `payment_id`, once it is paid; only for the buyer. */
    redirectUrl: string | null
    /** Fetches this view again; only for the buyer. Send it as X-Payment-Token, or as `token` in the address. */
    token: string | null
    /**
     * The link to the receipt, which also works after the checkout has ended. Anyone with the link can open it; only
     * the buyer gets it.
     */
    receiptUrl: string | null
    /** The receipt as a JWS; null unless it was paid on a chain. Only for the buyer and the owner. */
    signedReceipt: string | null
    /** Verifies that receipt in a browser. Null where `signedReceipt` is. */
    verifyUrl: string | null
  }
  /** Null until it is paid; with `onSuccess`, until it is sent. */
  delivery: {
    id: string
    /**
     * `pending`: in progress. `claimed`: the workflow has started. `delivered`: it has confirmed. `unconfirmed`: it has
     * started and has not confirmed, or failed. `stopped`, `exhausted`: it was not reached or refused, and no attempt
     * follows.
     */
    status: string
    attempts: number
    /** The workflow's HTTP status for the last attempt; null without an answer, and for a viewer without proof. */
    lastStatus: number | null
    /** The error code of the last attempt; only in test mode. */
    lastError: string | null
    nextAttemptAt: string | null
    /**
     * The last ten attempts, oldest first, for the buyer and the owner in test mode. Null otherwise: customers who pay
     * with money see nothing of the seller's server.
     */
    history: { at: string; status: number | null; error: string | null }[] | null
    /**
     * The workflow's answer (responseMode `lastNode`, or reported by the seller), at most 64 KB; only for the buyer and
     * the owner, and only once it is paid.
     */
    answer: string | null
  } | null
}
