import type { Usdc } from '../../kit/money.ts'
import type { Entry, ToolStats } from '../model/tool.ts'

/** The factor for a match besides its words: from 1 for the best tool to about a tenth. */
export function worthOf({ price, deprecated, stats }: Judged): number {
  return successOf(stats) * cheapness(price) * quickness(stats) * (deprecated ? 0.5 : 1)
}

interface Judged {
  price: Usdc
  deprecated: boolean
  stats: ToolStats | null
}

/** A match as a number from 0 to 1. `relative` is its score by what the rarest words of the query could give. */
export function fitOf(relative: number): number {
  return relative / (relative + HALF)
}

/**
 * Below this fit a tool probably does something else. Of 583 tasks, 91 % have a tool above it; of 292 tasks that no tool
 * of the catalogue can do, 57 % have none.
 */
export const FITS = 0.5
const HALF = 0.53

/** Of two equal matches the one that changes less comes first. */
export const CAUTION = { read: 0, write: 1, delete: 2 } as const satisfies Record<Entry['effect'], number>

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
