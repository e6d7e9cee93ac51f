import { z } from 'zod'
import { fieldOut, FIELDS_MAX, fieldsSchema, isWebAddress, plainLine, plainText } from '../../kit/fields.ts'
import { amount, amountOut, timestamp } from '../../kit/wire.ts'
import {
  ASSET_STATUSES,
  ASSET_TYPES,
  AUTH_TYPES,
  METHODS,
  OUTPUT_TYPES,
  PRICING_MODELS,
  REVIEW_LENGTH_MAX,
} from '../model/asset.ts'

/* What comes in and goes out, field by field, as the specification has it. */

const webAddress = plainText(2_048).refine(isWebAddress, 'must be an http or https address')
const tag = plainText(40).refine((text) => text.trim() === text, 'must not begin or end with a space')
const oneLine = (longest: number) => plainLine(longest).refine((text) => text.trim() !== '', 'must not be empty')

/** Names of headers or credentials; which names are allowed is checked with the asset's type. */
const secrets = z
  .record(z.string().min(1).max(128), plainText(4_096))
  .refine((texts) => Object.keys(texts).length <= 50, 'must have at most 50')
  .meta({ maxProperties: 50 })

const example = z.strictObject({
  title: oneLine(200),
  inputs: z.record(z.string(), z.unknown()).meta({ maxProperties: FIELDS_MAX }),
  output: plainText(20_000),
  model: z.string().max(200).nullish(),
})

/** Of an agent or a tool, which runs on no model that callers choose. */
const samples = z
  .array(example.omit({ model: true }))
  .max(20)
  .nullish()
  .meta({ description: 'Inputs and what came of them, shown to everyone on the marketplace' })

const promptConfig = z.strictObject({
  promptTemplate: plainText(50_000).nullish().meta({ description: 'Text with {{variables}} of the input schema' }),
  systemPrompt: plainText(50_000).nullish(),
  allowedModels: z.array(z.string().min(1).max(200)).max(50).nullish().meta({ description: 'Ids of GET /models' }),
  defaultModelId: z.string().min(1).max(200).nullish(),
  sourcePrice: amount.nullish().meta({
    description: 'What a reader pays once to see the template; 0 shows it to everyone, null means not for sale',
  }),
  freeRunsPerDay: z.int().min(0).max(1_000_000).nullish().meta({
    description: "For a free prompt: how many runs by others you pay for in a UTC day; null means the server's default",
  }),
  examples: z.array(example).max(20).nullish(),
})

const agentConfig = z.strictObject({
  webhookUrl: webAddress.nullish(),
  webhookMethod: z.enum(METHODS).nullish(),
  webhookHeaders: secrets.nullish().meta({ description: 'Stored encrypted; responses show names only' }),
  timeoutSeconds: z.int().min(1).max(180).nullish(),
  maxRetries: z.int().min(0).max(5).nullish(),
  pollUrl: webAddress.nullish(),
  pollIntervalMs: z.int().min(100).max(60_000).nullish(),
  basePrice: amount.nullish(),
  examples: samples,
})

const toolConfig = z.strictObject({
  apiEndpoint: webAddress.nullish(),
  apiMethod: z.enum(METHODS).nullish(),
  apiHeaders: secrets.nullish().meta({ description: 'Stored encrypted; responses show names only' }),
  authType: z.enum(AUTH_TYPES).nullish(),
  authConfig: z
    .strictObject({
      headerName: oneLine(128).nullish().meta({ description: 'For api_key' }),
      apiKey: plainText(4_096).nullish(),
      token: plainText(4_096).nullish(),
      username: plainText(1_000).nullish(),
      password: plainText(4_096).nullish(),
    })
    .nullish()
    .meta({ description: 'api_key: headerName, apiKey; bearer: token; basic: username, password. Stored encrypted' }),
  requestTransform: plainText(10_000).nullish().meta({ description: 'JSONata over the inputs' }),
  responseTransform: plainText(10_000).nullish().meta({ description: "JSONata over the API's answer" }),
  timeoutSeconds: z
    .int()
    .min(1)
    .max(60)
    .nullish()
    .meta({ description: 'How long the API may take for its answer, 25 when absent, 60 at most' }),
  rateLimitPerMinute: z.int().min(1).max(100_000).nullish(),
  basePrice: amount.nullish(),
  examples: samples,
})

const pricing = z.strictObject({
  model: z.enum(PRICING_MODELS),
  amount: amount
    .nullish()
    .meta({ description: 'USDC per run, per 1,000 tokens or per started second, depending on the model' }),
  currency: z.literal('USDC').nullish(),
})

const page = {
  name: oneLine(120),
  description: plainText(1_000),
  inputSchema: fieldsSchema.refine((inputs) => inputs.length > 0, 'must have at least one input'),
  longDescription: plainText(20_000).nullish(),
  tags: z
    .array(tag)
    .max(20)
    .refine((tags) => new Set(tags).size === tags.length, 'must not repeat a tag')
    .nullish(),
  coverImage: webAddress.nullish(),
  codeSnippet: plainText(20_000).nullish(),
  codeLanguage: oneLine(40).nullish(),
  outputSchema: z.strictObject({ type: z.enum(OUTPUT_TYPES) }).nullish(),
  pricing: pricing.nullish(),
  sharesInputs: z.boolean().nullish().meta({
    description:
      'Ask customers to share their inputs with you. The form shows this before they pay, and only runs whose caller agrees show their inputs. False when absent',
  }),
  promptConfig: promptConfig.nullish(),
  agentConfig: agentConfig.nullish(),
  toolConfig: toolConfig.nullish(),
}

export const createBody = z.strictObject({
  slug: z
    .string()
    .min(1)
    .max(100)
    .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'must be lower-case letters and digits, in groups joined by a hyphen'),
  type: z.enum(ASSET_TYPES),
  ...page,
})

/** The smallest prompt. */
export const createExample: z.input<typeof createBody> = {
  slug: 'summarizer',
  type: 'prompt',
  name: 'Summarizer',
  description: 'Sums up an article in a few sentences.',
  inputSchema: [{ name: 'article', label: 'Article', type: 'text', required: true }],
  promptConfig: { promptTemplate: 'Sum up this article: {{article}}' },
}

export const editBody = z
  .strictObject({
    ...page,
    version: z
      .string()
      .max(40)
      .meta({ description: 'The version that you edited; 409 when it is no longer the current one' }),
  })
  .partial()

const review = plainText(REVIEW_LENGTH_MAX).trim().min(1, 'must not be empty')
export const rateBody = z.strictObject({
  score: z.int().min(1).max(5),
  text: review.nullish().meta({
    description: 'A review, shown on its page without your name. Only for those who paid for a run.',
  }),
})
export const replyBody = z.strictObject({ review: z.string().max(100), text: review })
export const sourceBody = z.strictObject({ maxCost: amount.nullish() }).optional()

const flag = z
  .enum(['true', 'false'], { error: 'must be true or false' })
  .transform((value) => value === 'true')
  .default(false)
  .meta({ type: 'boolean', default: false })

export const listFilters = {
  type: z.enum(ASSET_TYPES).optional(),
  status: z.enum(ASSET_STATUSES).default('published'),
  verified: flag,
  featured: flag,
  trending: flag,
  ownerId: z.string().min(1).max(255).optional(),
  search: plainText(200).optional(),
}

const stats = {
  totalRuns: z.int(),
  averageRating: z.number(),
  successRate: z.number().meta({ description: 'Percent' }),
}
const pricingOut = { model: z.enum(PRICING_MODELS), amount: amountOut, currency: z.literal('USDC') }

const reduced = {
  id: z.string(),
  slug: z.string(),
  name: z.string(),
  description: z.string(),
  type: z.enum(ASSET_TYPES),
  status: z.enum(ASSET_STATUSES),
  verified: z.boolean(),
  featured: z.boolean(),
  trending: z.boolean(),
  coverImage: z.string().nullable(),
  ownerId: z.string(),
  ownerName: z.string().nullable(),
  createdAt: timestamp,
  updatedAt: timestamp,
}

export const reducedOut = z
  .object({ ...reduced, pricing: z.object(pricingOut), stats: z.object(stats) })
  .meta({ id: 'ReducedRda' })

const masked = z
  .record(z.string(), z.string())
  .nullable()
  .meta({ description: 'Names with masked values; null for other callers' })

const samplesOut = z.array(
  z.object({ id: z.string(), title: z.string(), inputs: z.record(z.string(), z.unknown()), output: z.string() }),
)

export const wholeOut = z
  .object({
    ...reduced,
    longDescription: z.string().nullable(),
    tags: z.array(z.string()),
    codeSnippet: z.string().nullable(),
    codeLanguage: z.string().nullable(),
    version: z.string(),
    sharesInputs: z.boolean().meta({ description: 'The creator asks customers to share their inputs' }),
    schema: z.object({ inputs: z.array(fieldOut), outputs: z.object({ type: z.enum(OUTPUT_TYPES) }) }),
    promptConfig: z
      .object({
        promptTemplate: z.string().nullable(),
        systemPrompt: z.string().nullable(),
        allowedModels: z.array(z.object({ id: z.string(), name: z.string(), tier: z.string() })),
        defaultModelId: z.string(),
        sourcePrice: amountOut.nullable(),
        freeRunsPerDay: z.int().nullable(),
        examples: z.array(
          z.object({
            id: z.string(),
            title: z.string(),
            inputs: z.record(z.string(), z.unknown()),
            output: z.string(),
            model: z.string().nullable(),
          }),
        ),
      })
      .nullable(),
    agentConfig: z
      .object({
        webhookUrl: z.string().nullable(),
        webhookMethod: z.enum(METHODS).nullable(),
        webhookHeaders: masked,
        timeoutSeconds: z.int(),
        maxRetries: z.int(),
        pollUrl: z.string().nullable(),
        pollIntervalMs: z.int(),
        basePrice: amountOut.nullable(),
        examples: samplesOut,
      })
      .nullable(),
    toolConfig: z
      .object({
        apiEndpoint: z.string().nullable(),
        apiMethod: z.enum(METHODS).nullable(),
        apiHeaders: masked,
        authType: z.enum(AUTH_TYPES).nullable(),
        authConfig: masked,
        requestTransform: z.string().nullable(),
        responseTransform: z.string().nullable(),
        timeoutSeconds: z.int(),
        rateLimitPerMinute: z.int().nullable(),
        basePrice: amountOut.nullable(),
        examples: samplesOut,
      })
      .nullable(),
    pricing: z.object({
      ...pricingOut,
      estimatedCost: z.string().meta({ description: 'A range for a person to read' }),
      maxCost: amountOut.meta({
        description:
          'The most that a run of an ordinary input (2,000 tokens) is charged: its price, or what the dearest allowed model costs for it. That much must be in the wallet; what a run does not use comes back.',
      }),
    }),
    stats: z.object({
      ...stats,
      totalRevenue: amountOut,
      totalRatings: z.int(),
      averageLatency: z.number().meta({ description: 'Milliseconds' }),
    }),
    ownerVerified: z.boolean(),
    publishedAt: timestamp.nullable(),
  })
  .meta({ id: 'Rda' })
