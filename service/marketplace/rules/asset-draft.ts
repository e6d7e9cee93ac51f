import { TOOL_SECONDS } from './run.ts'
import { usdc, ZERO, type Usdc } from '../../kit/money.ts'
import {
  ASSET_TYPES,
  type Asset,
  type AuthType,
  type Config,
  type Example,
  type Model,
  type ModelTier,
  type Pricing,
  type Sealed,
} from '../model/asset.ts'
import {
  pageOf,
  type AgentConfigInput,
  type AssetDraft,
  type AssetEdit,
  type ExampleInput,
  type PromptConfigInput,
  type SecretsInput,
  type ToolConfigInput,
} from '../model/asset-draft.ts'
import { variablesOf } from './template.ts'

/** The faults of the draft as a whole, by field; each field alone was checked where it came in. */
export function faultsOf(draft: AssetDraft, models: readonly Model[]): Record<string, string> {
  const faults: Record<string, string> = {}
  if (draft.inputs.length === 0) faults['inputSchema'] = 'must have at least one input'
  for (const type of ASSET_TYPES) {
    const name = `${type}Config` as const
    if (type === draft.type && draft[name] === null)
      faults[name] = `is required for ${type === 'agent' ? 'an' : 'a'} ${type}`
    if (type !== draft.type && draft[name] !== null) faults[name] = `is for assets of type ${type} only`
  }
  return { ...faults, ...faultsOfConfig(draft, models), ...faultsOfExamples(draft), ...faultsOfPricing(draft) }
}

function faultsOfConfig(draft: AssetDraft, models: readonly Model[]): Record<string, string> {
  const { type, promptConfig, agentConfig, toolConfig } = draft
  if (type === 'prompt') return promptConfig === null ? {} : faultsOfPrompt(draft, promptConfig, models)
  if (type === 'agent') return agentConfig === null ? {} : faultsOfAgent(agentConfig)
  return toolConfig === null ? {} : faultsOfTool(toolConfig)
}

function faultsOfPrompt(
  draft: AssetDraft,
  config: PromptConfigInput,
  models: readonly Model[],
): Record<string, string> {
  const faults: Record<string, string> = {}
  const known = new Set(models.map(({ id }) => id))
  const offered = [...known].join(', ')
  const { allowedModels, defaultModelId } = config
  if (models.length === 0) return { promptConfig: 'cannot be run: this server has no models in this environment' }
  if (config.promptTemplate === null) faults['promptConfig.promptTemplate'] = 'is required'
  for (const part of ['promptTemplate', 'systemPrompt'] as const) {
    const fault = config[part] === null ? null : faultOfTemplate(config[part], draft)
    if (fault !== null) faults[`promptConfig.${part}`] = fault
  }
  if (allowedModels?.length === 0) faults['promptConfig.allowedModels'] = 'must have at least one model'
  for (const [place, id] of (allowedModels ?? []).entries()) {
    const name = `promptConfig.allowedModels.${String(place)}`
    if (!known.has(id)) faults[name] = `is not a model of this environment: ${offered}`
    else if (allowedModels?.indexOf(id) !== place) faults[name] = 'must not be repeated'
  }
  if (defaultModelId !== null) {
    if (!known.has(defaultModelId)) {
      faults['promptConfig.defaultModelId'] = `is not a model of this environment: ${offered}`
    } else if (allowedModels?.includes(defaultModelId) === false) {
      faults['promptConfig.defaultModelId'] = 'must be one of allowedModels'
    }
  }
  return faults
}

function faultsOfExamples({ inputs, type, ...draft }: AssetDraft): Record<string, string> {
  const faults: Record<string, string> = {}
  const at = `${type}Config` as const
  const names = new Set(inputs.map(({ name }) => name))
  for (const [place, example] of (draft[at]?.examples ?? []).entries()) {
    for (const name of Object.keys(example.inputs)) {
      const field = `${at}.examples.${String(place)}.inputs.${name.slice(0, 64)}`
      if (!names.has(name)) faults[field] = 'is not an input of this asset'
    }
  }
  return faults
}

/** Braces that name no input would reach the model as they are. */
function faultOfTemplate(template: string, { inputs }: AssetDraft): string | null {
  const names = new Set(inputs.map(({ name }) => name))
  const unknown = variablesOf(template).find((name) => !names.has(name))
  if (unknown !== undefined) return `has the variable {{${unknown}}}, which is not in the input schema`
  const [other] = OTHER_BRACES.exec(template) ?? []
  return other === undefined ? null : `has ${other}, which is no variable: variables are written {{name}}`
}

const OTHER_BRACES = /\{\{(?!\s*[A-Za-z_][A-Za-z0-9_]*\s*\}\})[^{}]{0,40}\}?\}?/

function faultsOfAgent(config: AgentConfigInput) {
  const faults: Record<string, string> = {}
  if (config.webhookUrl === null) faults['agentConfig.webhookUrl'] = 'is required'
  // A GET has no body for the run, and nothing that could be signed.
  if (config.webhookMethod === 'GET') faults['agentConfig.webhookMethod'] = 'must be POST, PUT, PATCH or DELETE'
  Object.assign(faults, faultsOfSecrets('agentConfig.webhookHeaders', config.webhookHeaders))
  return faults
}

function faultsOfTool(config: ToolConfigInput) {
  const faults: Record<string, string> = {}
  if (config.apiEndpoint === null) faults['toolConfig.apiEndpoint'] = 'is required'
  Object.assign(faults, faultsOfSecrets('toolConfig.apiHeaders', config.apiHeaders))
  Object.assign(faults, faultsOfSecrets('toolConfig.authConfig', config.authConfig?.secrets ?? null))
  const type = config.authType ?? 'none'
  const names = namesOf(config.authConfig?.secrets ?? null)
  const at = 'toolConfig.authConfig'
  const hasHeader = config.authConfig?.headerName != null
  if (type === 'api_key' && !hasHeader) faults[`${at}.headerName`] = 'is required for api_key'
  if (type !== 'api_key' && hasHeader) faults[`${at}.headerName`] = 'is for api_key only'
  const { required, optional } = AUTH_SECRETS[type]
  for (const name of required) if (!names.includes(name)) faults[`${at}.${name}`] = `is required for ${type}`
  for (const name of names) {
    if (![...required, ...optional].includes(name)) faults[`${at}.${name}`] = `is not for ${type}`
  }
  return faults
}

const AUTH_SECRETS: Readonly<Record<AuthType, { required: readonly string[]; optional: readonly string[] }>> = {
  none: { required: [], optional: [] },
  // The key may also be among the headers.
  api_key: { required: [], optional: ['apiKey'] },
  bearer: { required: ['token'], optional: [] },
  basic: { required: ['username', 'password'], optional: [] },
}

/** A mask stands for the secret that is stored; where none is, the mask would become the secret itself. */
function faultsOfSecrets(at: string, secrets: SecretsInput | null): Record<string, string> {
  const faults: Record<string, string> = {}
  for (const [name, text] of Object.entries(secrets?.texts ?? {})) {
    if (isMask(text) && secrets?.before?.names.includes(name) !== true) {
      faults[`${at}.${name}`] = 'must be the value itself, not its mask'
    }
  }
  return faults
}

export function isMask(text: string): boolean {
  return /^•+$/.test(text)
}

function namesOf(secrets: SecretsInput | null): readonly string[] {
  if (secrets === null) return []
  return secrets.texts === null ? (secrets.before?.names ?? []) : Object.keys(secrets.texts)
}

function faultsOfPricing({ type, pricing }: AssetDraft): Record<string, string> {
  if (pricing === null) return {}
  const { model, amount } = pricing
  if (model === 'per-token' && type !== 'prompt') return { 'pricing.model': 'per-token is for prompts only' }
  if (model === 'per-second' && type === 'prompt') return { 'pricing.model': 'per-second is for agents and tools only' }
  if (model === 'free' && amount !== null && amount !== ZERO) return { 'pricing.amount': 'must be 0 when it is free' }
  if (model !== 'free' && amount === null) return { 'pricing.amount': 'is required' }
  if (model !== 'free' && amount === ZERO) return { 'pricing.amount': 'must be greater than 0 unless model is free' }
  return {}
}

/** The configuration of a draft without faults, with defaults for what was left open. */
export function configOf(draft: AssetDraft, models: readonly Model[], sealed: SealedDeps): Config {
  const { promptConfig, agentConfig, toolConfig } = draft
  switch (draft.type) {
    case 'prompt': {
      if (promptConfig === null) throw new Error('a prompt has a promptConfig')
      const chosen = modelsOf(promptConfig, models)
      return {
        type: 'prompt',
        promptTemplate: promptConfig.promptTemplate ?? '',
        systemPrompt: promptConfig.systemPrompt,
        ...chosen,
        sourcePrice: promptConfig.sourcePrice,
        freeRunsPerDay: promptConfig.freeRunsPerDay,
        examples: numbered(promptConfig.examples),
      }
    }
    case 'agent':
      if (agentConfig === null) throw new Error('an agent has an agentConfig')
      return {
        type: 'agent',
        webhookUrl: agentConfig.webhookUrl ?? '',
        webhookMethod: agentConfig.webhookMethod ?? 'POST',
        webhookHeaders: sealed.headers,
        timeoutSeconds: agentConfig.timeoutSeconds ?? 60,
        maxRetries: agentConfig.maxRetries ?? 2,
        pollUrl: agentConfig.pollUrl,
        pollIntervalMs: agentConfig.pollIntervalMs ?? 2_000,
        basePrice: agentConfig.basePrice,
        examples: numbered(agentConfig.examples),
      }
    case 'tool':
      if (toolConfig === null) throw new Error('a tool has a toolConfig')
      return {
        type: 'tool',
        apiEndpoint: toolConfig.apiEndpoint ?? '',
        apiMethod: toolConfig.apiMethod ?? 'POST',
        apiHeaders: sealed.headers,
        authType: toolConfig.authType ?? 'none',
        authHeaderName: toolConfig.authConfig?.headerName ?? null,
        authSecrets: sealed.auth,
        requestTransform: toolConfig.requestTransform,
        responseTransform: toolConfig.responseTransform,
        timeoutSeconds: toolConfig.timeoutSeconds ?? TOOL_SECONDS,
        rateLimitPerMinute: toolConfig.rateLimitPerMinute,
        basePrice: toolConfig.basePrice,
        examples: numbered(toolConfig.examples),
      }
  }
}

function numbered(examples: readonly ExampleInput[] | null): Example[] {
  return (examples ?? []).map((example, place) => ({ id: `ex_${String(place + 1)}`, ...example }))
}

export interface SealedDeps {
  headers: Sealed
  auth: Sealed
}

function modelsOf({ allowedModels, defaultModelId }: PromptConfigInput, models: readonly Model[]) {
  const [first] = models
  if (first === undefined) throw new Error('the catalogue has no model')
  const allowed = allowedModels ?? [defaultModelId ?? first.id]
  return { allowedModels: allowed, defaultModelId: defaultModelId ?? allowed[0] ?? first.id }
}

/** The draft's price, or the default of its type. */
export function pricingOf(draft: AssetDraft, config: Config, models: readonly Model[]): Pricing {
  if (draft.pricing !== null) return { model: draft.pricing.model, amount: draft.pricing.amount ?? ZERO }
  const amount = config.type === 'prompt' ? tierPrice(config.defaultModelId, models) : (config.basePrice ?? ZERO)
  return amount === ZERO ? { model: 'free', amount } : { model: 'per-run', amount }
}

function tierPrice(modelId: string, models: readonly Model[]): Usdc {
  return TIER_PRICES[models.find(({ id }) => id === modelId)?.tier ?? 'fast']
}

const TIER_PRICES: Readonly<Record<ModelTier, Usdc>> = {
  fast: usdc(20_000n),
  balanced: usdc(50_000n),
  reasoning: usdc(100_000n),
}

/** The present version with the changes laid over it; configurations are merged field by field. */
export function edited(asset: Asset, edit: AssetEdit): AssetDraft {
  const before = toDraft(asset)
  return {
    ...before,
    ...definedOf(edit),
    promptConfig: overlaid(before.promptConfig, withModels(before.promptConfig, edit.promptConfig)),
    agentConfig: withHeaders('webhookHeaders', before.agentConfig, overlaid(before.agentConfig, edit.agentConfig)),
    toolConfig: withAuth(
      before.toolConfig,
      withHeaders('apiHeaders', before.toolConfig, overlaid(before.toolConfig, edit.toolConfig)),
    ),
  }
}

function overlaid<Fields extends object>(
  before: Fields | null,
  edit: Partial<Fields> | null | undefined,
): Fields | null {
  if (edit === undefined || edit === null) return before
  // A configuration of another type: laid over nothing, so that the check finds it and says so.
  return { ...(before ?? ({} as Fields)), ...definedOf(edit) }
}

/** A list of one model follows the default: the list may have been made from it, where it alone was chosen. */
function withModels(before: PromptConfigInput | null, edit: AssetEdit['promptConfig']): AssetEdit['promptConfig'] {
  const isFollowing =
    edit?.defaultModelId !== undefined && edit.allowedModels === undefined && before?.allowedModels?.length === 1
  return isFollowing ? { ...edit, allowedModels: null } : edit
}

/** New headers replace the old ones, which are still needed for masks. */
function withHeaders<Name extends string, Fields extends Record<Name, SecretsInput | null>>(
  name: Name,
  before: Fields | null,
  after: Fields | null,
): Fields | null {
  if (after === null || before === null) return after
  return { ...after, [name]: { texts: after[name]?.texts ?? null, before: before[name]?.before ?? null } }
}

function withAuth(before: ToolConfigInput | null, after: ToolConfigInput | null): ToolConfigInput | null {
  if (after?.authConfig == null || before?.authConfig == null) return after
  const { texts } = after.authConfig.secrets
  return { ...after, authConfig: { ...after.authConfig, secrets: { texts, before: before.authConfig.secrets.before } } }
}

function definedOf<Fields extends object>(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Fields
}

function toDraft(asset: Asset): AssetDraft {
  const { inputs, outputs, pricing, config, sharesInputs = false } = asset.content
  const content = { inputs, outputs, pricing, sharesInputs }
  const rest = { ...pageOf(asset), ...content, promptConfig: null, agentConfig: null, toolConfig: null }
  switch (config.type) {
    case 'prompt':
      return { ...rest, promptConfig: { ...config, freeRunsPerDay: config.freeRunsPerDay ?? null } }
    case 'agent':
      return {
        ...rest,
        agentConfig: {
          ...config,
          webhookHeaders: unchanged(config.webhookHeaders),
          examples: config.examples ?? null,
        },
      }
    case 'tool': {
      const authConfig = { headerName: config.authHeaderName, secrets: unchanged(config.authSecrets) }
      const timeoutSeconds = config.timeoutSeconds ?? null
      return {
        ...rest,
        toolConfig: {
          ...config,
          timeoutSeconds,
          apiHeaders: unchanged(config.apiHeaders),
          authConfig,
          examples: config.examples ?? null,
        },
      }
    }
  }
}

function unchanged(before: Sealed): SecretsInput {
  return { texts: null, before }
}
