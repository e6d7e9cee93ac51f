import { largest, least, usdc, ZERO, type Usdc } from '../../kit/money.ts'
import type { Content, LanguageModel, Pricing, Usage } from '../model/asset.ts'
import { limitOf } from './run.ts'

/** What a run may come to, decided before it starts. */
export interface Quote {
  /** Whose money is locked: of a free prompt its creator's. */
  payer: 'caller' | 'owner'
  lock: Usdc
  /** The most that the caller can be charged: the lock, or nothing. */
  price: Usdc
}

/** What a run came to. */
export interface Bill {
  /** Taken of the lock, never more than it. */
  charged: Usdc
  /** Of that, what the caller paid. */
  cost: Usdc
  /** The creator's part; what is left is the platform's: the model's own cost and the fee. */
  share: Usdc
}

export interface Terms {
  pricing: Pricing
  /** Of a prompt. */
  model: LanguageModel | null
  /** How long the executor may take. */
  limitMs: number
}

/** The longest and dearest that the run can become. `promptTokens` is what is known of its length. */
export function quote(terms: Terms, promptTokens: number): Quote {
  const { model, limitMs: durationMs } = terms
  const tokens = { promptTokens: withRoom(promptTokens), completionTokens: model?.outputTokensMax ?? 0 }
  const lock = amountOf(terms, { usage: model === null ? null : tokens, durationMs })
  if (!isFree(terms)) return { payer: 'caller', lock, price: lock }
  return { payer: lock === ZERO ? 'caller' : 'owner', lock, price: ZERO }
}

/** The most that a run of an ordinary input costs: what catalogues show, whatever the last one came to. */
export function listedPrice(content: Content, models: readonly LanguageModel[]): Usdc {
  const { pricing } = content
  if (pricing.model === 'free') return ZERO
  const limitMs = limitOf({ content })
  const locks = choicesOf(content, models).map((model) => quote({ pricing, model, limitMs }, longPrompt(content)).lock)
  return largest(ZERO, ...locks)
}

/** The same for buyers without an account, who choose no model: their runs are the default one's. */
export function guestPrice(content: Content, models: readonly LanguageModel[]): Usdc {
  const { config } = content
  return listedPrice(content, config.type === 'prompt' ? models.filter(({ id }) => id === config.defaultModelId) : [])
}

/** The models that a run may choose from; a single null where it has none. */
export function choicesOf({ config }: Content, models: readonly LanguageModel[]): readonly (LanguageModel | null)[] {
  const used = config.type !== 'prompt' ? [] : models.filter(({ id }) => config.allowedModels.includes(id))
  return used.length === 0 ? [null] : used
}

/** Tokens of the template, of which no language needs more than one for three characters on average, and of its inputs. */
function longPrompt({ config }: Content): number {
  if (config.type !== 'prompt') return 0
  return LARGE_INPUT + Math.ceil((config.promptTemplate.length + (config.systemPrompt?.length ?? 0)) / 3)
}

/** Tokens of a long prompt's inputs; an answer is as long as its model writes. */
const LARGE_INPUT = 2_000

export interface Measures {
  usage: Usage | null
  durationMs: number
}

/** The model's own cost goes to the platform first, then its fee of the rest; the creator has what is left. */
export function bill(terms: Terms, lock: Usdc, measures: Measures, feeBps: number): Bill {
  const charged = least(lock, amountOf(terms, measures))
  // Of a free prompt all that was charged is the model's, so its creator gets nothing back.
  if (isFree(terms)) return { charged, cost: ZERO, share: ZERO }
  return { charged, cost: charged, share: shareOf(charged, { ...terms, ...measures }, feeBps) }
}

/** The creator's part of what was charged for a run. */
export function shareOf(
  charged: Usdc,
  { model, usage }: Pick<Terms, 'model'> & Pick<Measures, 'usage'>,
  feeBps: number,
): Usdc {
  const rest = usdc(charged - least(charged, modelCost(model, usage)))
  return usdc(rest - (rest * BigInt(feeBps)) / 10_000n)
}

/** What a vendor takes for this much; a fraction of a micro-dollar counts as one, so that it is never a loss. */
export function modelCost(model: LanguageModel | null, usage: Usage | null): Usdc {
  if (model === null || usage === null) return ZERO
  const parts = BigInt(usage.promptTokens) * model.inputPrice + BigInt(usage.completionTokens) * model.outputPrice
  return usdc(upTo(parts, 1_000_000n))
}

/** The creator's price for it, or the model's own cost where that is more. */
export function amountOf({ pricing, model }: Terms, { usage, durationMs }: Measures): Usdc {
  return largest(priceOf(pricing, usage, durationMs), modelCost(model, usage))
}

function priceOf(pricing: Pricing, usage: Usage | null, durationMs: number): Usdc {
  switch (pricing.model) {
    case 'free':
      return ZERO
    case 'per-run':
      return pricing.amount
    case 'per-token': {
      const tokens = usage === null ? 0 : usage.promptTokens + usage.completionTokens
      return usdc(upTo(BigInt(tokens) * pricing.amount, TOKENS_PRICED))
    }
    case 'per-second':
      return usdc(BigInt(Math.max(1, Math.ceil(durationMs / 1000))) * pricing.amount)
  }
}

const TOKENS_PRICED = 1_000n

/** What a run comes to is known only when it has ended. */
export function isByUse({ pricing }: Pick<Terms, 'pricing'>): boolean {
  return pricing.model === 'per-token' || pricing.model === 'per-second'
}

function isFree({ pricing }: Terms): boolean {
  return pricing.model === 'free'
}

/** Vendors count a few tokens more than the text has: for the frame of a message, and by tokenizers of their own. */
function withRoom(promptTokens: number): number {
  return Math.ceil(promptTokens * 1.25) + 32
}

function upTo(value: bigint, step: bigint): bigint {
  return (value + step - 1n) / step
}
