import { usdc, type Usdc } from '../../kit/money.ts'
import type { Exact, Metered, Pricing, Tier, Window } from '../model.ts'

/** The amount to sign for: the price, or the maximum cost of a measured call. */
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

/** The tier of a customer's next call after so many calls in this window. */
export function tierAt(tiers: readonly Tier[], calls: number): number {
  const place = tiers.findIndex(({ upTo }) => upTo === null || calls < upTo)
  return place < 0 ? tiers.length - 1 : place
}

/** A customer's calls in a window: `paid` counts the paid ones, `taken` also those under way. */
export interface Places {
  paid: number
  taken: number
}

/**
 * The tier of a customer's next call. Calls under way may succeed or fail, so this is the most expensive tier that the
 * call can be in: even if some are released later, the customer never pays less than the tiers require for that many
 * calls.
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

/** The start of the window that contains this moment. */
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

/** The cost of a call, within its bounds. Fractions of a micro-dollar are rounded up. */
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

/** As for runs, token prices are per thousand tokens. */
const TOKENS_PRICED = 1_000n

function ofTime({ amount }: Extract<Metered, { model: 'per-minute' }>, ms: number): bigint {
  return upTo(BigInt(Math.max(1, Math.ceil(ms / 1000))) * amount, 60n)
}

function within({ minimum, maximum }: Metered, cost: bigint): Usdc {
  if (cost < minimum) return minimum
  return cost > maximum ? maximum : usdc(cost)
}

/** How long a measured call may last before its money is used up; null if time is not charged. */
export function lastsMs(pricing: Metered): number | null {
  if (pricing.model !== 'per-minute') return null
  return Number((pricing.maximum * 60n) / pricing.amount) * 1_000
}

function upTo(value: bigint, step: bigint): bigint {
  return (value + step - 1n) / step
}

/** The faults of a price, by field; empty when there are none. */
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
        return [['maximum', 'must pay for at least one second']]
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
    if (limit !== null && limit <= before) return [[`tiers.${String(place)}.upTo`, 'must increase from tier to tier']]
    before = limit ?? before
  }
  return []
}
