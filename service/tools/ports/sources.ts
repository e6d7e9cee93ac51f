import type { Field } from '../../kit/fields.ts'
import type { Usdc } from '../../kit/money.ts'
import type { Environment } from '../../kit/owner.ts'
import type { Reading } from '../model/draft.ts'
import type { AuthScheme, HttpUpstream, Tool, UpstreamAnswer } from '../model/tool.ts'

/** Reads OpenAPI documents of unknown authors. */
export interface Documents {
  /** Throws `document_refused` with the fault. */
  read(text: string, options: ReadOptions): Promise<Reading>
  /** The version of the reader. Another version may make other tools from the same document. */
  readonly edition: string
}

export interface ReadOptions extends ReadBounds {
  /** The document's address, which its relative server addresses refer to. */
  readonly base: string | null
  /** Replaces the server that the document names. */
  readonly server: string | null
  readonly auth: AuthScheme | null
  /** The document comes with the service or from the operator. */
  readonly trusted: boolean
}

/** The limits on one reading of a source. */
export interface ReadBounds {
  /** A longer document is refused before it is parsed, and a longer list of tools before more of it is asked for. */
  readonly charactersMax?: number
  /** Called while the source is read. Throws when it has more tools or bytes than allowed. */
  readonly check?: (reading: { tools: number; bytes: number }) => void
}

/** Reads the tools that MCP servers offer. */
export interface ToolServers {
  /** Throws `mcp_server_refused` with the fault. */
  read(reading: ServerReading): Promise<Reading>
}

export interface ServerReading extends ReadBounds {
  readonly server: string
  /** Whose calls may share the session. */
  readonly caller: string
  readonly headers: Readonly<Record<string, string>>
  /** Ends the reading when its request is closed. */
  readonly signal?: AbortSignal
}

/** Requests to addresses from users, within limits. */
export interface Fetching {
  /** Throws `invalid` where the address must not be called. */
  checkAddress(url: string): Promise<void>
  /** A document's text. */
  fetch(url: string): Promise<string>
}

export interface SecretKeeping {
  seal(text: string, context: string): string
  open(token: string, context: string): string
}

/** Tools that creators published in the marketplace, the most used first. */
export interface PublishedAssets {
  page(environment: Environment, limit: number, offset: number): Promise<readonly PublishedAsset[]>
  details(environment: Environment, id: string): Promise<PublishedDetails>
}

export interface PublishedAsset {
  readonly id: string
  readonly slug: string
  readonly name: string
  readonly description: string
  readonly updatedAt: Date
}

export interface PublishedDetails {
  readonly inputs: readonly Field[]
  /** The most that a call can be charged: one that is paid by the second ends when its time is over. */
  readonly price: Usdc
}

/** Answers calls with examples, instead of a server. */
export interface Simulator {
  simulate(tool: Tool, upstream: HttpUpstream, input: unknown): UpstreamAnswer
}
