import type { Field } from '../../kit/fields.ts'
import type { Id } from '../../kit/ids.ts'
import type { Usdc } from '../../kit/money.ts'
import type { Environment } from '../../kit/owner.ts'

/** A runnable asset (RDA) as its creator made it, in its present version. */
export interface Asset extends Summary {
  longDescription: string | null
  tags: readonly string[]
  codeSnippet: string | null
  codeLanguage: string | null
  version: string
  /** What others than its owner read of it. Null until it is published. */
  publishedVersion: string | null
  /** All that a run depends on: kept for each version, so that an edit never reaches a run under way. */
  content: Content
  stats: Stats
  owner: Creator
  publishedAt: Date | null
}

/** What a list shows of it. */
export interface Summary {
  id: Id<'rda'>
  environment: Environment
  slug: string
  name: string
  description: string
  type: AssetType
  status: AssetStatus
  verified: boolean
  featured: boolean
  trending: boolean
  coverImage: string | null
  pricing: Pricing
  stats: Pick<Stats, 'totalRuns' | 'averageRating' | 'successRate'>
  owner: Creator
  createdAt: Date
  updatedAt: Date
}

export const ASSET_TYPES = ['prompt', 'agent', 'tool'] as const
export type AssetType = (typeof ASSET_TYPES)[number]

export const ASSET_STATUSES = ['draft', 'published', 'archived'] as const
export type AssetStatus = (typeof ASSET_STATUSES)[number]

export interface Creator {
  /** Ours, for inside. */
  userId: Id<'usr'>
  /** The identity provider's: `ownerId` on the wire. */
  subject: string
  name: string | null
  verified: boolean
}

export interface Content {
  inputs: readonly Field[]
  outputs: Outputs
  config: Config
  pricing: Pricing
  /** Its creator asks to see what customers fill in. Absent where it was saved before there was a choice. */
  sharesInputs?: boolean
}

export const OUTPUT_TYPES = ['markdown', 'text', 'json', 'file'] as const

export interface Outputs {
  type: (typeof OUTPUT_TYPES)[number]
}

export type Config = PromptConfig | AgentConfig | ToolConfig

export interface PromptConfig {
  type: 'prompt'
  promptTemplate: string
  systemPrompt: string | null
  /** Ids of the environment's catalogue, at least one. */
  allowedModels: readonly string[]
  defaultModelId: string
  /** What a reader pays once to see the template: 0 shows it to all, null is not for sale. */
  sourcePrice: Usdc | null
  /** While it is free: how many runs of others its creator pays for in a day. Without one the server's own bound holds. */
  freeRunsPerDay?: number | null
  examples: readonly Example[]
}

/** What its creator shows of it. Only a prompt's names a model. */
export interface Example {
  id: string
  title: string
  inputs: Readonly<Record<string, unknown>>
  output: string
  model: string | null
}

export interface AgentConfig {
  type: 'agent'
  /** Absent where it was saved before agents and tools had some. */
  examples?: readonly Example[]
  webhookUrl: string
  webhookMethod: Method
  webhookHeaders: Sealed
  timeoutSeconds: number
  maxRetries: number
  pollUrl: string | null
  pollIntervalMs: number
  basePrice: Usdc | null
}

export interface ToolConfig {
  type: 'tool'
  examples?: readonly Example[]
  apiEndpoint: string
  apiMethod: Method
  apiHeaders: Sealed
  authType: AuthType
  /** Where an `api_key` goes; null with another type. */
  authHeaderName: string | null
  /** `apiKey`, `token`, or `username` and `password`. */
  authSecrets: Sealed
  requestTransform: string | null
  responseTransform: string | null
  /** Absent where it was saved before there was a choice. */
  timeoutSeconds?: number
  rateLimitPerMinute: number | null
  basePrice: Usdc | null
}

export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
export type Method = (typeof METHODS)[number]

export const AUTH_TYPES = ['none', 'api_key', 'bearer', 'basic'] as const
export type AuthType = (typeof AUTH_TYPES)[number]

/** Texts by name, sealed together by the vault. Names are shown to their creator, texts are never shown. */
export interface Sealed {
  names: readonly string[]
  /** Null when there are none. */
  token: string | null
}

/**
 * `per-run`: `amount` for each. `per-token`: `amount` for 1,000 tokens of both directions.
 * `per-second`: `amount` for each second begun. `free`: nothing.
 */
export interface Pricing {
  model: PricingModel
  amount: Usdc
}

export const PRICING_MODELS = ['per-run', 'per-token', 'per-second', 'free'] as const
export type PricingModel = (typeof PRICING_MODELS)[number]

export interface Stats {
  /** Runs that ended, by success or failure. */
  totalRuns: number
  totalRevenue: Usdc
  /** 0 without ratings. */
  averageRating: number
  totalRatings: number
  /** Percent of `totalRuns`; 0 while there are none. */
  successRate: number
  /** Mean milliseconds of the successful ones. */
  averageLatency: number
}

/** What a paying customer said of an asset. Who it was is for nobody to see. */
export interface Review {
  id: Id<'op'>
  score: number
  text: string
  createdAt: Date
  /** The creator's one answer. */
  reply: string | null
  repliedAt: Date | null
}

/** Characters of a review, and of an answer to it. */
export const REVIEW_LENGTH_MAX = 1_000

/** One version of an asset, as it is executed. */
export interface RunnableAsset {
  id: Id<'rda'>
  environment: Environment
  slug: string
  name: string
  type: AssetType
  status: AssetStatus
  version: string
  ownerId: Id<'usr'>
  content: Content
}

/** A page of the marketplace. */
export interface Listing {
  environment: Environment
  status: AssetStatus
  type: AssetType | null
  verified: boolean
  featured: boolean
  trending: boolean
  /** The identity provider's id of a creator. */
  ownerId: string | null
  /** Words that name or description must have, all of them. */
  search: string | null
  limit: number
  offset: number
}

/** A model of the catalogue; prices are USDC for a million tokens. */
export interface Model {
  id: string
  name: string
  tier: ModelTier
  inputPrice: Usdc
  outputPrice: Usdc
}

export const MODEL_TIERS = ['fast', 'balanced', 'reasoning'] as const
export type ModelTier = (typeof MODEL_TIERS)[number]

/** A line of the model catalogue, with what the running of it needs to know. */
export interface LanguageModel extends Model {
  /** The longest answer that a run asks for; a price's maximum follows from it. */
  outputTokensMax: number
}

/** Tokens that a run used of a model. */
export interface Usage {
  promptTokens: number
  completionTokens: number
}
