import { largest, least, toWire, ZERO, type Usdc } from '../../kit/money.ts'
import { withoutTrailing } from '../../kit/text.ts'
import type { Content, LanguageModel } from '../model/asset.ts'
import { amountOf, quote } from './price.ts'
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
  const used = config.type !== 'prompt' ? [] : models.filter(({ id }) => config.allowedModels.includes(id))
  const choices = used.length === 0 ? [null] : used
  const limitMs = limitOf({ content })
  const locks = choices.map((model) => quote({ pricing, model, limitMs }, longPrompt(content)).lock)
  const dearest = largest(ZERO, ...locks)
  // A new price has no recent runs: those of the old one do not count.
  if (recent !== null && pricing.model !== 'per-run')
    return { least: recent.least, most: largest(recent.most, dearest) }
  const usage = config.type === 'prompt' ? SMALL : null
  const small = choices.map((model) => amountOf({ pricing, model, limitMs }, { usage, durationMs: 0 }))
  const [first = ZERO, ...others] = small
  return { least: least(first, ...others), most: dearest }
}

/** Tokens of a short prompt with a short answer, and of a long prompt; an answer is as long as its model writes. */
const SMALL = { promptTokens: 200, completionTokens: 200 }
const LARGE_INPUT = 2_000

/** Tokens of the template, of which no language needs more than one for three characters on average, and of its inputs. */
function longPrompt({ config }: Content): number {
  if (config.type !== 'prompt') return 0
  return LARGE_INPUT + Math.ceil((config.promptTemplate.length + (config.systemPrompt?.length ?? 0)) / 3)
}

/** Never in scientific notation, which `String` has for small numbers. */
function text(amount: Usdc): string {
  const [whole = '', fraction = ''] = toWire(amount).toFixed(6).split('.')
  return `${whole}.${withoutTrailing(fraction, '0').padEnd(2, '0')}`
}
