import type { OAuthClient, ProviderSecurity } from '../../connections/model.ts'
import type { Usdc } from '../../kit/money.ts'
import type { Environment } from '../../kit/owner.ts'
import type { UserId } from './tool.ts'

/** The source of tools: one document, one MCP server, or the marketplace. */
export interface Provider {
  readonly environment: Environment
  readonly slug: string
  readonly name: string
  readonly description: string
  readonly kind: 'openapi' | 'mcp' | 'rda'
  /** Null for a provider of the platform. Otherwise private to that owner. */
  readonly ownerId: UserId | null
  /** The sandbox answers its calls itself, using the document's schemas. */
  readonly simulated: boolean
  readonly source: Source | null
  readonly pricing: PriceRule
  /** How its calls are authenticated, and on which hosts. */
  readonly security: ProviderSecurity
  /** Its owner says that its tools act on no account, so that its key may call all of them. */
  readonly isPublic: boolean
  /** With this client accounts connect to it. */
  readonly oauth: OAuthClient | null
}

/** The place that the tools were read from, so that they can be read again. */
export interface Source {
  /** An address, or the name of a document that comes with the service. */
  readonly from: string
  readonly licence?: string
  readonly version?: string
  /** Of the document as it was imported, so that another one is noticed. */
  readonly sha256?: string
}

/** Prices by rule: an operation's slug decides first, then its method, then the price for all. */
export interface PriceRule {
  readonly otherwise: Usdc
  readonly byMethod?: Readonly<Record<string, Usdc>>
  readonly bySlug?: Readonly<Record<string, Usdc>>
}
