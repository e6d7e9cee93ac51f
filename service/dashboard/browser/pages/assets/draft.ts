import type { Input } from '../../api/procedures.ts'
import { fromTexts, linesOf, orNull, toAmount, toTexts, type Kinds, type TextsOf } from '../../parts/texts.ts'
import { newField, toFieldDraft, toFields, type FieldDraft } from '../../parts/fields.ts'
import { toExampleDrafts, toExamples, toPromptExamples, type ExampleDraft } from './examples.ts'
import type { Asset } from '../marketplace/RunPanel.tsx'

type Body = Input<'assets.create'>

const PROMPT = {
  promptTemplate: 'text',
  systemPrompt: 'text',
  defaultModelId: 'text',
  sourcePrice: 'number',
  freeRunsPerDay: 'number',
} as const satisfies Kinds<Body['promptConfig']>
const AGENT = {
  webhookUrl: 'text',
  webhookMethod: 'text',
  webhookHeaders: 'headers',
  timeoutSeconds: 'number',
  maxRetries: 'number',
  pollUrl: 'text',
  pollIntervalMs: 'number',
} as const satisfies Kinds<Body['agentConfig']>
const TOOL = {
  apiEndpoint: 'text',
  apiMethod: 'text',
  apiHeaders: 'headers',
  authType: 'text',
  requestTransform: 'text',
  responseTransform: 'text',
  timeoutSeconds: 'number',
  rateLimitPerMinute: 'number',
} as const satisfies Kinds<Body['toolConfig']>
/** The fields of each authentication method. */
const AUTH = {
  none: {},
  api_key: { headerName: 'text', apiKey: 'text' },
  bearer: { token: 'text' },
  basic: { username: 'text', password: 'text' },
} as const satisfies Record<string, Kinds<NonNullable<Body['toolConfig']>['authConfig']>>
const AUTHS = { ...AUTH.api_key, ...AUTH.bearer, ...AUTH.basic }

interface Shown {
  examples: ExampleDraft[]
}

/** An asset as its form holds it. */
export interface Draft extends Pick<Body, 'type'> {
  name: string
  slug: string
  description: string
  longDescription: string
  tags: string
  inputSchema: FieldDraft[]
  sharesInputs: boolean
  outputSchema: NonNullable<Body['outputSchema']>
  pricing: { model: NonNullable<Body['pricing']>['model']; amount: string }
  promptConfig: TextsOf<typeof PROMPT> & Shown
  agentConfig: TextsOf<typeof AGENT> & Shown
  toolConfig: TextsOf<typeof TOOL> & Shown & { authConfig: TextsOf<typeof AUTHS> }
}

export const NEW_DRAFT: Draft = {
  type: 'prompt',
  name: '',
  slug: '',
  description: '',
  longDescription: '',
  tags: '',
  inputSchema: [{ ...newField(), name: 'topic', label: 'Topic' }],
  sharesInputs: false,
  outputSchema: { type: 'markdown' },
  pricing: { model: 'per-run', amount: '0.05' },
  promptConfig: { ...toTexts(PROMPT, null), examples: [] },
  agentConfig: { ...toTexts(AGENT, { webhookMethod: 'POST', timeoutSeconds: 60, maxRetries: 0 }), examples: [] },
  toolConfig: {
    ...toTexts(TOOL, { apiMethod: 'POST', authType: 'none', timeoutSeconds: 25 }),
    authConfig: toTexts(AUTHS, null),
    examples: [],
  },
}

export function toDraft(asset: Asset): Draft {
  const { agentConfig, toolConfig } = NEW_DRAFT
  const examples = toExampleDrafts(asset)
  return {
    type: asset.type,
    name: asset.name,
    slug: asset.slug,
    description: asset.description,
    longDescription: asset.longDescription ?? '',
    tags: asset.tags.join(', '),
    inputSchema: asset.schema.inputs.map(toFieldDraft),
    sharesInputs: asset.sharesInputs,
    outputSchema: asset.schema.outputs,
    pricing: { model: asset.pricing.model, amount: String(asset.pricing.amount) },
    promptConfig: { ...toTexts(PROMPT, asset.promptConfig), examples },
    agentConfig: { ...toTexts(AGENT, asset.agentConfig, { webhookMethod: agentConfig.webhookMethod }), examples },
    toolConfig: {
      ...toTexts(TOOL, asset.toolConfig, { apiMethod: toolConfig.apiMethod, authType: toolConfig.authType }),
      authConfig: toTexts(AUTHS, asset.toolConfig?.authConfig ?? null),
      examples,
    },
  }
}

export function toBody(draft: Draft, before?: Asset): Omit<Body, 'slug' | 'type'> {
  return {
    name: draft.name,
    description: draft.description,
    longDescription: orNull(draft.longDescription),
    tags: linesOf(draft.tags, ','),
    inputSchema: toFields(draft.inputSchema, before?.schema.inputs),
    sharesInputs: draft.sharesInputs,
    outputSchema: draft.outputSchema,
    pricing: {
      model: draft.pricing.model,
      amount: draft.pricing.model === 'free' ? null : toAmount(draft.pricing.amount),
    },
    ...configOf(draft),
  }
}

/** The form's menus only offer values that the body accepts. */
function configOf({ type, inputSchema, promptConfig, agentConfig, toolConfig }: Draft) {
  switch (type) {
    case 'prompt':
      return {
        promptConfig: {
          ...fromTexts(PROMPT, promptConfig),
          examples: toPromptExamples(promptConfig.examples, inputSchema),
        },
      }
    case 'agent': {
      const examples = toExamples(agentConfig.examples, inputSchema)
      return { agentConfig: { ...fromTexts(AGENT, agentConfig), examples } as Body['agentConfig'] }
    }
    case 'tool': {
      const kinds = AUTH[toolConfig.authType as keyof typeof AUTH]
      const authConfig = fromTexts<Kinds<Record<string, unknown>>>(kinds, toolConfig.authConfig)
      const examples = toExamples(toolConfig.examples, inputSchema)
      return { toolConfig: { ...fromTexts(TOOL, toolConfig), authConfig, examples } as Body['toolConfig'] }
    }
  }
}
