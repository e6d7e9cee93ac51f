import type { Sale } from '../../sales/model.ts'
import type { Payment, Tier } from '../model.ts'
import type { Place } from '../ports.ts'
import { paymentOf } from '../rules/payment.ts'
import { nextTier, tierAt, tierOf } from '../rules/pricing.ts'
import { AnotherTier } from '../service/product.ts'

export type MemoryPlaces = ReturnType<typeof memoryPlaces>

/** How many calls each customer has paid for in the current window of a tiered price. */
export function memoryPlaces() {
  const places = new Map<string, Counts>()
  const tiersOf = new Map<string, readonly Tier[]>()

  /** As in the gateway, this runs in the claim, and again when a released payment is claimed anew. */
  function claim(sale: Sale, note: unknown): void {
    const tiers = note as readonly Tier[] | null
    if (tiers === null) return
    const payment = paymentOf(sale)
    tiersOf.set(JSON.stringify([payment.paywallId, payment.route]), tiers)
    takePlace(payment, tiers)
  }

  /** A call keeps its place in the window until it is released. */
  function takePlace(payment: Payment, tiers: readonly Tier[]): void {
    const key = keyOf(payment)
    const start = payment.windowStart?.getTime() ?? 0
    const known = places.get(key)
    const place = known?.start === start ? known : { start, taken: 0, paid: 0, tier: known?.tier ?? 0 }
    const tier = nextTier(tiers, place)
    if (tierOf(tiers, tier).amount !== payment.amount) throw new AnotherTier()
    places.set(key, { ...place, taken: place.taken + 1 })
  }

  /** At the price that was agreed, whichever tier would be next. */
  function takeAgain({ windowStart, ...payment }: Payment): void {
    const place = places.get(keyOf(payment))
    if (windowStart !== null && place?.start === windowStart.getTime()) place.taken += 1
  }

  function free({ windowStart, ...payment }: Payment): void {
    const place = places.get(keyOf(payment))
    if (windowStart !== null && place?.start === windowStart.getTime())
      place.taken = Math.max(place.taken - 1, place.paid)
  }

  function moved({ windowStart, ...payment }: Payment): { from: number; to: number } | null {
    const place = places.get(keyOf(payment))
    const tiers = tiersOf.get(JSON.stringify([payment.paywallId, payment.route]))
    if (windowStart === null || place?.start !== windowStart.getTime() || tiers === undefined) return null
    place.paid += 1
    place.taken = Math.max(place.taken, place.paid)
    const to = tierAt(tiers, place.paid)
    const from = place.tier
    place.tier = to
    return from === to ? null : { from, to }
  }

  return {
    claim,
    takeAgain,
    free,
    moved,
    tier({ windowStart, ...customer }: Place, tiers: readonly Tier[]): number {
      const place = places.get(keyOf(customer))
      return nextTier(tiers, place?.start === windowStart.getTime() ? place : { paid: 0, taken: 0 })
    },
  }
}

function keyOf({ paywallId, network, route, payer }: Omit<Place, 'windowStart'>): string {
  return JSON.stringify([paywallId, network, route, payer])
}

interface Counts {
  start: number
  taken: number
  paid: number
  tier: number
}
