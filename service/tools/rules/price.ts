import { usdc, type Usdc } from '../../kit/money.ts'
import type { PriceRule } from '../model/provider.ts'
import type { Upstream } from '../model/tool.ts'

/** What a call costs by its provider's rule: its own price, else its method's, else everybody's. */
export function priceOf(rule: PriceRule, slug: string, upstream: Upstream): Usdc {
  const method = upstream.kind === 'http' ? upstream.method : null
  return own(rule.bySlug, slug) ?? (method === null ? undefined : own(rule.byMethod, method)) ?? rule.otherwise
}

/** Names come from documents: one like `constructor` must not find what every object has. */
function own(prices: Readonly<Record<string, Usdc>> | undefined, name: string): Usdc | undefined {
  return prices !== undefined && Object.hasOwn(prices, name) ? prices[name] : undefined
}

/** A rule with a price for all replaces the one that was there; else it only changes what it names. */
export function repriced(before: PriceRule | null, given: Partial<PriceRule>): PriceRule {
  const { otherwise } = given
  if (otherwise !== undefined) return { ...given, otherwise }
  const { byMethod = {}, bySlug = {} } = { ...before, ...given }
  return {
    otherwise: before?.otherwise ?? STANDARD_PRICE,
    // As it is where it was given without them, so that the same import again is the same.
    ...(Object.keys(byMethod).length === 0 ? {} : { byMethod }),
    ...(Object.keys(bySlug).length === 0 ? {} : { bySlug }),
  }
}

const STANDARD_PRICE = usdc(1_000n)
