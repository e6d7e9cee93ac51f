import type { Field } from '../../kit/fields.ts'
import {
  EMPTY_AGENT,
  EMPTY_PROMPT,
  EMPTY_TOOL,
  type AgentConfigInput,
  type AssetDraft,
  type PromptConfigInput,
  type ToolConfigInput,
} from '../model/asset-draft.ts'

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

interface SeedFields extends Pick<AssetDraft, 'slug' | 'name' | 'description' | 'tags' | 'inputs'> {
  featured?: boolean
  longDescription?: string
  pricing?: AssetDraft['pricing']
  outputs?: AssetDraft['outputs']
}

export function prompt({ config, ...fields }: SeedFields & { config: Partial<PromptConfigInput> }): Seed {
  return seedOf('inkwell', { ...fields, type: 'prompt', promptConfig: { ...EMPTY_PROMPT, ...config } })
}

export function agent({ config, ...fields }: SeedFields & { config: Partial<AgentConfigInput> }): Seed {
  return seedOf('fathom', { ...fields, type: 'agent', agentConfig: { ...EMPTY_AGENT, ...config } })
}

export function tool({ config, ...fields }: SeedFields & { config: Partial<ToolConfigInput> }): Seed {
  return seedOf('caliper', { ...fields, type: 'tool', toolConfig: { ...EMPTY_TOOL, ...config } })
}

function seedOf(
  creator: Seed['creator'],
  { featured = false, ...fields }: SeedFields & Pick<AssetDraft, 'type'> & Partial<AssetDraft>,
): Seed {
  const plain = { longDescription: null, coverImage: null, codeSnippet: null, codeLanguage: null, sharesInputs: false }
  const configs = { promptConfig: null, agentConfig: null, toolConfig: null }
  const draft = { outputs: { type: 'markdown' } as const, pricing: null, ...plain, ...configs, ...fields }
  return { creator, featured, draft }
}

export function field(field: Partial<Field> & Pick<Field, 'name' | 'label'>): Field {
  const plain = { type: 'text', required: true, placeholder: null, options: null, description: null } as const
  return { ...plain, default: null, min: null, max: null, pattern: null, ...field }
}
