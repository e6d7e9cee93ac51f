import type { Id } from '../kit/ids.ts'
import type { Owner } from '../kit/owner.ts'

/** A message to a receiver, written in the transaction of the change that it reports. */
export interface NewDelivery {
  /** The `webhook-id`, one per payment or run: `deriveId('dlv', payment)`. Writing it twice changes nothing. */
  id: Id<'dlv'>
  owner: Owner
  /** The subject: `pay_…`, `run_…`, `evt_…`. */
  subject: string
  /** The receiver fetches it: it is not sent. */
  fetched?: boolean
  /** A stored target, or a single address whose deliveries are signed with the account's signing secret. */
  to: { target: string } | { url: string }
  /** The exact bytes that are signed and sent, as `application/json`. */
  body: string
  headers?: Readonly<Record<string, string>>
  /** How long one attempt waits for its answer; 15 s when absent, 180 s at most. */
  waitMs?: number
  /** How much of the answer is stored; 2 KB when absent, 64 KB at most. */
  keepBytes?: number
  onUnconfirmed?: OnUnconfirmed
}

/**
 * A header of deliveries in test mode: the first attempt fails without a call, and no automatic attempt follows. A
 * manual redelivery is sent.
 */
export const FAILS_FIRST = { 'coinslot-simulated-failure': 'true' } as const

/** A header of deliveries whose receiver's error is final: an answer of 4xx or 5xx is no reason to try again. */
export const FAILS_ON_ERROR = { 'coinslot-on-error': 'fail' } as const

/**
 * What happens to a claimed delivery without a confirmation: `hold` leaves it to the owner, `redeliver` opens the claim
 * again.
 */
export type OnUnconfirmed = 'hold' | 'redeliver'

/**
 * `pending`: an attempt is due or under way. `claimed`: the receiver has started on it, its answer is awaited, and no
 * automatic attempt follows. `delivered`: a 2xx came. `unconfirmed`: claimed, and no 2xx came. `stopped`: the receiver
 * answered 410 or with a final error, its endpoint is disabled, or what it reports is void. `exhausted`: the schedule is used up.
 */
export const DELIVERY_STATES = ['pending', 'claimed', 'delivered', 'unconfirmed', 'stopped', 'exhausted'] as const
export type DeliveryState = (typeof DELIVERY_STATES)[number]

/** A delivery as its owner sees it. */
export interface DeliveryView {
  id: Id<'dlv'>
  owner: Owner
  subject: string
  /** Null for a single address. */
  target: string | null
  url: string
  state: DeliveryState
  attempts: number
  lastStatus: number | null
  /** The code for why there is no status, or why the delivery stopped. */
  lastError: string | null
  lastAttemptAt: Date | null
  /** Null when no attempt is scheduled. */
  nextAttemptAt: Date | null
  claimedAt: Date | null
  deliveredAt: Date | null
  createdAt: Date
}

/** With the receiver's last answer, as far as it is stored. */
export interface AnsweredDelivery extends DeliveryView {
  answer: string | null
  /** The last ten completed attempts, oldest first, without their answers. */
  history: readonly Pick<Attempt, 'at' | 'status' | 'error'>[]
}

/** With all attempts, oldest first. */
export interface DeliveryDetail extends DeliveryView {
  body: string
  history: readonly Attempt[]
}

export interface Attempt {
  at: Date
  durationMs: number
  /** Null without an answer. */
  status: number | null
  error: string | null
  answer: string | null
}

/** The result of an attempt, for modules that count failures of their targets. */
export interface Attempted {
  status: number | null
  kind: 'answered' | 'failed'
  subject: string
  /** The delivery's own headers. */
  headers: Readonly<Record<string, string>>
}

/** What deliveries publish, each in the transaction in which it happened. */
export type DeliveryFact =
  /** A delivery to a target ended without a confirmation. */
  | { kind: 'delivery.failed'; owner: Owner; target: string; subject: string }
  /** Its owner sends it again. */
  | { kind: 'delivery.redelivered'; subject: string }

/** A receiver's address, with the secrets that sign deliveries to it. */
export interface NewTarget {
  id: string
  owner: Owner
  url: string
}

export const EVENTS = [
  'payment.completed',
  'payment.failed',
  'payment.refunded',
  'refund.failed',
  'dispute.opened',
  'dispute.closed',
  'customer.first_payment',
  'revenue.milestone',
  'pricing.tier_changed',
  'run.completed',
  'run.failed',
  'checkout.paused',
  'pass.created',
  'pass.ending',
  'pass.ended',
  'agent.spending.warning',
  'agent.spending.exceeded',
  'agent.paused',
  'connection.expired',
  'wallet.low_balance',
  'delivery.unconfirmed',
  'delivery.stopped',
  'delivery.exhausted',
  'endpoint.disabled',
] as const
export type EventName = (typeof EVENTS)[number]

/**
 * An endpoint whose events are not sent to an address: a program fetches them by a connection of its own. The rest of
 * the address is the program's name for itself.
 */
export const FETCHED = /^listen:[\w.-]{1,64}$/

/** A delivery as its receiver fetches it: the request that would be sent. */
export interface FetchedDelivery {
  id: string
  /** Grows with every redelivery and replay: streamed again with the same turn, only its confirmation is missing. */
  turn: number
  headers: Readonly<Record<string, string>>
  body: string
}

/** An event for those endpoints of the account that subscribe to it. */
export interface NewEvent {
  id: Id<'evt'>
  owner: Owner
  event: EventName
  data: Readonly<Record<string, unknown>>
  headers?: Readonly<Record<string, string>>
  /** For events that any client can cause; without it every event is sent. */
  bound?: EventBound
}

/** The data that all events about a payment share, for every product. */
export interface PaymentEventData {
  /** Null if it was refused before it became a payment. */
  id: string | null
  checkoutId: string | null
  paywallId: string | null
  /** The payer's address; null if it is unproven. */
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
  /** Of a checkout: how the amount came about. Absent where it was refused before it became a payment. */
  lines?: {
    unit: number
    quantity: number
    subtotal: number
    coupon: string | null
    discount: number
    total: number
  }
  /** With an amount of 0: why nothing was paid. */
  free?: 'pass' | 'trial' | 'coupon'
  /** The pass that was used. */
  passId?: string
}

/** One event per key within a week, and a limited number per hour for one subject. */
export interface EventBound {
  about: string
  key: Buffer
  perHour: number
}

/** An account's own address that receives events. */
export interface Endpoint {
  id: Id<'whe'>
  owner: Owner
  url: string
  events: readonly EventName[]
  status: 'enabled' | 'disabled'
  /** When the current series of failures began; null while it works. */
  failingSince: Date | null
  disabledAt: Date | null
  createdAt: Date
}

export interface Page {
  limit: number
  offset: number
}
