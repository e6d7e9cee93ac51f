import type { Environment } from '../../kit/owner.ts'
import type { JsonSchema, Tool, Upstream, UserId } from './tool.ts'

/** An operation as a document or a server describes it. */
export interface Operation {
  /** Its name at the provider; the slug is made of it. */
  readonly operation: string
  readonly name: string
  readonly description: string
  readonly category: string | null
  readonly deprecated: boolean
  readonly input: JsonSchema
  readonly output: JsonSchema | null
  readonly upstream: Upstream
}

/** A future tool: without a price, an id or a history. */
export interface ToolDraft extends Omit<Operation, 'operation'> {
  readonly slug: string
}

/** An operation that no tool was made of, and why. */
export interface Skipped {
  readonly operation: string
  readonly why: string
}

/** All that a source holds today. */
export interface Reading {
  readonly name: string
  readonly description: string
  readonly version: string | null
  readonly operations: readonly Operation[]
  readonly skipped: readonly Skipped[]
}

/** The fields of a tool that decide whether a new reading changes it. */
export interface KnownTool extends Pick<Tool, 'id' | 'slug' | 'status' | 'successor' | 'contentHash'> {
  /** Of an HTTP tool: the method and the path, by which a renamed one is known again. */
  readonly address: string | null
}

export type NewTool = ToolDraft & Pick<Tool, 'id' | 'price' | 'contentHash'>

/** What an import has to write. */
export interface Changes {
  readonly added: readonly NewTool[]
  readonly changed: readonly NewTool[]
  readonly removed: readonly Pick<Tool, 'id' | 'slug' | 'successor'>[]
  readonly unchanged: number
}

/** What an account has imported. */
export interface Holdings {
  /** Only those with tools. */
  readonly providers: number
  readonly tools: number
  /** Of its tools' schemas and descriptions. */
  readonly bytes: number
}

/** What an import did, by slug. */
export interface ImportReport {
  readonly provider: string
  readonly environment: Environment
  readonly added: readonly string[]
  readonly changed: readonly string[]
  readonly removed: readonly string[]
  readonly unchanged: number
  readonly skipped: readonly Skipped[]
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
