import type { Environment } from '../../kit/owner.ts'
import type { Needs } from '../rules/needs.ts'
import type { ToolStats, Tool, ToolId, UserId } from '../model/tool.ts'
import type { Scope } from './keeping.ts'

/** The search area and its viewer. An absent filter matches everything. */
interface Within {
  readonly environment: Environment
  readonly viewer: UserId | null
  readonly provider?: string | null | undefined
  readonly collection?: string | null | undefined
}

export interface ListInput extends Within {
  readonly search?: string | null | undefined
  readonly category?: string | null | undefined
  readonly limit: number
  readonly offset: number
  /** Without a search: the most used first. The order may then change from one page to the next. */
  readonly byUse?: boolean | undefined
}

export interface Finding {
  /** With a search: those that fit it, best first. */
  readonly tools: readonly ListedTool[]
  readonly total: number
  /** When none fits: the few that come nearest. They probably do something else. */
  readonly nearest: readonly ListedTool[]
}

export interface SearchInput extends Within {
  readonly query: string
  /** 8 when absent. */
  readonly limit?: number | undefined
}

export interface ListedTool {
  readonly tool: Tool
  readonly stats: ToolStats | null
  readonly needs: Needs
  /** How well it fits the search, from 0 to 1. Null without a search. */
  readonly fit: number | null
  /** Its calls are answered with examples. */
  readonly simulated: boolean
}

/** The success of tools, measured by their calls. Read every few seconds, for ranks and warnings. */
export interface Measured {
  of(scope: Scope): Promise<ReadonlyMap<ToolId, ToolStats>>
}
