import type { EscrowRequirements, Requirements } from '../x402/model.ts'
import type { BrandView } from '../brands/model.ts'
import type { NetworkName } from '../chain/networks.ts'
import type { Field } from '../kit/fields.ts'
import type { PassStatus, Plan } from '../passes/model.ts'
import type { Right } from '../sales/model.ts'
import type {
  After,
  Chat,
  Pricing,
  Lines,
  Capture,
  Lifetime,
  ResponseMode,
  Status,
  ReceiptRefund,
  PaymentState,
  ProgressLine,
  RequestStatus,
} from './model.ts'

/*
 * What the payer sees. These are the answers of /p/… themselves, so amounts are decimals and times are text: the page
 * is rendered from them, and its script reads them as they are sent.
 */

/** `POST /p/{chk}/quote`: what a choice costs, and the terms to sign for it. */
export interface QuoteView {
  /** Send its id with the pay call. The price is valid until it expires. */
  quote: { quoteId: string; expiresAt: string }
  total: number
  lines: Lines<number>
  /** What the customer signs, in both versions of x402; null in test mode, and where it cannot be paid now. */
  paymentRequirements: Signable | null
  /** With `escrow`: a payment for a wallet to sign, since only its sender may compute the nonce. Null for the others. */
  prepared: Prepared | null
}

/** `GET /p/{chk}` for a program, and the page's data. The quote is for a buyer who chooses nothing. */
export interface CheckoutView extends QuoteView {
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
    pricing: Pricing<number>
    coupons: boolean
    currency: 'USDC'
    network: NetworkName
    chainId: number
    /** Null only in test mode. */
    recipient: string | null
    asset: { address: string; name: string; version: string; decimals: 6 }
    /** What the payment leads to. A file's name and size. */
    after: { kind: After['kind']; file: { name: string; bytes: number } | null }
    picture: { url: string; width: number; height: number } | null
    fields: readonly Field[]
    redirectUrl: string | null
    responseMode: ResponseMode
    capture: Capture
    /** How many runs each wallet gets for nothing. */
    trialRuns: number
    /** What can be paid for ahead. */
    plans: Plan<number>[]
    /** A conversation whose turns are the runs of a plan. Null for every other checkout. */
    chat: Chat | null
    /** With `onSuccess`: how long the workflow may take. */
    runSeconds: number | null
    /** Whether it can be paid without a wallet, by a transfer from anywhere: `POST /p/{chk}/addresses`. */
    transfers: boolean
    /** The network's block explorer: `{explorer}/tx/{hash}`. */
    explorer: string
  }
  /** False while the workflow does not respond or this server cannot settle: pay calls are refused with a 503. */
  available: boolean
  /** How the last sales went, as rounded figures. Null with fewer than 20 customers, and where it is not shown. */
  trackRecord: { customers: number; refundedPercent: number; disputedPercent: number } | null
  /** How the seller shows itself; null where nothing was set. */
  brand: BrandView | null
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

/** What a payer does where this service could neither capture the money nor give it back. The page says it in each language. */
export const RECLAIM =
  'Your money waits in the contract: take it back from the paying wallet with the contract’s call “reclaim”. You need no one’s help for it.'

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

/** A pass, as its customer sees it. */
export interface PassView {
  id: string
  plan: { id: string; name: string }
  status: PassStatus
  runs: number | null
  runsLeft: number | null
  until: string | null
  /** Uses the pass: its holder has the runs. Only the buyer of the pass gets it. */
  token: string | null
}

/** A further amount that the buyer is asked for. */
export interface RequestView {
  id: string
  status: RequestStatus
  amount: number
  currency: 'USDC'
  note: string
  /** The page on which it is paid. */
  url: string
  /** The payment of it. Null while none has begun. */
  paymentId: string | null
  expiresAt: string
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
    lines: Lines<number>
    /** What went back of it, or is about to. */
    refunded: number
    /** The same one by one, where this is the payment's own view; only for the buyer and the owner. */
    refunds: ReceiptRefund[]
    /**
     * Where an order that was paid by a transfer is refunded: the money is at the order's address, and its buyer says
     * where it goes with `POST /p/{chk}/addresses/{addressId}/return`. Null for all others, and where nothing went back.
     */
    collect: { addressId: string; token: string } | null
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
    /** Why it cost nothing. Null for a payment with money. */
    free: Right['kind'] | null
    /** The pass that it has bought or used. */
    pass: PassView | null
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
  /**
   * What was bought, where no workflow is called; only for the buyer and the owner, and only once it is paid. The
   * address of a file has the buyer's token.
   */
  result:
    | { kind: 'text'; text: string }
    | { kind: 'link'; url: string }
    | { kind: 'file'; name: string; mediaType: string; bytes: number; url: string | null }
    | null
  /** The further amounts that the buyer is asked for, the oldest first; only for the buyer and the owner. */
  requests: RequestView[]
  /** Null until it is paid; with `onSuccess`, until it is sent. Null where no workflow is called. */
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
    /** Why the order has failed, in the seller's words; only for the buyer and the owner. */
    failure: string | null
    /** What the workflow writes while it works, oldest first; only for the buyer and the owner. */
    progress: ProgressLine[]
  } | null
}
