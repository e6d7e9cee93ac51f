import type { Duplex, Readable } from 'node:stream'
import type { Address } from '../chain/model.ts'
import type { NetworkName } from '../chain/networks.ts'
import type { Id } from '../kit/ids.ts'
import type { Usdc } from '../kit/money.ts'
import type { Owner } from '../kit/owner.ts'

/** A price on somebody's HTTP API: what is behind it, and what each route costs. */
export interface Paywall extends Terms {
  id: Id<'pwl'>
  owner: Owner
  /** Names it in its public address; one in all environments, since that address knows no key. */
  slug: string
  /** Grows with each change of the terms. */
  version: number
  createdAt: Date
  updatedAt: Date
}

/** What its owner decides. */
export interface Terms extends Offered {
  name: string
  upstreamUrl: string
  /** What the upstream is sent besides, by the names alone: the values are sealed. */
  upstreamHeaders: readonly string[]
  testMode: boolean
  status: 'active' | 'paused'
  /** Revenue at which the owner is told. */
  milestones: readonly Usdc[]
}

/** What a buyer was told: a change leaves it standing for ten minutes. */
export interface Offered {
  /** The first that fits decides; what fits none is not passed on. */
  routes: readonly Route[]
  /** Null only in test mode, where nobody is paid. */
  recipient: Address | null
  network: NetworkName
}

export interface Route {
  /** `*` is any. */
  method: string
  /** `/v1/items/:id`, and `*` at the end for whatever follows. */
  path: string
  pricing: Pricing
  description: string | null
  /** `before`: the money is taken before the upstream is asked. */
  settle: 'after' | 'before'
}

export type Pricing =
  | { model: 'free' }
  | { model: 'per-request'; amount: Usdc }
  | { model: 'tiered'; tiers: readonly Tier[]; window: Window }
  /** `input` and `output` are prices of 1,000 tokens. */
  | { model: 'per-token'; input: Usdc; output: Usdc; minimum: Usdc; maximum: Usdc }
  | { model: 'per-minute'; amount: Usdc; minimum: Usdc; maximum: Usdc }

export type Exact = Extract<Pricing, { model: 'per-request' | 'tiered' }>
export type Metered = Extract<Pricing, { model: 'per-token' | 'per-minute' }>

/** Up to and with the `upTo`-th call of the window; null is without end, and the last. */
export interface Tier {
  upTo: number | null
  amount: Usdc
}

/** Calendar windows in UTC; a week begins on Monday. */
export type Window = 'day' | 'week' | 'month' | 'lifetime'

/** A paywall as its gate needs it. */
export interface Gate extends Paywall {
  /** Its public address. */
  address: string
  /** Terms that were replaced less than ten minutes ago, the newest first. */
  earlier: readonly Offered[]
  /** Presented as `X-Payment-Token` it simulates a payment; null unless in test mode. */
  testToken: string | null
}

/**
 * `calling`: the authorization is this payment's alone, and the upstream is asked. `released`: the upstream failed;
 * nothing is charged, and the same authorization may ask again. `settling`: the chain was asked, its answer is not
 * known yet.
 */
export type PaymentState = 'calling' | 'released' | 'settling' | 'paid' | 'failed'

export interface Payment {
  id: Id<'pay'>
  paywallId: Id<'pwl'>
  owner: Owner
  /** `request` buys one answer, `balance` the right to as many calls as it is worth. */
  kind: 'request' | 'balance'
  state: PaymentState
  /** The route by method and pattern, and what was asked for by method and path. */
  route: string
  endpoint: string
  amount: Usdc
  network: NetworkName
  recipient: Address | null
  payer: Address
  simulated: boolean
  /** In which window of a tiered price its place was taken. */
  windowStart: Date | null
  /** What the call that came with a `balance` costs; null until that is known. */
  cost: Usdc | null
  txHash: string | null
  reason: string | null
  /** Whether the answer has gone out: not at all, its first byte at least, or whole. */
  delivery: 'none' | 'begun' | 'whole'
  createdAt: Date
  endedAt: Date | null
}

export type HeaderList = readonly (readonly [name: string, value: string])[]

/** A request at a gate, whoever serves it. */
export interface GateRequest {
  method: string
  /** Below the paywall's address, as it came. */
  path: string
  /** With its question mark; empty when there is none. */
  query: string
  /** A header by its name in lower case. */
  header(name: string): string | undefined
  body: Readable | null
  /** It wants to become a connection of another protocol. */
  upgrade: boolean
  clientAddress: string
  /** The client hung up. */
  gone: AbortSignal
}

/** Asks what is behind the paywall, once. */
export type CallUpstream = (asked: UpstreamCall) => Promise<UpstreamAnswer>

export interface UpstreamCall {
  /** The body, in place of the request's own. */
  body: Readable | null
  /** Who pays what for this call. */
  payment: Identity
  /** The answer is looked into, so it must come unpacked. */
  plain: boolean
  /** Aborts when the client hangs up, as long as that still takes the request back. */
  signal: AbortSignal
}

export interface UpstreamAnswer {
  status: number
  headers: HeaderList
  body: Readable
  /** What came after the body; empty before it has ended. */
  trailers(): Readonly<Record<string, string>>
  /** Instead of the body, after a 101. */
  tunnel: Duplex | null
}

/** What the upstream is told, signed. */
export interface Identity {
  paywall: string
  /** Names this call. */
  call: string
  payment: string | null
  payer: string | null
  /** What it costs; the most that it can cost where that is measured. */
  amount: Usdc | null
  pricing: Pricing['model']
  state: 'free' | 'authorized' | 'settled' | 'prepaid' | 'simulated'
  endpoint: string
  at: Date
}

/** What the client is answered. */
export interface Outcome {
  status: number
  headers: HeaderList
  body: Buffer | Readable | null
  trailers?: () => Readonly<Record<string, string>>
  tunnel?: Duplex
  /** The money is used up then. */
  cutAfterMs?: number
  /** A 402 that a browser may be shown as a page. */
  offer?: Offer
  /** Told once whether all of it went out. */
  whenSent?(arrived: boolean): Promise<void>
}

/** What is asked of somebody who has not paid. */
export interface Offer {
  paywall: string
  name: string
  description: string | null
  pricing: Pricing['model']
  amount: Usdc
  recipient: Address | null
  network: NetworkName
  facilitator: string
  /** What is paid for, by its public address. */
  resource: string
  mimeType: string
  expiresAt: Date
  testMode: boolean
}

/** What a day brought on one route. */
export interface DayRow {
  day: string
  route: string
  /** `answered`, or why not; `paid` and `drawn` with what was. */
  outcome: string
  count: number
  amount: Usdc
}

/** What a payment changed, told by the transaction that changed it. */
export interface Facts {
  payment: Payment
  /** How many this customer has paid here by now. */
  customerPayments: number
  revenueBefore: Usdc
  revenue: Usdc
  milestones: readonly Usdc[]
  /** Where the price is tiered and the customer's tier is another one from now on. */
  tier: { from: number; to: number } | null
}

export const ZERO_ADDRESS: Address = '0x0000000000000000000000000000000000000000'
