import { DomainError, invalid } from '../../kit/errors.ts'
import { least, toWire, type Usdc } from '../../kit/money.ts'
import { amount } from '../../kit/wire.ts'

/** How a call over MCP says the most that it may cost: its arguments are the tool's own. */
const MAX_COST_META = 'coinslot/max-cost'

/**
 * The lower of what the call and its arguments name; null where neither names any. Throws where it cannot be read: such a
 * call must not be charged without a bound.
 */
export function maxCostIn(
  meta: Readonly<Record<string, unknown>> | undefined,
  argument: Usdc | null = null,
): Usdc | null {
  const named = meta?.[MAX_COST_META]
  if (named === undefined) return argument
  const read = amount.safeParse(named)
  if (read.success) return argument === null ? read.data : least(read.data, argument)
  throw invalid({ [MAX_COST_META]: read.error.issues[0]?.message ?? 'must be a number' })
}

/** The buyer's bound: nothing is bought that costs more. Null: the call has none. */
export function assertMaxCost(price: Usdc, maxCost: Usdc | null): void {
  if (maxCost === null || price <= maxCost) return
  throw new DomainError(
    'unaffordable',
    'max_cost_exceeded',
    'This costs more than maxCost. Raise maxCost and call again.',
    {
      required: toWire(price),
      maxCost: toWire(maxCost),
    },
  )
}

/** What is sold, without terms for a buyer whose bound is lower. */
export function withinMaxCost<Sold extends { offer(): Promise<{ amount: Usdc }> }>(
  counter: Sold,
  maxCost: Usdc | null,
): Sold {
  if (maxCost === null) return counter
  return {
    ...counter,
    async offer() {
      const offer = await counter.offer()
      assertMaxCost(offer.amount, maxCost)
      return offer
    },
  }
}
