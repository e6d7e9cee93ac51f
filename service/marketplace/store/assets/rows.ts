import type { Id } from '../../../kit/ids.ts'
import { usdc, type Usdc } from '../../../kit/money.ts'
import type { Environment } from '../../../kit/owner.ts'
import type {
  Asset,
  AssetStatus,
  AssetType,
  Config,
  Content,
  Pricing,
  PricingModel,
  Stats,
  Summary,
} from '../../model/asset.ts'
import type { FoundAsset } from '../../ports/asset.ts'

/** What a list needs of a row of each of the three tables. */
export const SUMMARY = `
r.id, r.environment, r.slug, r.type, r.status, r.name, r.description, r.cover_image AS "coverImage",
r.pricing_model AS "pricingModel", r.pricing_amount AS "pricingAmount", r.verified, r.featured, r.trending,
r.created_at AS "createdAt", r.updated_at AS "updatedAt",
c.user_id AS "userId", c.subject, c.name AS "ownerName", c.verified AS "ownerVerified",
s.runs, s.succeeded, s.ratings, s.rating_sum AS "ratingSum"`

export const WHOLE = `${SUMMARY},
r.version, r.published_at AS "publishedAt", s.revenue, s.latency_ms AS "latencyMs",
s.cost_least AS "costLeast", s.cost_most AS "costMost",
v.long_description AS "longDescription", v.tags, v.code_snippet AS "codeSnippet", v.code_language AS "codeLanguage", v.content`

export const TABLES = `rda r JOIN rda_creator c ON c.user_id = r.owner_id JOIN rda_stats s ON s.rda_id = r.id`

export interface SummaryRow {
  id: Id<'rda'>
  environment: Environment
  slug: string
  type: AssetType
  status: AssetStatus
  name: string
  description: string
  coverImage: string | null
  pricingModel: PricingModel
  pricingAmount: bigint
  verified: boolean
  featured: boolean
  trending: boolean
  createdAt: Date
  updatedAt: Date
  userId: Id<'usr'>
  subject: string
  ownerName: string | null
  ownerVerified: boolean
  runs: bigint
  succeeded: bigint
  ratings: number
  ratingSum: number
}

export interface WholeRow extends SummaryRow {
  version: string
  publishedAt: Date | null
  revenue: bigint
  latencyMs: bigint
  costLeast: bigint | null
  costMost: bigint | null
  longDescription: string | null
  tags: string[]
  codeSnippet: string | null
  codeLanguage: string | null
  content: StoredContent
}

export function toSummary(row: SummaryRow): Summary {
  const { id, environment, slug, name, description, type, status, verified, featured, trending, coverImage } = row
  const pricing: Pricing = { model: row.pricingModel, amount: usdc(row.pricingAmount) }
  const owner = { userId: row.userId, subject: row.subject, name: row.ownerName, verified: row.ownerVerified }
  const { createdAt, updatedAt } = row
  return {
    id,
    environment,
    slug,
    name,
    description,
    type,
    status,
    verified,
    featured,
    trending,
    coverImage,
    pricing,
    stats: toFigures(row),
    owner,
    createdAt,
    updatedAt,
  }
}

export function toFound(row: WholeRow): FoundAsset {
  const { version, publishedAt, longDescription, tags, codeSnippet, codeLanguage, costLeast, costMost } = row
  const stats: Stats = {
    ...toFigures(row),
    totalRevenue: usdc(row.revenue),
    totalRatings: row.ratings,
    averageLatency: row.succeeded === 0n ? 0 : Math.round(Number(row.latencyMs) / Number(row.succeeded)),
  }
  const content = toContent(row.content)
  const asset: Asset = {
    ...toSummary(row),
    version,
    publishedAt,
    longDescription,
    tags,
    codeSnippet,
    codeLanguage,
    stats,
    content,
  }
  const recentCosts = costLeast === null || costMost === null ? null : { least: usdc(costLeast), most: usdc(costMost) }
  return { asset, recentCosts }
}

function toFigures({ runs, succeeded, ratings, ratingSum }: SummaryRow) {
  return {
    totalRuns: Number(runs),
    averageRating: ratings === 0 ? 0 : toTwoPlaces(ratingSum / ratings),
    successRate: runs === 0n ? 0 : toTwoPlaces((Number(succeeded) / Number(runs)) * 100),
  }
}

function toTwoPlaces(value: number): number {
  return Math.round(value * 100) / 100
}

/** JSON has no bigint: amounts are kept as their digits. */
export function fromContent({ inputs, outputs, config, pricing, sharesInputs = false }: Content): string {
  return JSON.stringify({ inputs, outputs, config, pricing, sharesInputs }, (_, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  )
}

export function toContent({ inputs, outputs, config, pricing, sharesInputs = false }: StoredContent): Content {
  const amount = usdc(BigInt(pricing.amount))
  return { inputs, outputs, config: toConfig(config), pricing: { ...pricing, amount }, sharesInputs }
}

function toConfig(config: StoredConfig): Config {
  if (config.type === 'prompt') return { ...config, sourcePrice: toAmount(config.sourcePrice) }
  return { ...config, basePrice: toAmount(config.basePrice) }
}

function toAmount(digits: string | null): Usdc | null {
  return digits === null ? null : usdc(BigInt(digits))
}

export interface StoredContent extends Omit<Content, 'config' | 'pricing'> {
  config: StoredConfig
  pricing: { model: PricingModel; amount: string }
}

type StoredConfig = Config extends infer Kind
  ? Kind extends { basePrice: unknown }
    ? Omit<Kind, 'basePrice'> & { basePrice: string | null }
    : Omit<Kind, 'sourcePrice'> & { sourcePrice: string | null }
  : never
