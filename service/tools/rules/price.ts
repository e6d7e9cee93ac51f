import type { Usdc } from '../../kit/money.ts'
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
