import { TOOL_SECONDS } from './run.ts'
import { usdc, ZERO, type Usdc } from '../../kit/money.ts'
import type { Asset, AuthType, Config, Model, ModelTier, Pricing, Sealed } from '../model/asset.ts'
import type {
  AssetDraft,
  AssetEdit,
  GivenAgentConfig,
  GivenPromptConfig,
  GivenSecrets,
  GivenToolConfig,
} from '../model/asset-draft.ts'
import { variablesOf } from './template.ts'

/** What is wrong with the draft as a whole, by field; what each field alone must be was checked where it came in. */
export function faultsOf(draft: AssetDraft, models: readonly Model[]): Record<string, string> {
  const faults: Record<string, string> = {}
  if (draft.inputs.length === 0) faults['inputSchema'] = 'must have at least one input'
  for (const type of ['prompt', 'agent', 'tool'] as const) {
    const name = `${type}Config` as const
    if (type === draft.type && draft[name] === null)
      faults[name] = `is required for ${type === 'agent' ? 'an' : 'a'} ${type}`
    if (type !== draft.type && draft[name] !== null) faults[name] = `is for RDAs of type ${type} only`
  }
  switch (draft.type) {
    case 'prompt':
      if (draft.promptConfig !== null) Object.assign(faults, faultsOfPrompt(draft, draft.promptConfig, models))
      break
    case 'agent':
      if (draft.agentConfig !== null) Object.assign(faults, faultsOfAgent(draft.agentConfig))
      break
    case 'tool':
      if (draft.toolConfig !== null) Object.assign(faults, faultsOfTool(draft.toolConfig))
      break
  }
  Object.assign(faults, faultsOfPricing(draft))
  return faults
}

function faultsOfPrompt(
  draft: AssetDraft,
  config: GivenPromptConfig,
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
  const inputs = new Set(draft.inputs.map(({ name }) => name))
  for (const [place, example] of (config.examples ?? []).entries()) {
    const at = `promptConfig.examples.${String(place)}`
    for (const name of Object.keys(example.inputs)) {
      if (!inputs.has(name)) faults[`${at}.inputs.${name.slice(0, 64)}`] = 'is not an input of this RDA'
    }
  }
  return faults
}

/** Braces that name no input would reach the model as they are: nobody wants that. */
function faultOfTemplate(template: string, { inputs }: AssetDraft): string | null {
  const names = new Set(inputs.map(({ name }) => name))
  const unknown = variablesOf(template).find((name) => !names.has(name))
  if (unknown !== undefined) return `has the variable {{${unknown}}}, which is not in the input schema`
  const [other] = OTHER_BRACES.exec(template) ?? []
  return other === undefined ? null : `has ${other}, which is no variable: variables are written {{name}}`
}

const OTHER_BRACES = /\{\{(?!\s*[A-Za-z_][A-Za-z0-9_]*\s*\}\})[^{}]{0,40}\}?\}?/

function faultsOfAgent(config: GivenAgentConfig) {
  const faults: Record<string, string> = {}
  if (config.webhookUrl === null) faults['agentConfig.webhookUrl'] = 'is required'
  // A GET has no body for the run, and nothing that could be signed.
  if (config.webhookMethod === 'GET') faults['agentConfig.webhookMethod'] = 'must be POST, PUT, PATCH or DELETE'
  Object.assign(faults, faultsOfSecrets('agentConfig.webhookHeaders', config.webhookHeaders))
  return faults
}

function faultsOfTool(config: GivenToolConfig) {
  const faults: Record<string, string> = {}
  if (config.apiEndpoint === null) faults['toolConfig.apiEndpoint'] = 'is required'
  Object.assign(faults, faultsOfSecrets('toolConfig.apiHeaders', config.apiHeaders))
  Object.assign(faults, faultsOfSecrets('toolConfig.authConfig', config.authConfig?.secrets ?? null))
  const type = config.authType ?? 'none'
  const names = namesOf(config.authConfig?.secrets ?? null)
  const at = 'toolConfig.authConfig'
  if (type === 'api_key' && (config.authConfig?.headerName ?? null) === null) {
    faults[`${at}.headerName`] = 'is required for api_key'
  }
  if (type !== 'api_key' && (config.authConfig?.headerName ?? null) !== null) {
    faults[`${at}.headerName`] = 'is for api_key only'
  }
  for (const name of AUTH_NEEDS[type]) if (!names.includes(name)) faults[`${at}.${name}`] = `is required for ${type}`
  for (const name of names) {
    if (![...AUTH_NEEDS[type], ...AUTH_TAKES[type]].includes(name)) faults[`${at}.${name}`] = `is not for ${type}`
  }
  return faults
}

const AUTH_NEEDS: Readonly<Record<AuthType, readonly string[]>> = {
  none: [],
  api_key: [],
  bearer: ['token'],
  basic: ['username', 'password'],
}

/** The key itself may as well be among the headers; then the RDA has nothing else to add. */
const AUTH_TAKES: Readonly<Record<AuthType, readonly string[]>> = {
  none: [],
  api_key: ['apiKey'],
  bearer: [],
  basic: [],
}

/** A mask that is given back stands for what was there; where nothing was, it would become the secret itself. */
function faultsOfSecrets(at: string, secrets: GivenSecrets | null): Record<string, string> {
  const faults: Record<string, string> = {}
  for (const [name, text] of Object.entries(secrets?.given ?? {})) {
    if (isMask(text) && secrets?.before?.names.includes(name) !== true) {
      faults[`${at}.${name}`] = 'must be the value itself, not its mask'
    }
  }
  return faults
}

export function isMask(text: string): boolean {
  return /^•+$/.test(text)
}

function namesOf(secrets: GivenSecrets | null): readonly string[] {
  return secrets === null ? [] : secrets.given === null ? (secrets.before?.names ?? []) : Object.keys(secrets.given)
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

/** What a sound draft comes to: what was left open is as usual. */
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
        examples: (promptConfig.examples ?? []).map((example, place) => ({
          id: `ex_${String(place + 1)}`,
          ...example,
        })),
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
      }
  }
}

export interface SealedDeps {
  headers: Sealed
  auth: Sealed
}

function modelsOf({ allowedModels, defaultModelId }: GivenPromptConfig, models: readonly Model[]) {
  const [first] = models
  if (first === undefined) throw new Error('the catalogue has no model')
  const allowed = allowedModels ?? [defaultModelId ?? first.id]
  return { allowedModels: allowed, defaultModelId: defaultModelId ?? allowed[0] ?? first.id }
}

/** The price that was given, or the one that follows from the kind of thing it is. */
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

/** What is there, with what was given laid over it; of the configurations field by field. */
export function edited(asset: Asset, edit: AssetEdit): AssetDraft {
  const before = toDraft(asset)
  return {
    ...before,
    ...definedOf(edit),
    promptConfig: overlaid(before.promptConfig, edit.promptConfig),
    agentConfig: withHeaders('webhookHeaders', before.agentConfig, overlaid(before.agentConfig, edit.agentConfig)),
    toolConfig: withAuth(
      before.toolConfig,
      withHeaders('apiHeaders', before.toolConfig, overlaid(before.toolConfig, edit.toolConfig)),
    ),
  }
}

function overlaid<Given extends object>(before: Given | null, edit: Partial<Given> | null | undefined): Given | null {
  if (edit === undefined || edit === null) return before
  // A configuration of another type: laid over nothing, so that the check finds it and says so.
  return { ...(before ?? ({} as Given)), ...definedOf(edit) }
}

/** New headers are laid over the old ones for the sake of masks; what is not named any more is gone. */
function withHeaders<Name extends string, Given extends Record<Name, GivenSecrets | null>>(
  name: Name,
  before: Given | null,
  after: Given | null,
): Given | null {
  if (after === null || before === null) return after
  return { ...after, [name]: { given: after[name]?.given ?? null, before: before[name]?.before ?? null } }
}

function withAuth(before: GivenToolConfig | null, after: GivenToolConfig | null): GivenToolConfig | null {
  if (after?.authConfig == null || before?.authConfig == null) return after
  const { given } = after.authConfig.secrets
  return { ...after, authConfig: { ...after.authConfig, secrets: { given, before: before.authConfig.secrets.before } } }
}

function definedOf<Given extends object>(given: Given): Given {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Given
}

function toDraft(asset: Asset): AssetDraft {
  const { slug, type, name, description, longDescription, tags, coverImage, codeSnippet, codeLanguage } = asset
  const { inputs, outputs, pricing, config, sharesInputs = false } = asset.content
  const page = { slug, type, name, description, longDescription, tags, coverImage, codeSnippet, codeLanguage }
  const content = { inputs, outputs, pricing, sharesInputs }
  const rest = { ...page, ...content, promptConfig: null, agentConfig: null, toolConfig: null }
  switch (config.type) {
    case 'prompt':
      return { ...rest, promptConfig: { ...config, freeRunsPerDay: config.freeRunsPerDay ?? null } }
    case 'agent':
      return { ...rest, agentConfig: { ...config, webhookHeaders: kept(config.webhookHeaders) } }
    case 'tool': {
      const authConfig = { headerName: config.authHeaderName, secrets: kept(config.authSecrets) }
      const timeoutSeconds = config.timeoutSeconds ?? null
      return { ...rest, toolConfig: { ...config, timeoutSeconds, apiHeaders: kept(config.apiHeaders), authConfig } }
    }
  }
}

function kept(before: Sealed): GivenSecrets {
  return { given: null, before }
}
