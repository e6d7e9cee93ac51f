import { createHash } from 'node:crypto'
import type { PaymentEventData } from '../../deliveries/model.ts'
import { toWire, usdc, type Usdc } from '../../kit/money.ts'
import type { Exact, Facts, Gate, GateRequest, Metered, Offered, Payment, Route } from '../model.ts'
import type { Sale } from '../../sales/model.ts'
import { chargeOf, isMetered } from './pricing.ts'
import { keyOf } from './routes.ts'
import type { Address } from '../../chain/model.ts'
import type { NetworkName } from '../../chain/networks.ts'

/** How long a 402's terms stay valid and a stored answer is kept. */
export const HELD_MS = 600_000
/** The maximum duration of a measured stream. A stream that no process ends is charged its minimum then. */
export const HOLD_MS = 3_600_000

/** Identifies the request without its body; HEAD and GET differ, because they have different answers. */
export function lineHash(
  paywall: string,
  { method, path, query }: Pick<GateRequest, 'method' | 'path' | 'query'>,
): Buffer {
  return createHash('sha256')
    .update(JSON.stringify([paywall, method, path, query]))
    .digest()
}

/** Identifies what a wallet has paid for, where it may sign in instead of paying again. Test money pays for no other. */
export function passHash(paywall: string, network: NetworkName, { method, path }: Line): Buffer {
  return createHash('sha256')
    .update(JSON.stringify(['pass', paywall, network, method, path]))
    .digest()
}

type Line = Pick<GateRequest, 'method' | 'path'>

/** The longest time after a payment in which its payer may sign in. */
export const SIGN_IN_MS_MAX = 30 * 86_400_000

/** The hash of an empty body. */
export const NO_BODY_HASH = createHash('sha256').digest()

export const TEST_TOKEN = /^test_[A-Za-z0-9_-]{1,128}$/

/** The terms to sign. */
interface Price {
  amount: Usdc
  recipient: Address
  network: NetworkName
}

/**
 * All prices that are valid for this route: the current one, and those offered in the last ten minutes. For a tiered
 * price the price of every tier, since the tier depends on the payer. Test networks and real money never mix, and what fills
 * a balance pays no fixed price: after a switch between them, earlier offers end at once.
 */
export function pricesOf(gate: Gate, route: Route): Price[] {
  const key = keyOf(route)
  const { network } = gate
  const offered = [gate as Offered, ...gate.earlier.filter((earlier) => earlier.network === network)]
  return offered.flatMap(({ routes, recipient }): Price[] => {
    const then = routes.find((one) => keyOf(one) === key)
    if (then === undefined || then.pricing.model === 'free' || recipient === null) return []
    const { pricing } = then
    if (isMetered(pricing) !== isMetered(route.pricing)) return []
    const places = pricing.model === 'tiered' ? pricing.tiers.map((_, place) => place) : [0]
    return places.map((place) => ({ amount: chargeOf(pricing, place), recipient, network }))
  })
}

/** The signed price. `part`: less than a measured call's maximum, to be added to the balance. */
export interface SignedPrice extends Price {
  part: boolean
}

/** The price that was signed. If none matches, the first current one, so that the refusal refers to it. */
export function priceSigned(
  prices: readonly Price[],
  signed: { to: Address | null; value: bigint; network: string | null },
  measured: boolean,
): SignedPrice | null {
  const theirs = prices.filter(({ recipient, network }) => recipient === signed.to && network === signed.network)
  const whole = theirs.find(({ amount }) => amount === signed.value)
  if (whole !== undefined) return { ...whole, part: false }
  const larger = measured && signed.value > 0n ? theirs.find(({ amount }) => amount > signed.value) : undefined
  if (larger !== undefined) return { ...larger, amount: usdc(signed.value), part: true }
  return prices[0] === undefined ? null : { ...prices[0], part: false }
}

/** A status that is charged for; a redirect may be the product. */
export function isSuccess(status: number): boolean {
  return status >= 100 && status < 400
}

/** A gate's own fields of a sale. */
interface Details {
  kind: Payment['kind']
  route: string
  endpoint: string
  windowStart: Date | null
  cost: Usdc | null
  /** It pays for its call only together with the balance at that time. */
  part?: boolean
  /** The hash of what its payer may sign in to. Absent when the route has no sign-in. */
  pass?: string
}

export function detailsOf({ windowStart, cost, ...rest }: Details): Sale['details'] {
  return { ...rest, windowStart: windowStart?.toISOString() ?? null, cost: cost === null ? null : String(cost) }
}

/** What the payer of this sale may sign in to. Null for a route without a sign-in. */
export function passIn({ details }: Pick<Sale, 'details'>): Buffer | null {
  const { pass } = details
  return typeof pass === 'string' ? Buffer.from(pass, 'hex') : null
}

/** A sale as the gate's payment. */
export function paymentOf(sale: Sale): Payment {
  const { amount, refunded, network, recipient, payer, simulated, txHash, reason, createdAt, endedAt, handover } = sale
  if (sale.userId === null) throw new Error('the sale of a paywall has no owner')
  const { kind, route, endpoint, windowStart, cost } = sale.details as Record<'route' | 'endpoint', string> & {
    kind: Payment['kind']
    windowStart: string | null
    cost: string | null
  }
  return {
    id: sale.id as Payment['id'],
    paywallId: sale.subject as Payment['paywallId'],
    owner: { userId: sale.userId, environment: sale.environment },
    kind,
    route,
    endpoint,
    amount,
    refunded,
    network,
    recipient,
    payer,
    simulated,
    txHash,
    reason,
    createdAt,
    endedAt,
    state: STATES[sale.state],
    windowStart: windowStart === null ? null : new Date(windowStart),
    cost: cost === null ? null : usdc(BigInt(cost)),
    delivery: handover === 'expired' ? 'none' : handover,
  }
}

/** How a sale's call is measured. Null where a fixed price was paid for it, though the route may be measured by now. */
export function meteredBy({ kind, cost }: Pick<Payment, 'kind' | 'cost'>, pricing: Exact | Metered): Metered | null {
  // What was taken of a permit is a fixed price that was measured.
  return isMetered(pricing) && (kind === 'balance' || cost !== null) ? pricing : null
}

const STATES = {
  claimed: 'calling',
  released: 'released',
  held: 'calling',
  settling: 'settling',
  paid: 'paid',
  failed: 'failed',
  refunded: 'paid',
} as const satisfies Record<Sale['state'], Payment['state']>

/** The events of an incoming payment for the owner's endpoints. Each fact is reported once, where it happens. */
export function eventsOf(facts: Omit<Facts, 'payment'> & { payment: EventPayment }, now: Date) {
  const { payment, customerPayments, revenueBefore, revenue, milestones, tier } = facts
  const data = dataOf(payment, now)
  const events: { event: EventName; data: Record<string, unknown> }[] = [{ event: 'payment.completed', data }]
  if (payment.simulated) return events
  if (customerPayments === 1) events.push({ event: 'customer.first_payment', data })
  for (const milestone of milestones) {
    if (revenueBefore < milestone && milestone <= revenue) {
      events.push({
        event: 'revenue.milestone',
        data: { ...data, milestone: toWire(milestone), revenue: toWire(revenue) },
      })
    }
  }
  if (tier !== null) {
    // In events tiers are numbered from 1.
    events.push({ event: 'pricing.tier_changed', data: { ...data, from: tier.from + 1, to: tier.to + 1 } })
  }
  return events
}

type EventName =
  'payment.completed' | 'payment.failed' | 'customer.first_payment' | 'revenue.milestone' | 'pricing.tier_changed'

/** The fields of a payment that events use. */
export type EventPayment = Pick<
  Payment,
  'id' | 'paywallId' | 'payer' | 'amount' | 'endpoint' | 'route' | 'network' | 'txHash' | 'simulated' | 'reason'
>

/** The same of an authorization that may have been refused before it became a payment. */
type FailedPayment = Omit<EventPayment, 'id' | 'payer'> & {
  id: Payment['id'] | null
  payer: Payment['payer'] | null
}

export function failureOf(payment: FailedPayment, now: Date): { event: EventName; data: Record<string, unknown> } {
  return { event: 'payment.failed', data: { ...dataOf(payment, now), reason: payment.reason } }
}

function dataOf(payment: FailedPayment, now: Date): Record<string, unknown> {
  return {
    id: payment.id,
    checkoutId: null,
    paywallId: payment.paywallId,
    customerId: payment.payer,
    amount: toWire(payment.amount),
    currency: 'USDC',
    endpoint: payment.endpoint,
    route: payment.route,
    network: payment.network,
    txHash: payment.txHash,
    at: now.toISOString(),
    ...(payment.simulated ? { test: true } : {}),
  } satisfies PaymentEventData
}

/** In ascending order, without duplicates. */
export function sortedMilestones(milestones: readonly Usdc[]): Usdc[] {
  return [...new Set(milestones)].sort((a, b) => (a < b ? -1 : 1))
}
