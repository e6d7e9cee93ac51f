import type { Id } from '../../kit/ids.ts'
import type { Usdc } from '../../kit/money.ts'
import type { Environment } from '../../kit/owner.ts'

export type ToolId = Id<'tool'>
export type UserId = Id<'usr'>

/** JSON Schema of draft 7, whole in itself: what it refers to is under its own `definitions`. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** One thing that somebody else's server does for a price: what is called, with what, and what comes back. */
export interface Tool {
  readonly id: ToolId
  readonly environment: Environment
  readonly slug: string
  readonly name: string
  readonly description: string
  /** Slug of the provider. */
  readonly provider: string
  readonly category: string | null
  readonly price: Usdc
  /** Null: the platform's; else private to that owner. */
  readonly ownerId: UserId | null
  /** One flat object, `additionalProperties` false. */
  readonly input: JsonSchema
  readonly output: JsonSchema | null
  readonly upstream: Upstream
  readonly status: 'live' | 'removed'
  /** The slug of what took its place, if that is known. */
  readonly successor: string | null
  /** By its provider: still works, better not begun with. */
  readonly deprecated: boolean
  /** Grows with each change: the key of compiled validators. */
  readonly version: number
  readonly contentHash: string
}

export type Upstream = HttpUpstream | McpUpstream | RdaUpstream

export interface HttpUpstream {
  readonly kind: 'http'
  readonly method: HttpMethod
  /** Without a slash at its end. */
  readonly server: string
  /** With the document's own `{placeholders}`. */
  readonly path: string
  readonly where: Readonly<Record<string, Place>>
  /** Null where there is no body. */
  readonly bodyType: string | null
  readonly auth: AuthScheme | null
  /** What a success looks like: a type of null is an answer without a body. */
  readonly answer: { readonly status: number; readonly contentType: string | null }
}

export interface McpUpstream {
  readonly kind: 'mcp'
  readonly server: string
  readonly tool: string
  /** Its server says that it changes nothing (`readOnlyHint`). */
  readonly readOnly?: true
}

export interface RdaUpstream {
  readonly kind: 'rda'
  readonly rdaSlug: string
}

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** Where an input goes: `bodyRoot` is the whole body, `body` a property of it. */
export interface Place {
  readonly in: 'path' | 'query' | 'header' | 'body' | 'bodyRoot'
  /** Its name over there. */
  readonly name: string
  /** Of a parameter, as OpenAPI has it: `form`, `simple`, `deepObject`, … */
  readonly style?: string
  readonly explode?: boolean
  /** The parameter's value is JSON text. */
  readonly json?: boolean
}

export type AuthScheme =
  | { readonly kind: 'bearer' }
  | { readonly kind: 'basic' }
  | { readonly kind: 'apiKey'; readonly in: 'header' | 'query' | 'cookie'; readonly name: string }

/** What became of a tool's calls lately, as they were measured here. */
export interface ToolStats {
  readonly calls: number
  readonly succeeded: number
  readonly p50Ms: number | null
  readonly p95Ms: number | null
  /** The last failure's words, if there was one. */
  readonly lastError: string | null
  /** Set by the health check: it fails so often that whoever finds it should know. */
  readonly failing: boolean
}

/** A tool as it is found: all but its schemas and what is called. Every process has all of them at hand. */
export interface Entry extends Omit<Tool, 'environment' | 'input' | 'output' | 'upstream' | 'contentHash'> {
  /** Words that it is found by besides: the names of its inputs. */
  readonly terms: string
}

/** What is sent to a tool's server. */
export interface UpstreamRequest {
  readonly url: string
  readonly method: HttpMethod
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array | null
}

export interface UpstreamAnswer {
  readonly status: number
  readonly contentType: string | null
  readonly body: Buffer
}
