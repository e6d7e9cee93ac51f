import type { Field } from '../../kit/fields.ts'
import type { Usdc } from '../../kit/money.ts'
import type { AssetType, AuthType, Example, Method, Outputs, PricingModel, Sealed } from './asset.ts'

/**
 * An asset as its creator describes it, whole: of an edit, what is there with what was given laid over it. In the three
 * configurations null is "as usual".
 */
export interface AssetDraft {
  slug: string
  type: AssetType
  name: string
  description: string
  longDescription: string | null
  tags: readonly string[]
  coverImage: string | null
  codeSnippet: string | null
  codeLanguage: string | null
  inputs: readonly Field[]
  outputs: Outputs
  pricing: GivenPricing | null
  sharesInputs: boolean
  promptConfig: GivenPromptConfig | null
  agentConfig: GivenAgentConfig | null
  toolConfig: GivenToolConfig | null
}

/** What an edit may change: absent stays as it is. */
export type AssetEdit = Partial<Omit<AssetDraft, 'slug' | 'type' | 'promptConfig' | 'agentConfig' | 'toolConfig'>> & {
  promptConfig?: Partial<GivenPromptConfig> | null
  agentConfig?: Partial<GivenAgentConfig> | null
  toolConfig?: Partial<GivenToolConfig> | null
}

export interface GivenPricing {
  model: PricingModel
  amount: Usdc | null
}

export interface GivenPromptConfig {
  promptTemplate: string | null
  systemPrompt: string | null
  allowedModels: readonly string[] | null
  defaultModelId: string | null
  sourcePrice: Usdc | null
  freeRunsPerDay: number | null
  examples: readonly GivenExample[] | null
}

export type GivenExample = Omit<Example, 'id'>

export interface GivenAgentConfig {
  webhookUrl: string | null
  webhookMethod: Method | null
  webhookHeaders: GivenSecrets | null
  timeoutSeconds: number | null
  maxRetries: number | null
  pollUrl: string | null
  pollIntervalMs: number | null
  basePrice: Usdc | null
}

export interface GivenToolConfig {
  apiEndpoint: string | null
  apiMethod: Method | null
  apiHeaders: GivenSecrets | null
  authType: AuthType | null
  authConfig: GivenAuth | null
  requestTransform: string | null
  responseTransform: string | null
  timeoutSeconds: number | null
  rateLimitPerMinute: number | null
  basePrice: Usdc | null
}

export interface GivenAuth {
  headerName: string | null
  secrets: GivenSecrets
}

/** Texts by name as they were given, over those that were sealed before. */
export interface GivenSecrets {
  given: Readonly<Record<string, string>> | null
  before: Sealed | null
}

/** What a secret looks like to those who may not see it. Given back as it was shown, it stays what it is. */
export const MASK = '••••'
