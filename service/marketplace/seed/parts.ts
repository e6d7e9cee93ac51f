import type { Field } from '../../kit/fields.ts'
import type { Usdc } from '../../kit/money.ts'
import type { AssetDraft, GivenAgentConfig, GivenPromptConfig, GivenToolConfig } from '../model/asset-draft.ts'

/** One of the sandbox's first assets. */
export interface Seed {
  creator: keyof typeof CREATORS
  featured: boolean
  draft: AssetDraft
}

export const CREATORS = {
  inkwell: { subject: 'demo-inkwell', name: 'Inkwell Prompts' },
  fathom: { subject: 'demo-fathom', name: 'Fathom Agents' },
  caliper: { subject: 'demo-caliper', name: 'Caliper Tools' },
} as const

export function page(slug: string, name: string, description: string, tags: readonly string[]) {
  return {
    slug,
    name,
    description,
    tags,
    longDescription: null,
    coverImage: null,
    codeSnippet: null,
    codeLanguage: null,
    outputs: { type: 'markdown' } as AssetDraft['outputs'],
    pricing: null as AssetDraft['pricing'],
    sharesInputs: false,
    promptConfig: null,
    agentConfig: null,
    toolConfig: null,
  }
}

export function field(given: Partial<Field> & Pick<Field, 'name' | 'label'>): Field {
  const plain = { type: 'text', required: true, placeholder: null, options: null, description: null } as const
  return { ...plain, default: null, min: null, max: null, pattern: null, ...given }
}

export function prompt(given: Partial<GivenPromptConfig> & { sourcePrice: Usdc | null }): GivenPromptConfig {
  const plain = { promptTemplate: null, systemPrompt: null, allowedModels: null, defaultModelId: null, examples: null }
  return { ...plain, freeRunsPerDay: null, ...given }
}

export function agent(given: Partial<GivenAgentConfig>): GivenAgentConfig {
  const plain = { webhookUrl: null, webhookMethod: null, webhookHeaders: null, timeoutSeconds: null, maxRetries: null }
  return { ...plain, pollUrl: null, pollIntervalMs: null, basePrice: null, ...given }
}

export function tool(given: Partial<GivenToolConfig>): GivenToolConfig {
  const plain = {
    apiEndpoint: null,
    apiMethod: null,
    apiHeaders: null,
    authType: null,
    authConfig: null,
    basePrice: null,
  }
  const limits = { timeoutSeconds: null, rateLimitPerMinute: null }
  return { ...plain, requestTransform: null, responseTransform: null, ...limits, ...given }
}
