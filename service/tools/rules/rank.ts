import type { Usdc } from '../../kit/money.ts'
import type { ToolStats } from '../model/tool.ts'

/** The factor for a match besides its words: from 1 for the best tool to about a tenth. */
export function worthOf({ price, deprecated, stats }: Judged): number {
  return successOf(stats) * cheapness(price) * quickness(stats) * (deprecated ? 0.5 : 1)
}

interface Judged {
  price: Usdc
  deprecated: boolean
  stats: ToolStats | null
}

/**
 * The success rate. Each tool gets four additional successes: otherwise a new tool would never be called, and one
 * failure in its first call would rank it last.
 */
function successOf(stats: ToolStats | null): number {
  if (stats === null) return 1
  const rate = (stats.succeeded + 4) / (stats.calls + 4)
  return (stats.failing ? 0.5 : 1) * (0.2 + 0.8 * rate)
}

/**
 * Free is 1, a cent 0.97, a dime 0.83, a dollar 0.66: the right tool at a price is better than a wrong one for free.
 */
function cheapness(price: Usdc): number {
  return 1 / (1 + Number(price) / 50_000) ** 0.15
}

/** Half a second costs almost nothing, ten seconds a fifth. */
function quickness(stats: ToolStats | null): number {
  return stats?.p50Ms == null ? 1 : 1 / (1 + stats.p50Ms / 2_000) ** 0.12
}
