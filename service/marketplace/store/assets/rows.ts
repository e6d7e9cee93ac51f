import type { Id } from '../../../kit/ids.ts'
import { usdc, type Usdc } from '../../../kit/money.ts'
import type { Asset, Config, Content, PricingModel, Summary } from '../../model/asset.ts'
import type { FoundAsset } from '../../ports/asset.ts'

/** What a list needs of a row of each of the three tables. */
export const SUMMARY = `
r.id, r.environment, r.slug, r.type, r.status, r.name, r.description, r.cover_image AS "coverImage",
r.pricing_model AS "pricingModel", r.pricing_amount AS "pricingAmount", r.verified, r.featured, r.trending,
r.created_at AS "createdAt", r.updated_at AS "updatedAt",
c.user_id AS "userId", c.subject, c.name AS "ownerName", c.verified AS "ownerVerified",
s.runs, s.succeeded, s.ratings, s.rating_sum AS "ratingSum"`

export const WHOLE = `${SUMMARY},
v.version, r.published_version AS "publishedVersion", r.published_at AS "publishedAt", s.revenue, s.latency_ms AS "latencyMs",
s.cost_least AS "costLeast", s.cost_most AS "costMost",
v.long_description AS "longDescription", v.tags, v.code_snippet AS "codeSnippet", v.code_language AS "codeLanguage", v.content`

export const TABLES = `rda r JOIN rda_creator c ON c.user_id = r.owner_id JOIN rda_stats s ON s.rda_id = r.id`

export interface SummaryRow extends Omit<Summary, 'pricing' | 'stats' | 'owner'> {
  pricingModel: PricingModel
  pricingAmount: bigint
  userId: Id<'usr'>
  subject: string
  ownerName: string | null
  ownerVerified: boolean
  runs: bigint
  succeeded: bigint
  ratings: number
  ratingSum: number
}

type Details = Pick<
  Asset,
  'version' | 'publishedVersion' | 'publishedAt' | 'longDescription' | 'tags' | 'codeSnippet' | 'codeLanguage'
>

export interface WholeRow extends SummaryRow, Details {
  tags: string[]
  revenue: bigint
  latencyMs: bigint
  costLeast: bigint | null
  costMost: bigint | null
  content: StoredContent
}

export function toSummary(row: SummaryRow): Summary {
  const { pricingModel, pricingAmount, userId, subject, ownerName, ownerVerified, ...rest } = row
  const { runs, succeeded, ratings, ratingSum, ...summary } = rest
  return {
    ...summary,
    pricing: { model: pricingModel, amount: usdc(pricingAmount) },
    stats: toFigures({ runs, succeeded, ratings, ratingSum }),
    owner: { userId, subject, name: ownerName, verified: ownerVerified },
  }
}

export function toFound(row: WholeRow): FoundAsset {
  const { revenue, latencyMs, costLeast, costMost, content, ...rest } = row
  const { version, publishedVersion, publishedAt, longDescription, tags, codeSnippet, codeLanguage, ...summary } = rest
  const stats = {
    ...toFigures(row),
    totalRevenue: usdc(revenue),
    totalRatings: row.ratings,
    averageLatency: row.succeeded === 0n ? 0 : Math.round(Number(latencyMs) / Number(row.succeeded)),
  }
  const details = { version, publishedVersion, publishedAt, longDescription, tags, codeSnippet, codeLanguage }
  const recentCosts = costLeast === null || costMost === null ? null : { least: usdc(costLeast), most: usdc(costMost) }
  const whole = toContent(content)
  // The price of this version, which need not be the newest.
  return {
    asset: { ...toSummary(summary), pricing: whole.pricing, ...details, stats, content: whole },
    recentCosts,
  }
}

function toFigures(row: Pick<SummaryRow, 'runs' | 'succeeded' | 'ratings' | 'ratingSum'>) {
  const { runs, succeeded, ratings, ratingSum } = row
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
