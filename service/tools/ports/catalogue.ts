import type { Environment } from '../../kit/owner.ts'
import type { Figures } from '../model/figures.ts'
import type { Credentials, SimulatedAnswer } from '../model/provider.ts'
import type { Tool, ToolId, UserId } from '../model/tool.ts'
import type { Scope } from './keeping.ts'

/** The catalogue as whoever calls tools sees it. */
export interface CatalogueForCalls {
  /** The viewer's own tool of that slug, else the platform's. Throws `tool_not_found`, or `tool_removed` with its successor. */
  bySlug(environment: Environment, slug: string, viewer: UserId | null): Promise<Tool>
  list(wanted: Wanted): Promise<{ tools: readonly ListedTool[]; total: number }>
  /** The best for what somebody wants to do, best first. */
  search(wanted: Search): Promise<readonly ListedTool[]>
  /** Opened from the vault for this one call: to be put into the request and nowhere else. */
  credentials(tool: Tool): Promise<Credentials>
  /** Whether calls of this tool are answered here, by `simulate`, instead of being sent anywhere. */
  isSimulated(tool: Tool): Promise<boolean>
  simulate(tool: Tool, input: unknown): SimulatedAnswer
}

export interface Wanted {
  readonly environment: Environment
  readonly viewer: UserId | null
  readonly search?: string | null | undefined
  readonly provider?: string | null | undefined
  readonly category?: string | null | undefined
  readonly collection?: string | null | undefined
  readonly limit: number
  readonly offset: number
}

export interface Search {
  readonly environment: Environment
  readonly viewer: UserId | null
  readonly query: string
  readonly provider?: string | null | undefined
  readonly collection?: string | null | undefined
  /** 8 when absent. */
  readonly limit?: number | undefined
}

export interface ListedTool {
  readonly tool: Tool
  readonly figures: Figures | null
}

/** What the calls' side knows of tools' success: read every few seconds, for ranks and warnings. */
export interface Measured {
  of(scope: Scope): Promise<ReadonlyMap<ToolId, Figures>>
}
