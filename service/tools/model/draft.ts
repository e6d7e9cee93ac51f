import type { SecurityScheme } from '../../connections/model.ts'
import type { Environment } from '../../kit/owner.ts'
import type { JsonSchema, Tool, Upstream, UserId } from './tool.ts'

/** An operation as a document or a server describes it. */
export interface Operation {
  /** The operation's name at the provider. The slug is derived from it. */
  readonly operation: string
  readonly name: string
  readonly description: string
  readonly category: string | null
  readonly deprecated: boolean
  readonly input: JsonSchema
  readonly output: JsonSchema | null
  readonly upstream: Upstream
}

/** What it takes of its account's limit. */
export function bytesOf({ input, output, upstream, description }: Operation): number {
  return Buffer.byteLength(JSON.stringify([input, output, upstream, description]))
}

/** A tool before it is stored: without a price, an id or a history. */
export interface ToolDraft extends Omit<Operation, 'operation'> {
  readonly slug: string
}

/** An operation that did not become a tool, and why. */
export interface Skipped {
  readonly operation: string
  readonly why: string
}

/** The complete current content of a source. */
export interface Reading {
  readonly name: string
  readonly description: string
  readonly version: string | null
  readonly operations: readonly Operation[]
  readonly skipped: readonly Skipped[]
  /** How a document says that its operations are authenticated. */
  readonly schemes?: readonly SecurityScheme[]
}

/** The fields of a tool that decide whether a new reading changes it. */
export interface KnownTool extends Pick<Tool, 'id' | 'slug' | 'status' | 'successor' | 'contentHash'> {
  /** For an HTTP tool: the method and the path, which identify a renamed tool. */
  readonly address: string | null
}

export type NewTool = ToolDraft & Pick<Tool, 'id' | 'price' | 'contentHash'>

/** The changes that an import has to write. */
export interface Changes {
  readonly added: readonly NewTool[]
  readonly changed: readonly NewTool[]
  readonly removed: readonly Pick<Tool, 'id' | 'slug' | 'successor'>[]
  readonly unchanged: number
}

/** The tools that an account has imported. */
export interface Holdings {
  /** Only providers with tools. */
  readonly providers: number
  readonly tools: number
  /** The size of its tools' schemas and descriptions. */
  readonly bytes: number
}

/** The result of an import, by slug. */
export interface ImportReport {
  readonly provider: string
  readonly environment: Environment
  readonly added: readonly string[]
  readonly changed: readonly string[]
  readonly removed: readonly string[]
  readonly unchanged: number
  readonly skipped: readonly Skipped[]
  /** The provider had a key, which is for other servers than those of its tools now. */
  readonly keyRemoved: boolean
}

/** A named slice of the catalogue: every tool whose slug fits one of the patterns, with `*` for any text. */
export interface Collection {
  readonly environment: Environment
  readonly slug: string
  readonly name: string
  readonly description: string
  readonly ownerId: UserId | null
  readonly patterns: readonly string[]
}
