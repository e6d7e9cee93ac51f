import { usdc, type Usdc } from '../../kit/money.ts'
import type { Exact, Metered, Pricing, Tier, Window } from '../model.ts'

/** What a signature has to be worth: the price, or the most that a measured call can cost. */
export function chargeOf(pricing: Exact | Metered, tier: number): Usdc {
  switch (pricing.model) {
    case 'per-request':
      return pricing.amount
    case 'tiered':
      return tierOf(pricing.tiers, tier).amount
    case 'per-token':
    case 'per-minute':
      return pricing.maximum
  }
}

export function isMetered(pricing: Pricing): pricing is Metered {
  return pricing.model === 'per-token' || pricing.model === 'per-minute'
}

/** In which tier somebody's next call is who has made so many in this window. */
export function tierAt(tiers: readonly Tier[], calls: number): number {
  const place = tiers.findIndex(({ upTo }) => upTo === null || calls < upTo)
  return place < 0 ? tiers.length - 1 : place
}

/** A customer's calls of a window: those that are paid, and with them those under way. */
export interface Places {
  paid: number
  taken: number
}

/**
 * The tier of somebody's next call. Those under way may end either way, so it is the dearest that the call can be in:
 * whatever is given up later, what was paid is never less than the tiers say for as many calls.
 */
export function nextTier(tiers: readonly Tier[], { paid, taken }: Places): number {
  let dearest = tierAt(tiers, paid)
  const last = tierAt(tiers, taken)
  for (let tier = dearest + 1; tier <= last; tier++) {
    if (tierOf(tiers, tier).amount > tierOf(tiers, dearest).amount) dearest = tier
  }
  return dearest
}

export function tierOf(tiers: readonly Tier[], place: number): Tier {
  const tier = tiers[place]
  if (tier === undefined) throw new Error('a tiered price has no such tier')
  return tier
}

/** When the window began that this moment lies in. */
export function windowStart(window: Window, now: Date): Date {
  const day = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate())
  switch (window) {
    case 'day':
      return new Date(day)
    case 'week':
      return new Date(day - ((now.getUTCDay() + 6) % 7) * DAY_MS)
    case 'month':
      return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1))
    case 'lifetime':
      return new Date(0)
  }
}

const DAY_MS = 86_400_000

export interface Tokens {
  input: number
  output: number
}

/** What a call came to, never beyond its bounds. A fraction of a micro-dollar counts as one. */
export function costOf(pricing: Metered, measured: { tokens: Tokens | null; ms: number }): Usdc {
  return within(
    pricing,
    pricing.model === 'per-token' ? ofTokens(pricing, measured.tokens) : ofTime(pricing, measured.ms),
  )
}

function ofTokens({ input, output }: Extract<Metered, { model: 'per-token' }>, tokens: Tokens | null): bigint {
  if (tokens === null) return 0n
  return upTo(BigInt(tokens.input) * input + BigInt(tokens.output) * output, TOKENS_PRICED)
}

/** As for runs: prices of tokens are said for a thousand of them. */
const TOKENS_PRICED = 1_000n

function ofTime({ amount }: Extract<Metered, { model: 'per-minute' }>, ms: number): bigint {
  return upTo(BigInt(Math.max(1, Math.ceil(ms / 1000))) * amount, 60n)
}

function within({ minimum, maximum }: Metered, cost: bigint): Usdc {
  if (cost < minimum) return minimum
  return cost > maximum ? maximum : usdc(cost)
}

/** How long a measured call may last before its money is used up; null where time costs nothing. */
export function lastsMs(pricing: Metered): number | null {
  if (pricing.model !== 'per-minute') return null
  return Number((pricing.maximum * 60n) / pricing.amount) * 1_000
}

function upTo(value: bigint, step: bigint): bigint {
  return (value + step - 1n) / step
}

/** What is wrong with a price, by field; empty when nothing is. */
export function faultsOfPricing(pricing: Pricing): [field: string, fault: string][] {
  switch (pricing.model) {
    case 'free':
    case 'per-request':
      return []
    case 'tiered':
      return faultsOfTiers(pricing.tiers)
    case 'per-token':
    case 'per-minute': {
      if (pricing.minimum > pricing.maximum) return [['minimum', 'must not be more than maximum']]
      if (pricing.model === 'per-minute' && pricing.maximum * 60n < pricing.amount) {
        return [['maximum', 'must pay for a second at least']]
      }
      return []
    }
  }
}

function faultsOfTiers(tiers: readonly Tier[]): [string, string][] {
  let before = 0
  for (const [place, { upTo: limit }] of tiers.entries()) {
    const last = place === tiers.length - 1
    if (limit === null && !last) return [[`tiers.${String(place)}.upTo`, 'is required for all tiers but the last']]
    if (limit !== null && last) return [[`tiers.${String(place)}.upTo`, 'must be absent in the last tier']]
    if (limit !== null && limit <= before) return [[`tiers.${String(place)}.upTo`, 'must grow from tier to tier']]
    before = limit ?? before
  }
  return []
}
