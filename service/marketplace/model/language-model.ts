import type { Model } from './asset.ts'

/** A line of the model catalogue, with what the running of it needs to know. */
export interface LanguageModel extends Model {
  /** The longest answer that a run asks for; a price's maximum follows from it. */
  outputTokensMax: number
}

/** What a run used of a model. */
export interface Usage {
  promptTokens: number
  completionTokens: number
}
