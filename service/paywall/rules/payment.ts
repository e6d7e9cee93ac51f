import { createHash } from 'node:crypto'
import type { Address } from '../../chain/model.ts'
import { toWire, type Usdc } from '../../kit/money.ts'
import type { Facts, Gate, GateRequest, Offered, Payment, Route } from '../model.ts'
import { chargeOf } from './pricing.ts'
import { keyOf } from './routes.ts'
import type { Price } from './x402.ts'

/** How long what a 402 said is kept to, and a stored answer kept. */
export const HELD_MS = 600_000
/** Longer than an upstream and the chain may take together: nobody takes a payment over that is worked on. */
export const LEASE_MS = 180_000

/** As long as a measured stream may last; one that nobody ends is charged at its minimum then. */
export const HOLD_MS = 3_600_000

/** Of what is asked for, without the body; HEAD and GET ask for different answers. */
export function lineHash(
  paywall: string,
  { method, path, query }: Pick<GateRequest, 'method' | 'path' | 'query'>,
): Buffer {
  return createHash('sha256')
    .update(JSON.stringify([paywall, method, path, query]))
    .digest()
}

export function tokenHash(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

export const TOKEN = /^tok_[A-Za-z0-9_-]{43}$/
export const TEST_TOKEN = /^test_[A-Za-z0-9_-]{1,128}$/

/**
 * All prices that this route may be paid by: today's, and those that were told up to ten minutes ago. Of a tiered
 * price each tier's, since only the payer decides which of them it is.
 */
export function pricesOf(gate: Gate, route: Route): Price[] {
  const key = keyOf(route)
  return [gate as Offered, ...gate.earlier].flatMap(({ routes, recipient, network }): Price[] => {
    const then = routes.find((one) => keyOf(one) === key)
    if (then === undefined || then.pricing.model === 'free' || recipient === null) return []
    const { pricing } = then
    const places = pricing.model === 'tiered' ? pricing.tiers.map((_, place) => place) : [0]
    return places.map((place) => ({ amount: chargeOf(pricing, place), recipient, network }))
  })
}

/** The one that was signed for; today's first where none was, so that the refusal speaks of that. */
export function priceSigned(
  prices: readonly Price[],
  signed: { to: Address; value: bigint; network: string | null },
): Price | null {
  const fits = ({ amount, recipient, network }: Price): boolean =>
    amount === signed.value && recipient === signed.to && network === signed.network
  return prices.find(fits) ?? prices[0] ?? null
}

/** A status worth its price; a redirect may be the very thing that is sold. */
export function isSuccess(status: number): boolean {
  return status >= 100 && status < 400
}

/** When the chain is asked again about a payment that waits for it. */
export function nextResume(createdAt: Date, now: Date): Date {
  return new Date(now.getTime() + Math.min(Math.max((now.getTime() - createdAt.getTime()) / 4, 5_000), 60_000))
}

/** What the owner's endpoints are told of a payment that came in: each fact once, for it is told where it happens. */
export function eventsOf({ payment, customerPayments, revenueBefore, revenue, milestones, tier }: Facts, now: Date) {
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
    // Tiers are counted from 1 where people read of them.
    events.push({ event: 'pricing.tier_changed', data: { ...data, from: tier.from + 1, to: tier.to + 1 } })
  }
  return events
}

type EventName =
  'payment.completed' | 'payment.failed' | 'customer.first_payment' | 'revenue.milestone' | 'pricing.tier_changed'

export function failureOf(payment: Payment, now: Date): { event: EventName; data: Record<string, unknown> } {
  return { event: 'payment.failed', data: { ...dataOf(payment, now), reason: payment.reason } }
}

function dataOf(payment: Payment, now: Date): Record<string, unknown> {
  return {
    id: payment.id,
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
  }
}

/** In their order, each once. */
export function sortedMilestones(milestones: readonly Usdc[]): Usdc[] {
  return [...new Set(milestones)].sort((a, b) => (a < b ? -1 : 1))
}
