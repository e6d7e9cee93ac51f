import { largest, least, toWire, ZERO, type Usdc } from '../../kit/money.ts'
import { withoutTrailing } from '../../kit/text.ts'
import type { Content, LanguageModel } from '../model/asset.ts'
import { amountOf, choicesOf, listedPrice } from './price.ts'
import { limitOf } from './run.ts'

/** What recent runs came to. */
export interface Costs {
  least: Usdc
  most: Usdc
}

/** What a run of an ordinary input costs its caller: as a range for a person to read, and the most. */
export interface Estimate {
  estimatedCost: string
  maxCost: Usdc
}

export function estimate(content: Content, models: readonly LanguageModel[], recent: Costs | null): Estimate {
  if (content.pricing.model === 'free') return { estimatedCost: 'Free', maxCost: ZERO }
  const { least: from, most: maxCost } = rangeOf(content, models, recent)
  return { estimatedCost: from === maxCost ? `${text(from)} USDC` : `${text(from)} - ${text(maxCost)} USDC`, maxCost }
}

/**
 * From what runs cost lately, or what a short one costs, up to the most that a run of an ordinary input can be charged.
 * Its upper end is what `quote` sets aside, so that no charge surprises.
 */
function rangeOf(content: Content, models: readonly LanguageModel[], recent: Costs | null): Costs {
  const { pricing, config } = content
  const dearest = listedPrice(content, models)
  // A new price has no recent runs: those of the old one do not count.
  if (recent !== null && pricing.model !== 'per-run')
    return { least: recent.least, most: largest(recent.most, dearest) }
  const usage = config.type === 'prompt' ? SMALL : null
  const limitMs = limitOf({ content })
  const small = choicesOf(content, models).map((model) =>
    amountOf({ pricing, model, limitMs }, { usage, durationMs: 0 }),
  )
  const [first = ZERO, ...others] = small
  return { least: least(first, ...others), most: dearest }
}

/** Tokens of a short prompt with a short answer. */
const SMALL = { promptTokens: 200, completionTokens: 200 }

/** Never in scientific notation, which `String` has for small numbers. */
function text(amount: Usdc): string {
  const [whole = '', fraction = ''] = toWire(amount).toFixed(6).split('.')
  return `${whole}.${withoutTrailing(fraction, '0').padEnd(2, '0')}`
}
