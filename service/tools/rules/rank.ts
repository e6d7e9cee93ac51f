import type { Usdc } from '../../kit/money.ts'
import type { Figures } from '../model/figures.ts'

/** What a match is worth besides its words: from 1 for the best down to about a tenth. */
export function worthOf({ price, deprecated, figures }: Judged): number {
  return successOf(figures) * cheapness(price) * quickness(figures) * (deprecated ? 0.5 : 1)
}

interface Judged {
  price: Usdc
  deprecated: boolean
  figures: Figures | null
}

/**
 * How often it works. What was hardly ever called is taken for good: otherwise nothing new would ever be called. Four
 * successes are added to everybody's, so that one failure in the first call does not bury a tool.
 */
function successOf(figures: Figures | null): number {
  if (figures === null) return 1
  const rate = (figures.succeeded + 4) / (figures.calls + 4)
  return (figures.failing ? 0.5 : 1) * (0.2 + 0.8 * rate)
}

/** Free is 1, a cent 0.97, a dime 0.83, a dollar 0.66: the right tool at a price is better than a wrong one for nothing. */
function cheapness(price: Usdc): number {
  return 1 / (1 + Number(price) / 50_000) ** 0.15
}

/** Half a second costs next to nothing, ten seconds a fifth. */
function quickness(figures: Figures | null): number {
  return figures?.p50Ms == null ? 1 : 1 / (1 + figures.p50Ms / 2_000) ** 0.12
}
