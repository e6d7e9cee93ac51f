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
  /** Its calls are answered with examples. */
  readonly simulated: boolean
}

/** The success of tools, measured by their calls. Read every few seconds, for ranks and warnings. */
export interface Measured {
  of(scope: Scope): Promise<ReadonlyMap<ToolId, ToolStats>>
}
