import type { Input } from '../../api/ask.ts'
import type { Asset } from '../marketplace/RunPanel.tsx'
import { toAmount } from '../wallet/AddFunds.tsx'

/*
 * An asset as its form holds it: every value a text, under the names of the API's body, so that what the service says
 * of a field finds it.
 */
export interface Draft {
  type: Asset['type']
  name: string
  slug: string
  description: string
  longDescription: string
  tags: string
  inputSchema: DraftInput[]
  sharesInputs: boolean
  outputSchema: { type: Asset['schema']['outputs']['type'] }
  pricing: { model: Asset['pricing']['model']; amount: string }
  promptConfig: {
    promptTemplate: string
    systemPrompt: string
    defaultModelId: string
    sourcePrice: string
    freeRunsPerDay: string
  }
  agentConfig: {
    webhookUrl: string
    webhookMethod: Method
    webhookHeaders: string
    timeoutSeconds: string
    maxRetries: string
    pollUrl: string
    pollIntervalMs: string
  }
  toolConfig: {
    apiEndpoint: string
    apiMethod: Method
    apiHeaders: string
    authType: NonNullable<NonNullable<Asset['toolConfig']>['authType']>
    authConfig: { headerName: string; apiKey: string; token: string; username: string; password: string }
    requestTransform: string
    responseTransform: string
    timeoutSeconds: string
    rateLimitPerMinute: string
  }
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export interface DraftInput {
  name: string
  label: string
  type: Asset['schema']['inputs'][number]['type']
  required: boolean
  placeholder: string
  options: string
  description: string
}

export const NEW_INPUT: DraftInput = {
  name: '',
  label: '',
  type: 'text',
  required: true,
  placeholder: '',
  options: '',
  description: '',
}

export const NEW_DRAFT: Draft = {
  type: 'prompt',
  name: '',
  slug: '',
  description: '',
  longDescription: '',
  tags: '',
  inputSchema: [{ ...NEW_INPUT, name: 'topic', label: 'Topic' }],
  sharesInputs: false,
  outputSchema: { type: 'markdown' },
  pricing: { model: 'per-run', amount: '0.05' },
  promptConfig: { promptTemplate: '', systemPrompt: '', defaultModelId: '', sourcePrice: '', freeRunsPerDay: '' },
  agentConfig: {
    ...{ webhookUrl: '', webhookMethod: 'POST', webhookHeaders: '', timeoutSeconds: '60', maxRetries: '0' },
    ...{ pollUrl: '', pollIntervalMs: '' },
  },
  toolConfig: {
    ...{ apiEndpoint: '', apiMethod: 'POST', apiHeaders: '', authType: 'none' },
    authConfig: { headerName: '', apiKey: '', token: '', username: '', password: '' },
    ...{ requestTransform: '', responseTransform: '', timeoutSeconds: '25', rateLimitPerMinute: '' },
  },
}

export function toDraft(asset: Asset): Draft {
  const { promptConfig: prompt, agentConfig: agent, toolConfig: tool } = asset
  return {
    type: asset.type,
    name: asset.name,
    slug: asset.slug,
    description: asset.description,
    longDescription: asset.longDescription ?? '',
    tags: asset.tags.join(', '),
    inputSchema: asset.schema.inputs.map((input) => ({
      name: input.name,
      label: input.label,
      type: input.type,
      required: input.required,
      placeholder: input.placeholder ?? '',
      options: (input.options ?? []).join('\n'),
      description: input.description ?? '',
    })),
    sharesInputs: asset.sharesInputs,
    outputSchema: asset.schema.outputs,
    pricing: { model: asset.pricing.model, amount: String(asset.pricing.amount) },
    promptConfig: {
      promptTemplate: prompt?.promptTemplate ?? '',
      systemPrompt: prompt?.systemPrompt ?? '',
      defaultModelId: prompt?.defaultModelId ?? '',
      sourcePrice: textOf(prompt?.sourcePrice),
      freeRunsPerDay: textOf(prompt?.freeRunsPerDay),
    },
    agentConfig: {
      webhookUrl: agent?.webhookUrl ?? '',
      webhookMethod: agent?.webhookMethod ?? 'POST',
      webhookHeaders: linesOf(agent?.webhookHeaders),
      timeoutSeconds: textOf(agent?.timeoutSeconds),
      maxRetries: textOf(agent?.maxRetries),
      pollUrl: agent?.pollUrl ?? '',
      pollIntervalMs: textOf(agent?.pollIntervalMs),
    },
    toolConfig: {
      apiEndpoint: tool?.apiEndpoint ?? '',
      apiMethod: tool?.apiMethod ?? 'POST',
      apiHeaders: linesOf(tool?.apiHeaders),
      authType: tool?.authType ?? 'none',
      authConfig: { ...NEW_DRAFT.toolConfig.authConfig, ...tool?.authConfig },
      requestTransform: tool?.requestTransform ?? '',
      responseTransform: tool?.responseTransform ?? '',
      timeoutSeconds: textOf(tool?.timeoutSeconds),
      rateLimitPerMinute: textOf(tool?.rateLimitPerMinute),
    },
  }
}

type Body = Input<'assets.create'>

export function toBody(draft: Draft, before?: Asset): Omit<Body, 'slug' | 'type'> {
  const kept = new Map(before?.schema.inputs.map((input) => [input.name, input]))
  return {
    name: draft.name,
    description: draft.description,
    longDescription: orNull(draft.longDescription),
    tags: draft.tags
      .split(',')
      .map((tag) => tag.trim())
      .filter((tag) => tag !== ''),
    inputSchema: draft.inputSchema.map((input) => {
      const { default: given = null, min = null, max = null, pattern = null } = kept.get(input.name) ?? {}
      // What this form does not show of an input made over the API stays as it is.
      const unseen = kept.get(input.name)?.type === input.type ? { default: given, min, max, pattern } : {}
      return {
        ...unseen,
        name: input.name,
        label: input.label,
        type: input.type,
        required: input.required,
        placeholder: orNull(input.placeholder),
        description: orNull(input.description),
        options:
          input.type === 'select'
            ? input.options
                .split('\n')
                .map((text) => text.trim())
                .filter((text) => text !== '')
            : null,
      }
    }),
    sharesInputs: draft.sharesInputs,
    outputSchema: draft.outputSchema,
    pricing: {
      model: draft.pricing.model,
      amount: draft.pricing.model === 'free' ? null : toAmount(draft.pricing.amount),
    },
    ...configOf(draft),
  }
}

function configOf({
  type,
  promptConfig,
  agentConfig,
  toolConfig,
}: Draft): Pick<Body, 'promptConfig' | 'agentConfig' | 'toolConfig'> {
  switch (type) {
    case 'prompt':
      return {
        promptConfig: {
          promptTemplate: orNull(promptConfig.promptTemplate),
          systemPrompt: orNull(promptConfig.systemPrompt),
          defaultModelId: orNull(promptConfig.defaultModelId),
          sourcePrice: numberOf(promptConfig.sourcePrice),
          freeRunsPerDay: numberOf(promptConfig.freeRunsPerDay),
        },
      }
    case 'agent':
      return {
        agentConfig: {
          webhookUrl: orNull(agentConfig.webhookUrl),
          webhookMethod: agentConfig.webhookMethod,
          webhookHeaders: toHeaders(agentConfig.webhookHeaders),
          timeoutSeconds: numberOf(agentConfig.timeoutSeconds),
          maxRetries: numberOf(agentConfig.maxRetries),
          pollUrl: orNull(agentConfig.pollUrl),
          pollIntervalMs: numberOf(agentConfig.pollIntervalMs),
        },
      }
    case 'tool': {
      const { authType, authConfig: auth } = toolConfig
      return {
        toolConfig: {
          apiEndpoint: orNull(toolConfig.apiEndpoint),
          apiMethod: toolConfig.apiMethod,
          apiHeaders: toHeaders(toolConfig.apiHeaders),
          authType,
          authConfig: {
            ...(authType === 'api_key' ? { headerName: orNull(auth.headerName), apiKey: orNull(auth.apiKey) } : {}),
            ...(authType === 'bearer' ? { token: orNull(auth.token) } : {}),
            ...(authType === 'basic' ? { username: orNull(auth.username), password: orNull(auth.password) } : {}),
          },
          requestTransform: orNull(toolConfig.requestTransform),
          responseTransform: orNull(toolConfig.responseTransform),
          timeoutSeconds: numberOf(toolConfig.timeoutSeconds),
          rateLimitPerMinute: numberOf(toolConfig.rateLimitPerMinute),
        },
      }
    }
  }
}

function orNull(text: string): string | null {
  return text.trim() === '' ? null : text
}

function numberOf(text: string): number | null {
  return text.trim() === '' ? null : toAmount(text)
}

function textOf(value: number | null | undefined): string {
  return value === null || value === undefined ? '' : String(value)
}

function linesOf(headers: Readonly<Record<string, string>> | null | undefined): string {
  return Object.entries(headers ?? {})
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')
}

function toHeaders(lines: string): Record<string, string> {
  return Object.fromEntries(
    lines
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => {
        const at = line.indexOf(':')
        return at === -1 ? [line.trim(), ''] : [line.slice(0, at).trim(), line.slice(at + 1).trim()]
      }),
  )
}

/** What an address may be called like, from a name. */
export function slugOf(name: string): string {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[\u0300-\u036f]/g, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 100)
}
