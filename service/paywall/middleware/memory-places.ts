import type { Sale } from '../../sales/model.ts'
import type { Payment, Tier } from '../model.ts'
import { paymentOf } from '../rules/payment.ts'
import { nextTier, tierAt, tierOf } from '../rules/pricing.ts'
import { AnotherTier } from '../service/product.ts'

export type MemoryPlaces = ReturnType<typeof memoryPlaces>

/** How many calls each customer has paid for in the current window of a tiered price. */
export function memoryPlaces() {
  const places = new Map<string, Place>()
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
  function takePlace({ paywallId, route, payer, windowStart, amount }: Payment, tiers: readonly Tier[]): void {
    const key = JSON.stringify([paywallId, route, payer])
    const start = windowStart?.getTime() ?? 0
    const known = places.get(key)
    const place = known?.start === start ? known : { start, taken: 0, paid: 0, tier: known?.tier ?? 0 }
    const tier = nextTier(tiers, place)
    if (tierOf(tiers, tier).amount !== amount) throw new AnotherTier()
    places.set(key, { ...place, taken: place.taken + 1 })
  }

  function free({ paywallId, route, payer, windowStart }: Payment): void {
    const place = places.get(JSON.stringify([paywallId, route, payer]))
    if (windowStart !== null && place?.start === windowStart.getTime())
      place.taken = Math.max(place.taken - 1, place.paid)
  }

  function moved({ paywallId, route, payer, windowStart }: Payment): { from: number; to: number } | null {
    const place = places.get(JSON.stringify([paywallId, route, payer]))
    const tiers = tiersOf.get(JSON.stringify([paywallId, route]))
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
    free,
    moved,
    tier({ paywallId, route, payer, windowStart }: Customer, tiers: readonly Tier[]): number {
      const place = places.get(JSON.stringify([paywallId, route, payer]))
      return nextTier(tiers, place?.start === windowStart.getTime() ? place : { paid: 0, taken: 0 })
    },
  }
}

interface Customer {
  paywallId: string
  route: string
  payer: Payment['payer']
  windowStart: Date
}

interface Place {
  start: number
  taken: number
  paid: number
  tier: number
}
