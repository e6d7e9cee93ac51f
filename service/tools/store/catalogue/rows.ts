import type { ProviderSecurity } from '../../../connections/model.ts'
import { usdc, type Usdc } from '../../../kit/money.ts'
import type { UserId } from '../../model/tool.ts'
import type { PriceRule } from '../../model/provider.ts'
import type { StoredProvider } from '../../ports/keeping.ts'

/** Only as much text as the search reads. A removed tool is found only by its slug. */
export const ENTRY = `id, slug, owner_id AS "ownerId", provider, name, category, price, deprecated, status, successor,
  version, CASE WHEN upstream->>'method' = 'GET' OR upstream->>'readOnly' = 'true' THEN 'read'
    WHEN upstream->>'method' = 'DELETE' THEN 'delete' ELSE 'write' END AS effect,
  CASE WHEN status = 'live' THEN left(description, 400) ELSE '' END AS description,
  CASE WHEN status = 'live' THEN left(terms, 800) ELSE '' END AS terms`

export const TOOL = `id, environment, slug, owner_id AS "ownerId", provider, name, description, category, price,
  deprecated, input, output, upstream, status, successor, version, content_hash AS "contentHash"`

export const PROVIDER = `environment, owner_id AS "ownerId", slug, name, description, kind, simulated, source, pricing,
  source_hash AS "sourceHash", credentials, security, is_public AS "isPublic", oauth, oauth_secret AS "oauthSecret"`

export type ProviderRow = Owned<Omit<StoredProvider, 'pricing' | 'security'>> & {
  pricing: StoredPricing
  security: ProviderSecurity | null
}

export function toProvider({ pricing, security, ...row }: ProviderRow): StoredProvider {
  return { ...owned(row), pricing: fromPricing(pricing), security: security ?? securityOf(row) }
}

/** An MCP server takes a token. A document that was read before there were connections says nothing. */
function securityOf({ kind, source }: Pick<StoredProvider, 'kind' | 'source'>): ProviderSecurity {
  if (kind !== 'mcp' || source === null || !URL.canParse(source.from)) return { hosts: [], schemes: [] }
  return { hosts: [new URL(source.from).origin], schemes: [{ name: 'bearer', place: { kind: 'bearer' }, oauth: null }] }
}

/** Micro-dollars as text, because JSON has no bigint. */
export function toPricing({ otherwise, byMethod = {}, bySlug = {} }: PriceRule): StoredPricing {
  return { otherwise: String(otherwise), byMethod: mapped(byMethod, String), bySlug: mapped(bySlug, String) }
}

function fromPricing({ otherwise, byMethod, bySlug }: StoredPricing): PriceRule {
  const read = (text: string): Usdc => usdc(BigInt(text))
  return { otherwise: read(otherwise), byMethod: mapped(byMethod, read), bySlug: mapped(bySlug, read) }
}

interface StoredPricing {
  otherwise: string
  byMethod: Record<string, string>
  bySlug: Record<string, string>
}

/** A row in which the platform's owner is an empty text, because a unique index does not distinguish nulls. */
export type Owned<T extends { ownerId: UserId | null }> = Omit<T, 'ownerId'> & { ownerId: UserId | '' }

export function owned<T extends { ownerId: UserId | '' }>(row: T): Omit<T, 'ownerId'> & { ownerId: UserId | null } {
  return { ...row, ownerId: row.ownerId === '' ? null : row.ownerId }
}

function mapped<From, To>(record: Readonly<Record<string, From>>, to: (value: From) => To): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, to(value)]))
}
