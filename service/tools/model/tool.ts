import type { SchemeNeeds, SecretPlace } from '../../connections/model.ts'
import type { Id } from '../../kit/ids.ts'
import type { Usdc } from '../../kit/money.ts'
import type { Environment } from '../../kit/owner.ts'

export type ToolId = Id<'tool'>
export type UserId = Id<'usr'>

/** A self-contained JSON Schema of draft 7: everything it refers to is in its own `definitions`. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** An operation of another party's server that can be called for a price. */
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
  /** Null for a tool of the platform. Otherwise private to that owner. */
  readonly ownerId: UserId | null
  /** One flat object, `additionalProperties` false. */
  readonly input: JsonSchema
  readonly output: JsonSchema | null
  readonly upstream: Upstream
  readonly status: 'live' | 'removed'
  /** The slug of the tool that replaced it, if known. */
  readonly successor: string | null
  /** The provider has deprecated it: it still works, but new users should choose another. */
  readonly deprecated: boolean
  /** Grows with each change, so it is the cache key of compiled validators. */
  readonly version: number
  readonly contentHash: string
}

export type Upstream = HttpUpstream | McpUpstream | RdaUpstream

export interface HttpUpstream {
  readonly kind: 'http'
  readonly method: HttpMethod
  /** Without a trailing slash. */
  readonly server: string
  /** With the document's own `{placeholders}`. */
  readonly path: string
  readonly where: Readonly<Record<string, Place>>
  /** Null where there is no body. */
  readonly bodyType: string | null
  readonly auth: AuthScheme | null
  /** All ways to authenticate it. Absent in tools that were read before there were connections. */
  readonly security?: readonly SchemeNeeds[]
  /** The expected success. A type of null means an answer without a body. */
  readonly answer: { readonly status: number; readonly contentType: string | null }
}

export interface McpUpstream {
  readonly kind: 'mcp'
  readonly server: string
  readonly tool: string
  /** The server declares that the tool changes nothing (`readOnlyHint`). */
  readonly readOnly?: true
}

export interface RdaUpstream {
  readonly kind: 'rda'
  readonly rdaSlug: string
}

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** The place of an input in the request: `bodyRoot` is the whole body, `body` a property of it. */
export interface Place {
  readonly in: 'path' | 'query' | 'header' | 'cookie' | 'body' | 'bodyRoot'
  /** Its name at the server. */
  readonly name: string
  /** The style of a parameter, as OpenAPI names it: `form`, `simple`, `deepObject`, … */
  readonly style?: string
  readonly explode?: boolean
  /** The parameter's value is JSON text. */
  readonly json?: boolean
  /** The input names a file, whose bytes are sent. */
  readonly file?: true
}

export type AuthScheme = SecretPlace

/** The recent results of a tool's calls, measured by this service. */
export interface ToolStats {
  readonly calls: number
  readonly succeeded: number
  readonly p50Ms: number | null
  readonly p95Ms: number | null
  /** The message of the last failure, if there was one. */
  readonly lastError: string | null
  /** Set by the health check when the tool fails so often that callers should be warned. */
  readonly failing: boolean
}

/** A tool as search results show it, without its schemas and upstream. Every process has all entries in memory. */
export interface Entry extends Omit<Tool, 'environment' | 'input' | 'output' | 'upstream' | 'contentHash'> {
  /** What a call does at the tool's server. A run of a creator's tool counts as a write. */
  readonly effect: 'read' | 'write' | 'delete'
  /** Additional words for the search: the names of its inputs. */
  readonly terms: string
}

/** The request to a tool's server. */
export interface UpstreamRequest {
  readonly url: string
  readonly method: HttpMethod
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array | null
  /** It holds a caller's own secret, which goes to no other address than this one. */
  readonly staysHere?: true
  /** It asks how far the work of an earlier request is. */
  readonly polls?: Polling
}

export interface Polling {
  /** The address, without the credentials in its query. */
  readonly at: string
  /** Where the result will be, if elsewhere. */
  readonly result: string | null
}

export interface UpstreamAnswer {
  readonly status: number
  readonly contentType: string | null
  /** The `Link` header, which may name the next page. */
  readonly link?: string | null
  /** Where it says that the work goes on elsewhere. */
  readonly follow?: Following
  readonly body: Buffer
}

/** The headers of an answer whose work is not done. */
export interface Following {
  readonly location: string | null
  readonly operation: string | null
  readonly retryAfter: string | null
}

/** A file among the inputs: its bytes in the request itself, or the address that they are fetched from. */
export const FILE_SCHEMA: JsonSchema = {
  type: 'object',
  description: 'A file: `url` is fetched, or `base64` holds the bytes',
  properties: {
    url: { type: 'string', maxLength: 2_048, pattern: '^https?://' },
    base64: { type: 'string' },
    name: { type: 'string', minLength: 1, maxLength: 200 },
    contentType: { type: 'string', maxLength: 100, pattern: '^[a-z]+/[A-Za-z0-9.+-]+$' },
  },
  oneOf: [{ required: ['url'] }, { required: ['base64'] }],
  additionalProperties: false,
}

export const FILES_SCHEMA: JsonSchema = { type: 'array', items: FILE_SCHEMA, maxItems: 20 }
