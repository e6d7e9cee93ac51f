import type { Usdc } from '../../kit/money.ts'
import type { ToolStats } from '../model/tool.ts'

/** What a match is worth besides its words: from 1 for the best down to about a tenth. */
export function worthOf({ price, deprecated, stats }: Judged): number {
  return successOf(stats) * cheapness(price) * quickness(stats) * (deprecated ? 0.5 : 1)
}

interface Judged {
  price: Usdc
  deprecated: boolean
  stats: ToolStats | null
}

/**
 * How often it works. A tool with few calls counts as good, or no new tool would ever be called: four successes are
 * added to each tool's, so that one failure in the first call does not bury it.
 */
function successOf(stats: ToolStats | null): number {
  if (stats === null) return 1
  const rate = (stats.succeeded + 4) / (stats.calls + 4)
  return (stats.failing ? 0.5 : 1) * (0.2 + 0.8 * rate)
}

/** Free is 1, a cent 0.97, a dime 0.83, a dollar 0.66: the right tool at a price is better than a wrong one for nothing. */
function cheapness(price: Usdc): number {
  return 1 / (1 + Number(price) / 50_000) ** 0.15
}

/** Half a second costs next to nothing, ten seconds a fifth. */
function quickness(stats: ToolStats | null): number {
  return stats?.p50Ms == null ? 1 : 1 / (1 + stats.p50Ms / 2_000) ** 0.12
}
