import type { Id } from '../kit/ids.ts'
import type { Owner } from '../kit/owner.ts'

/** Something that a receiver has to be told, written in the transaction of what it is about. */
export interface NewDelivery {
  /** The `webhook-id`, one a payment or run: `deriveId('dlv', payment)`. Writing it twice changes nothing. */
  id: Id<'dlv'>
  owner: Owner
  /** What it is about: `pay_…`, `run_…`, `evt_…`. */
  subject: string
  /** A target that is kept here, or one address, signed with the account's signing secret. */
  to: { target: string } | { url: string }
  /** The very bytes that are signed and sent, as `application/json`. */
  body: string
  headers?: Readonly<Record<string, string>>
  /** How long one attempt waits for its answer; 15 s when absent, 180 s at most. */
  waitMs?: number
  /** How much of the answer is kept for whoever shows it; 2 KB when absent, 64 KB at most. */
  keepBytes?: number
  onUnconfirmed?: OnUnconfirmed
}

/**
 * Among the headers of a delivery in test mode: its first attempt fails without a call, and none follows by itself.
 * Sent again by hand, it goes out.
 */
export const FAILS_FIRST = { 'coinslot-simulated-failure': 'true' } as const

/** What becomes of a claimed delivery that nobody confirms: its owner decides, or its claim opens again. */
export type OnUnconfirmed = 'hold' | 'redeliver'

/**
 * `pending`: an attempt is due or under way. `claimed`: somebody acts on it, the answer is awaited, and no attempt
 * follows by itself. `delivered`: a 2xx came. `unconfirmed`: claimed, and no 2xx came. `stopped`: the receiver said
 * 410, or its endpoint is switched off. `exhausted`: the schedule is used up.
 */
export const DELIVERY_STATES = ['pending', 'claimed', 'delivered', 'unconfirmed', 'stopped', 'exhausted'] as const
export type DeliveryState = (typeof DELIVERY_STATES)[number]

/** A delivery as its owner sees it. */
export interface DeliveryView {
  id: Id<'dlv'>
  owner: Owner
  subject: string
  /** Null for one address. */
  target: string | null
  url: string
  state: DeliveryState
  attempts: number
  lastStatus: number | null
  /** The word for why there is no status, or why the delivery stopped. */
  lastError: string | null
  lastAttemptAt: Date | null
  /** Null unless one is to come. */
  nextAttemptAt: Date | null
  claimedAt: Date | null
  deliveredAt: Date | null
  createdAt: Date
}

/** With what the receiver said last, as far as it is kept. */
export interface AnsweredDelivery extends DeliveryView {
  answer: string | null
  /** The last ten attempts that came to an end, oldest first, without what was answered. */
  history: readonly Pick<Attempt, 'at' | 'status' | 'error'>[]
}

/** With all that was tried, oldest first. */
export interface DeliveryDetail extends DeliveryView {
  body: string
  history: readonly Attempt[]
}

export interface Attempt {
  at: Date
  durationMs: number
  /** Null when no answer's headers came. */
  status: number | null
  error: string | null
  answer: string | null
}

/** How an attempt ended, for whoever keeps the target's own counts. */
export interface Attempted {
  status: number | null
  kind: 'answered' | 'failed'
}

/** Where deliveries go, with the secrets that sign them. */
export interface NewTarget {
  id: string
  owner: Owner
  url: string
}

export const EVENTS = [
  'payment.completed',
  'payment.failed',
  'customer.first_payment',
  'revenue.milestone',
  'pricing.tier_changed',
  'run.completed',
  'run.failed',
  'checkout.paused',
  'agent.spending.warning',
  'agent.spending.exceeded',
  'agent.paused',
  'wallet.low_balance',
  'delivery.unconfirmed',
  'delivery.stopped',
  'delivery.exhausted',
  'endpoint.disabled',
] as const
export type EventName = (typeof EVENTS)[number]

/** Something that happened, for the account's endpoints that asked for it. */
export interface NewEvent {
  id: Id<'evt'>
  owner: Owner
  event: EventName
  data: Readonly<Record<string, unknown>>
  headers?: Readonly<Record<string, string>>
  /** For what a stranger can bring about; without it each one is sent. */
  bound?: EventBound
}

/** What every event about a payment says, wherever the payment was made. */
export interface PaymentEventData {
  /** Null where it was refused before it became a payment. */
  id: string | null
  checkoutId: string | null
  paywallId: string | null
  /** The payer's address; null where nothing proves whose it is. */
  customerId: string | null
  amount: number
  currency: 'USDC'
  /** Where it is paid: a path below the paywall, or the address of a checkout. */
  endpoint: string
  route: string | null
  network: string
  txHash: string | null
  at: string
  test?: true
}

/** One event for each key within a week, and at most so many an hour about one thing. */
export interface EventBound {
  about: string
  key: Buffer
  perHour: number
}

/** An address of the account's own that is told of events. */
export interface Endpoint {
  id: Id<'whe'>
  owner: Owner
  url: string
  events: readonly EventName[]
  status: 'enabled' | 'disabled'
  /** Since when nothing but failures came; null while it works. */
  failingSince: Date | null
  disabledAt: Date | null
  createdAt: Date
}

export interface Page {
  limit: number
  offset: number
}
