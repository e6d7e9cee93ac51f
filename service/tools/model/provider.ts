import type { Usdc } from '../../kit/money.ts'
import type { Environment } from '../../kit/owner.ts'
import type { UserId } from './tool.ts'

/** Whose tools they are: one document, one MCP server, or the marketplace. */
export interface Provider {
  readonly environment: Environment
  readonly slug: string
  readonly name: string
  readonly description: string
  readonly kind: 'openapi' | 'mcp' | 'rda'
  /** Null: the platform's; else private to that owner. */
  readonly ownerId: UserId | null
  /** The sandbox answers its calls itself, from the document's own schemas. */
  readonly simulated: boolean
  readonly source: Source | null
  readonly pricing: PriceRule
}

/** Where the tools were read, to read them again. */
export interface Source {
  /** An address, or the name of a document that comes with the service. */
  readonly from: string
  readonly licence?: string
  readonly version?: string
}

/** Prices by rule: of an operation by its slug, else by its method, else for all. */
export interface PriceRule {
  readonly otherwise: Usdc
  readonly byMethod?: Readonly<Record<string, Usdc>>
  readonly bySlug?: Readonly<Record<string, Usdc>>
}

/** What goes along with each call, opened from the vault for this one. */
export interface Credentials {
  readonly headers: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
}
