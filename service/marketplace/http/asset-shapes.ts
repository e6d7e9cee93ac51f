import { toolSecondsOf } from '../rules/run.ts'
import type { z } from 'zod'
import { toWire, type Usdc } from '../../kit/money.ts'
import type {
  AgentConfig,
  Example,
  Model,
  Pricing,
  PromptConfig,
  Review,
  Sealed,
  Summary,
  ToolConfig,
} from '../model/asset.ts'
import type {
  AgentConfigInput,
  AssetDraft,
  AssetEdit,
  ExampleInput,
  PromptConfigInput,
  ToolConfigInput,
} from '../model/asset-draft.ts'
import { EMPTY_AGENT, EMPTY_PROMPT, EMPTY_TOOL, MASK } from '../model/asset-draft.ts'
import type { View } from '../service/assets/read.ts'
import type { createBody, editBody, rateBody, reducedOut, wholeOut } from './asset-bodies.ts'

type Created = z.output<typeof createBody>
type Edited = z.output<typeof editBody>

export function toDraft(body: Created): AssetDraft {
  return {
    slug: body.slug,
    type: body.type,
    name: body.name,
    description: body.description,
    longDescription: body.longDescription ?? null,
    tags: body.tags ?? [],
    coverImage: body.coverImage ?? null,
    codeSnippet: body.codeSnippet ?? null,
    codeLanguage: body.codeLanguage ?? null,
    inputs: body.inputSchema,
    outputs: body.outputSchema ?? { type: 'markdown' },
    pricing: toPricing(body.pricing),
    sharesInputs: body.sharesInputs ?? false,
    promptConfig: body.promptConfig == null ? null : { ...EMPTY_PROMPT, ...toPrompt(body.promptConfig) },
    agentConfig: body.agentConfig == null ? null : { ...EMPTY_AGENT, ...toAgent(body.agentConfig) },
    toolConfig: body.toolConfig == null ? null : { ...EMPTY_TOOL, ...toTool(body.toolConfig) },
  }
}

/** What is absent stays as it is; null resets it. */
export function toEdit(body: Edited): AssetEdit {
  return defined({
    name: body.name,
    description: body.description,
    longDescription: body.longDescription,
    tags: body.tags === null ? [] : body.tags,
    coverImage: body.coverImage,
    codeSnippet: body.codeSnippet,
    codeLanguage: body.codeLanguage,
    inputs: body.inputSchema,
    outputs: body.outputSchema === null ? ({ type: 'markdown' } as const) : body.outputSchema,
    pricing: body.pricing === undefined ? undefined : toPricing(body.pricing),
    sharesInputs: body.sharesInputs === null ? false : body.sharesInputs,
    promptConfig: body.promptConfig == null ? undefined : toPrompt(body.promptConfig),
    agentConfig: body.agentConfig == null ? undefined : toAgent(body.agentConfig),
    toolConfig: body.toolConfig == null ? undefined : toTool(body.toolConfig),
  })
}

export function toRating({ score, text = null }: z.output<typeof rateBody>) {
  return { score, text }
}

export function toReview({ createdAt, repliedAt, ...review }: Review) {
  return { ...review, createdAt: createdAt.toISOString(), repliedAt: repliedAt?.toISOString() ?? null }
}

function toPricing(pricing: Created['pricing']): AssetDraft['pricing'] {
  return pricing == null ? null : { model: pricing.model, amount: pricing.amount ?? null }
}

function toPrompt({ examples, ...rest }: NonNullable<Created['promptConfig']>): Partial<PromptConfigInput> {
  return defined({ ...rest, examples: toExamples(examples) })
}

function toAgent(agent: NonNullable<Created['agentConfig']>): Partial<AgentConfigInput> {
  const { webhookHeaders, examples, ...rest } = agent
  return defined({ ...rest, webhookHeaders: toSecrets(webhookHeaders), examples: toExamples(examples) })
}

function toTool(tool: NonNullable<Created['toolConfig']>): Partial<ToolConfigInput> {
  const { apiHeaders, authConfig, examples, ...rest } = tool
  const secrets = { apiHeaders: toSecrets(apiHeaders), authConfig: toAuth(authConfig) }
  return defined({ ...rest, ...secrets, examples: toExamples(examples) })
}

type SentExample = Omit<ExampleInput, 'model'> & { model?: string | null | undefined }

function toExamples(examples: readonly SentExample[] | null | undefined): ExampleInput[] | null | undefined {
  return examples === null ? null : examples?.map(({ model = null, ...example }) => ({ ...example, model }))
}

function toAuth(authConfig: NonNullable<Created['toolConfig']>['authConfig']) {
  if (authConfig === undefined) return undefined
  const { headerName, ...texts } = authConfig ?? {}
  const present = Object.entries(texts).filter((entry): entry is [string, string] => entry[1] != null)
  return { headerName: headerName ?? null, secrets: { texts: Object.fromEntries(present), before: null } }
}

function toSecrets(texts: Record<string, string> | null | undefined) {
  return texts === undefined ? undefined : { texts: texts ?? {}, before: null }
}

type Defined<Fields> = { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> }

function defined<Fields extends object>(fields: Fields): Defined<Fields> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<Fields>
}

export function toReduced(asset: Summary): z.infer<typeof reducedOut> {
  const { totalRuns, averageRating, successRate } = asset.stats
  return { ...toHead(asset), pricing: toPrice(asset.pricing), stats: { totalRuns, averageRating, successRate } }
}

/** The specification's full object. What only the owner, or only buyers, may see is null for others. */
export function toWhole(view: View, models: readonly Model[]): z.infer<typeof wholeOut> {
  const { asset, asOwner, withSource, estimatedCost, maxCost } = view
  const { inputs, outputs, config, sharesInputs = false } = asset.content
  const { longDescription, tags, codeSnippet, codeLanguage, version, stats } = asset
  return {
    ...toHead(asset),
    longDescription,
    tags: [...tags],
    codeSnippet,
    codeLanguage,
    version,
    sharesInputs,
    schema: { inputs: [...inputs], outputs: { type: outputs.type } },
    promptConfig: config.type === 'prompt' ? toPromptOut(config, models, withSource) : null,
    agentConfig: config.type === 'agent' ? toAgentOut(config, asOwner) : null,
    toolConfig: config.type === 'tool' ? toToolOut(config, asOwner) : null,
    pricing: { ...toPrice(asset.pricing), estimatedCost, maxCost: toWire(maxCost) },
    stats: { ...stats, totalRevenue: toWire(stats.totalRevenue) },
    ownerVerified: asset.owner.verified,
    publishedAt: asset.publishedAt?.toISOString() ?? null,
  }
}

function toHead(asset: Summary) {
  const { id, slug, name, description, type, status, verified, featured, trending, coverImage, owner } = asset
  return {
    id,
    slug,
    name,
    description,
    type,
    status,
    verified,
    featured,
    trending,
    coverImage,
    ownerId: owner.subject,
    ownerName: owner.name,
    createdAt: asset.createdAt.toISOString(),
    updatedAt: asset.updatedAt.toISOString(),
  }
}

function toPrice({ model, amount }: Pricing) {
  return { model, amount: toWire(amount), currency: 'USDC' as const }
}

function toPromptOut(config: PromptConfig, models: readonly Model[], withSource: boolean) {
  const { promptTemplate, systemPrompt, allowedModels, defaultModelId, sourcePrice, examples } = config
  const known = new Map(models.map((model) => [model.id, model]))
  return {
    promptTemplate: withSource ? promptTemplate : null,
    systemPrompt: withSource ? systemPrompt : null,
    // A model that the operator has removed from the catalogue cannot be run: it is not offered.
    allowedModels: allowedModels.flatMap((id) => {
      const model = known.get(id)
      return model === undefined ? [] : [{ id, name: model.name, tier: model.tier }]
    }),
    defaultModelId,
    sourcePrice: toWireOrNull(sourcePrice),
    freeRunsPerDay: config.freeRunsPerDay ?? null,
    examples: examples.map(({ id, title, inputs, output, model }) => ({ id, title, inputs, output, model })),
  }
}

function toAgentOut(config: AgentConfig, asOwner: boolean) {
  const { timeoutSeconds, maxRetries, pollIntervalMs } = config
  return {
    webhookUrl: asOwner ? config.webhookUrl : null,
    webhookMethod: asOwner ? config.webhookMethod : null,
    webhookHeaders: asOwner ? masksOf(config.webhookHeaders) : null,
    timeoutSeconds,
    maxRetries,
    pollUrl: asOwner ? config.pollUrl : null,
    pollIntervalMs,
    basePrice: toWireOrNull(config.basePrice),
    examples: toSamples(config.examples),
  }
}

function toToolOut(config: ToolConfig, asOwner: boolean) {
  const authNames = config.authHeaderName === null ? {} : { headerName: config.authHeaderName }
  return {
    apiEndpoint: asOwner ? config.apiEndpoint : null,
    apiMethod: asOwner ? config.apiMethod : null,
    apiHeaders: asOwner ? masksOf(config.apiHeaders) : null,
    authType: asOwner ? config.authType : null,
    authConfig: asOwner ? { ...authNames, ...masksOf(config.authSecrets) } : null,
    requestTransform: asOwner ? config.requestTransform : null,
    responseTransform: asOwner ? config.responseTransform : null,
    timeoutSeconds: toolSecondsOf(config),
    rateLimitPerMinute: config.rateLimitPerMinute,
    basePrice: toWireOrNull(config.basePrice),
    examples: toSamples(config.examples),
  }
}

function toSamples(examples: readonly Example[] = []) {
  return examples.map(({ id, title, inputs, output }) => ({ id, title, inputs, output }))
}

function masksOf({ names }: Sealed): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, MASK]))
}

function toWireOrNull(amount: Usdc | null): number | null {
  return amount === null ? null : toWire(amount)
}
