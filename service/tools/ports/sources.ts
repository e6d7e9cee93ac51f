import type { Usdc } from '../../kit/money.ts'
import type { Environment } from '../../kit/owner.ts'
import type { Reading } from '../model/draft.ts'
import type { SimulatedAnswer } from '../model/provider.ts'
import type { AuthScheme, HttpUpstream, Tool } from '../model/tool.ts'

/** Reads OpenAPI documents that strangers wrote. */
export interface Documents {
  /** Throws `document_refused` with what is wrong with it. */
  read(text: string, options: ReadOptions): Promise<Reading>
  /** Names how documents are read: another name, and the same document may give other tools. */
  readonly edition: string
}

export interface ReadOptions {
  /** Where the document was found: what its relative servers are relative to. */
  readonly base: string | null
  /** Instead of what the document says. */
  readonly server: string | null
  readonly auth: AuthScheme | null
  /** It was checked before it came into the house. */
  readonly trusted: boolean
  /** Asked while it is read: throws where this many tools, of this many bytes, are more than there may be. */
  readonly check?: (reading: { tools: number; bytes: number }) => void
}

/** Asks MCP servers what they offer. */
export interface ToolServers {
  read(server: string, headers: Readonly<Record<string, string>>): Promise<Reading>
}

/** Addresses that somebody gave, asked within limits. */
export interface Fetching {
  /** Throws what is wrong with it, as the fault of who gave it. */
  checkAddress(url: string): Promise<void>
  /** A document's text. */
  fetch(url: string): Promise<string>
}

export interface SecretKeeping {
  seal(text: string, context: string): string
  open(token: string, context: string): string
}

/** Tools that creators published in the marketplace. */
export interface PublishedTools {
  /** By slug, with what each costs. */
  read(environment: Environment): Promise<{ reading: Reading; prices: ReadonlyMap<string, Usdc> }>
}

/** Servers that are not there. */
export interface Simulator {
  simulate(tool: Tool, upstream: HttpUpstream, input: unknown): SimulatedAnswer
}
