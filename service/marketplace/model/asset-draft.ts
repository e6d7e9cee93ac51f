import type { Field } from '../../kit/fields.ts'
import type { Usdc } from '../../kit/money.ts'
import type { AgentConfig, Asset, Example, Outputs, Pricing, PromptConfig, Sealed, ToolConfig } from './asset.ts'

/**
 * An asset as its creator describes it, complete: for an edit, the present version with the changes laid over it.
 */
export interface AssetDraft extends Page {
  inputs: readonly Field[]
  outputs: Outputs
  pricing: PricingInput | null
  sharesInputs: boolean
  promptConfig: PromptConfigInput | null
  agentConfig: AgentConfigInput | null
  toolConfig: ToolConfigInput | null
}

/** What a reader of the marketplace is shown of it. */
export type Page = Pick<
  Asset,
  'slug' | 'type' | 'name' | 'description' | 'longDescription' | 'tags' | 'coverImage' | 'codeSnippet' | 'codeLanguage'
>

export function pageOf(asset: Page): Page {
  const { slug, type, name, description, longDescription, tags, coverImage, codeSnippet, codeLanguage } = asset
  return { slug, type, name, description, longDescription, tags, coverImage, codeSnippet, codeLanguage }
}

/** What an edit may change: absent stays as it is. */
export type AssetEdit = Partial<Omit<AssetDraft, 'slug' | 'type' | 'promptConfig' | 'agentConfig' | 'toolConfig'>> & {
  promptConfig?: Partial<PromptConfigInput> | null
  agentConfig?: Partial<AgentConfigInput> | null
  toolConfig?: Partial<ToolConfigInput> | null
}

/** In a draft of a configuration null is "as usual". */
type Draft<Config, Own extends string = never> = {
  [Name in Exclude<keyof Config, 'type' | Own>]-?: Exclude<Config[Name], undefined> | null
}

export type PricingInput = Omit<Pricing, 'amount'> & { amount: Usdc | null }

export interface PromptConfigInput extends Draft<PromptConfig, 'examples'> {
  examples: readonly ExampleInput[] | null
}

export type ExampleInput = Omit<Example, 'id'>

export interface AgentConfigInput extends Draft<AgentConfig, 'webhookHeaders' | 'examples'> {
  examples: readonly ExampleInput[] | null
  webhookHeaders: SecretsInput | null
}

export interface ToolConfigInput extends Draft<
  ToolConfig,
  'apiHeaders' | 'authHeaderName' | 'authSecrets' | 'examples'
> {
  examples: readonly ExampleInput[] | null
  apiHeaders: SecretsInput | null
  authConfig: AuthInput | null
}

export interface AuthInput {
  headerName: string | null
  secrets: SecretsInput
}

/** New texts by name, over those that were sealed before. */
export interface SecretsInput {
  texts: Readonly<Record<string, string>> | null
  before: Sealed | null
}

/** How a secret looks to those who may not see it. Sent back like this, it stays what it is. */
export const MASK = '••••'

export const EMPTY_PROMPT: PromptConfigInput = {
  promptTemplate: null,
  systemPrompt: null,
  allowedModels: null,
  defaultModelId: null,
  sourcePrice: null,
  freeRunsPerDay: null,
  examples: null,
}

export const EMPTY_AGENT: AgentConfigInput = {
  webhookUrl: null,
  webhookMethod: null,
  webhookHeaders: null,
  timeoutSeconds: null,
  maxRetries: null,
  pollUrl: null,
  pollIntervalMs: null,
  basePrice: null,
  examples: null,
}

export const EMPTY_TOOL: ToolConfigInput = {
  apiEndpoint: null,
  apiMethod: null,
  apiHeaders: null,
  authType: null,
  authConfig: null,
  requestTransform: null,
  responseTransform: null,
  timeoutSeconds: null,
  rateLimitPerMinute: null,
  basePrice: null,
  examples: null,
}
