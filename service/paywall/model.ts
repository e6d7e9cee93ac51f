import type { Duplex, Readable } from 'node:stream'
import type { Address } from '../chain/model.ts'
import type { NetworkName } from '../chain/networks.ts'
import type { Id } from '../kit/ids.ts'
import type { Usdc } from '../kit/money.ts'
import type { Owner } from '../kit/owner.ts'

/** A price on an HTTP API: its upstream and the cost of each route. */
export interface Paywall extends Terms {
  id: Id<'pwl'>
  owner: Owner
  /**
   * The name in its public address. It is unique across environments, because requests to that address carry no key.
   */
  slug: string
  /** Increases with each change of the terms. */
  version: number
  createdAt: Date
  updatedAt: Date
}

/** What the owner configures. */
export interface Terms extends Offered {
  name: string
  upstreamUrl: string
  /** The names of extra headers for the upstream; the values are sealed. */
  upstreamHeaders: readonly string[]
  testMode: boolean
  status: 'active' | 'paused'
  /** Revenue levels at which the owner is notified. */
  milestones: readonly Usdc[]
}

/** The terms that buyers see: after a change the previous ones stay valid for ten minutes. */
export interface Offered {
  /** The first match decides; a request without a match is not passed on. */
  routes: readonly Route[]
  /** Null only in test mode, where no money is paid. */
  recipient: Address | null
  network: NetworkName
}

export interface Route {
  /** `*` matches any method. */
  method: string
  /** `/v1/items/:id`; `*` at the end matches the rest. */
  path: string
  pricing: Pricing
  description: string | null
  /** `before`: the payment settles before the upstream is called. */
  settle: 'after' | 'before'
  /** Whether payments must have an identifier of the client's choice. */
  paymentIdentifier: 'optional' | 'required'
  /** Who has paid for a path may sign in by wallet instead of paying again, for this long. Null: everyone pays. */
  signIn: { seconds: number } | null
}

export type Pricing =
  | { model: 'free' }
  | { model: 'per-request'; amount: Usdc }
  | { model: 'tiered'; tiers: readonly Tier[]; window: Window }
  /** `input` and `output` are prices per 1,000 tokens. */
  | { model: 'per-token'; input: Usdc; output: Usdc; minimum: Usdc; maximum: Usdc }
  | { model: 'per-minute'; amount: Usdc; minimum: Usdc; maximum: Usdc }

export type Exact = Extract<Pricing, { model: 'per-request' | 'tiered' }>
export type Metered = Extract<Pricing, { model: 'per-token' | 'per-minute' }>

/** Up to and including the `upTo`-th call of the window; null means no limit and marks the last tier. */
export interface Tier {
  upTo: number | null
  amount: Usdc
}

/** Calendar windows in UTC; a week begins on Monday. */
export type Window = 'day' | 'week' | 'month' | 'lifetime'

/** A paywall with everything that its gate needs. */
export interface Gate extends Paywall {
  /** Its public address. */
  address: string
  /** Terms that were replaced less than ten minutes ago, the newest first. */
  earlier: readonly Offered[]
  /** Sent as `X-Payment-Token` it simulates a payment; null unless in test mode. */
  testToken: string | null
}

/**
 * `calling`: the authorization belongs to this payment alone, and the upstream is being called. `released`: the
 * upstream failed; nothing is charged, and the same authorization may be used again. `settling`: the chain was called,
 * its answer is not known yet.
 */
export type PaymentState = 'calling' | 'released' | 'settling' | 'paid' | 'failed'

export interface Payment {
  id: Id<'pay'>
  paywallId: Id<'pwl'>
  owner: Owner
  /** `request` buys one answer; `balance` adds to a balance that pays for calls. */
  kind: 'request' | 'balance'
  state: PaymentState
  /** The route by method and pattern, and the request by method and path. */
  route: string
  endpoint: string
  amount: Usdc
  /** How much of it went back. */
  refunded: Usdc
  network: NetworkName
  recipient: Address | null
  payer: Address
  simulated: boolean
  /** The window of a tiered price in which its place was taken. */
  windowStart: Date | null
  /** The cost of the call that came with a `balance` payment; null until that is known. */
  cost: Usdc | null
  txHash: string | null
  reason: string | null
  /** How much of the answer was sent: nothing, at least its first byte, or all of it. */
  delivery: 'none' | 'begun' | 'whole'
  createdAt: Date
  endedAt: Date | null
}

export type HeaderList = readonly (readonly [name: string, value: string])[]

/** A request at a gate, in the gateway or in the middleware. */
export interface GateRequest {
  method: string
  /** Relative to the paywall's address, unchanged. */
  path: string
  /** Including the question mark; empty when there is none. */
  query: string
  /** A header by its name in lower case. */
  header(name: string): string | undefined
  body: Readable | null
  /** It requests an upgrade to another protocol. */
  upgrade: boolean
  clientAddress: string
  /** Aborts when the client disconnects. */
  gone: AbortSignal
}

/** Calls the upstream once. */
export type CallUpstream = (asked: UpstreamCall) => Promise<UpstreamAnswer>

export interface UpstreamCall {
  /** Replaces the request's own body. */
  body: Readable | null
  /** Who pays what for this call. */
  payment: Identity
  /** The gate reads the answer, so it must come uncompressed. */
  plain: boolean
  /** Aborts when the client disconnects, as long as the call can still be withdrawn. */
  signal: AbortSignal
}

export interface UpstreamAnswer {
  status: number
  headers: HeaderList
  body: Readable
  /** The trailers after the body; empty before it has ended. */
  trailers(): Readonly<Record<string, string>>
  /** Replaces the body after a 101. */
  tunnel: Duplex | null
}

/** The signed information for the upstream. */
export interface Identity {
  paywall: string
  /** Identifies this call. */
  call: string
  payment: string | null
  payer: string | null
  /** The price of the call; the maximum if its cost is measured. */
  amount: Usdc | null
  pricing: Pricing['model']
  state: 'free' | 'signed-in' | 'authorized' | 'settled' | 'prepaid' | 'simulated'
  endpoint: string
  at: Date
}

/** The answer to the client. */
export interface Outcome {
  status: number
  headers: HeaderList
  body: Buffer | Readable | null
  trailers?: () => Readonly<Record<string, string>>
  tunnel?: Duplex
  /** When the money is used up and the answer is cut off. */
  cutAfterMs?: number
  /** A 402 that may be shown to a browser as a page. */
  offer?: Offer
  /** Called once, with whether the whole answer was sent. */
  whenSent?(arrived: boolean): Promise<void>
}

/** The price and terms for a buyer that has not paid. */
export interface Offer {
  paywall: string
  name: string
  description: string | null
  pricing: Pricing['model']
  amount: Usdc
  recipient: Address | null
  network: NetworkName
  facilitator: string
  /** The public URL of the paid resource. */
  resource: string
  route: OfferedRoute
  mimeType: string
  /** Who takes what was used of a permit. Null where only the whole amount is sold. */
  taker: Address | null
  expiresAt: Date
  testMode: boolean
}

/** How a route is called, for catalogues. */
export interface OfferedRoute {
  method: string
  template: string | null
}

/** One day's figures for one route. */
export interface DayRow {
  day: string
  route: string
  /** `answered`, or the reason for a refusal; `paid` and `drawn` with their amounts. */
  outcome: string
  count: number
  amount: Usdc
}

/** What a payment changed, reported by the transaction that changed it. */
export interface Facts {
  payment: Payment
  /** How many payments this customer has made here so far. */
  customerPayments: number
  revenueBefore: Usdc
  revenue: Usdc
  milestones: readonly Usdc[]
  /** Set if the price is tiered and this payment moves the customer to another tier. */
  tier: { from: number; to: number } | null
}
