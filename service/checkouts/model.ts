import type { Requirements } from '../x402/model.ts'
import type { Address } from '../chain/model.ts'
import type { NetworkName } from '../chain/networks.ts'
import type { Field } from '../kit/fields.ts'
import type { Id } from '../kit/ids.ts'
import type { Usdc } from '../kit/money.ts'
import type { Owner } from '../kit/owner.ts'

/** A price on a workflow: what is asked of a customer, and where the paid input goes. */
export interface Checkout extends Terms {
  id: Id<'chk'>
  owner: Owner
  /** As it was written last; `statusOf` says what it is now. */
  state: 'active' | 'paused' | 'expired'
  /** A temporary one lives until then unless its listener says that it still listens. */
  leasedUntil: Date | null
  pausedAt: Date | null
  expiredAt: Date | null
  createdAt: Date
  updatedAt: Date
}

/** What its owner decides. */
export interface Terms {
  callbackUrl: string
  product: { name: string; description: string | null }
  price: Usdc
  network: NetworkName
  /** Null only in test mode, where nobody is paid. */
  recipient: Address | null
  fields: readonly Field[]
  redirectUrl: string | null
  testMode: boolean
  lifetime: Lifetime
  responseMode: ResponseMode
  /** Ask the workflow whether it is there before money is taken. */
  preflight: boolean
  onUnconfirmed: 'hold' | 'redeliver'
  /** The place that it stands for: the same one gets the same checkout back. */
  source: Source | null
}

export type Lifetime = 'temporary' | 'persistent'
/** `lastNode`: the payer is shown what the workflow answers. */
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
  /** Null for a simulated one. */
  recipient: Address | null
  payer: Address
  simulated: boolean
  /** What the customer filled in, with the defaults of what they left out. */
  input: Readonly<Record<string, unknown>>
  txHash: string | null
  /** Why it failed, in the words of the protocol. */
  reason: string | null
  createdAt: Date
  paidAt: Date | null
}

/**
 * `created`: accepted, and the authorization is this payment's alone. `settling`: the chain was asked, its answer
 * is not known yet. Both end by themselves, also when the process that began them is gone.
 */
export type PaymentState = 'created' | 'settling' | 'paid' | 'failed'

/** How a payment of test mode ends: as one with money may. `slow` is paid after some seconds. */
export const OUTCOMES = ['paid', 'declined', 'insufficient_funds', 'slow', 'delivery_failed'] as const
export type SimulatedOutcome = (typeof OUTCOMES)[number]

/** What a price holds for ten minutes. */
export interface Quote {
  price: Usdc
  network: NetworkName
  recipient: Address | null
  expiresAt: Date
}

export const ZERO_ADDRESS: Address = '0x0000000000000000000000000000000000000000'

/*
 * What the payer sees. These are the very answers of /p/…, so amounts are decimals here and times are text: the page
 * is rendered from them, and its script reads them as they come over the wire.
 */

/** `GET /p/{chk}` for a program, and what the page is made of. */
export interface CheckoutView {
  checkout: {
    id: string
    /** The page. */
    url: string
    /** The same address, for agents. */
    x402Url: string
    status: Status
    lifetime: Lifetime
    /** Nothing is charged here; a payment is simulated. */
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
    /** Where transactions of this network can be looked at: `{explorer}/tx/{hash}`. */
    explorer: string
  }
  /** False while the workflow does not answer, or this server cannot settle: pay calls are refused with a 503. */
  available: boolean
  /** Send its id with the pay call: the price holds until it expires. */
  quote: { quoteId: string; expiresAt: string }
  /** What the customer signs for, in either version of x402; null in test mode. */
  paymentRequirements: Requirements | null
}

/** `POST /p/{chk}/pay`, `GET /p/{chk}/payments/{pay}`, and each `state` event of the latter. */
export interface PaymentView {
  payment: {
    id: string
    checkoutId: string
    /** `created` and `settling` are on their way: never show them as failed. */
    status: PaymentState
    txHash: string | null
    amount: number
    currency: 'USDC'
    network: NetworkName
    payer: string
    /** Null until there is a transaction, and for a simulated payment. */
    explorerUrl: string | null
    /** Why it failed: `code` in the words of x402, `sentence` for a person. */
    reason: { code: string; sentence: string } | null
    /** Follow it here: JSON, or server-sent events. */
    statusUrl: string
    testMode: boolean
    createdAt: string
    paidAt: string | null
    /** The checkout's `redirectUrl` with `checkout_id` and `payment_id`, once it is paid; for the buyer alone. */
    redirectUrl: string | null
    /** Fetches all of this again, for the buyer alone: send it as X-Payment-Token, or as `token` in the address. */
    token: string | null
    /** Shows the receipt to who has the link, also after the checkout has ended; for the buyer alone. */
    receiptUrl: string | null
  }
  /** Null until it is paid. */
  delivery: {
    id: string
    /**
     * `pending`: on its way. `claimed`: the workflow has started. `delivered`: it has confirmed. `unconfirmed`: it has
     * started and not confirmed, or failed. `stopped`, `exhausted`: it was not reached or refused, and no try follows.
     */
    status: string
    attempts: number
    /** What the workflow answered to the last attempt, by HTTP; null where nothing came, and for who has no proof. */
    lastStatus: number | null
    /** Why the last attempt failed, in a word; in test mode alone. */
    lastError: string | null
    nextAttemptAt: string | null
    /**
     * The last ten attempts, oldest first, for the buyer and the owner in test mode. Null otherwise: customers who pay with
     * money are shown nothing of the seller's server.
     */
    history: { at: string; status: number | null; error: string | null }[] | null
    /** What the workflow answered (responseMode `lastNode`), at most 64 KB of it; for the buyer and the owner alone. */
    answer: string | null
  } | null
}
