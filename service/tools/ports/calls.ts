import type { Usdc } from '../../kit/money.ts'
import type { Statements } from '../../kit/transaction.ts'
import type { Environment, Owner } from '../../kit/owner.ts'
import type { CallId, CallInput, CallSummary, Failure, Fault, StoredCall, Output, Progress } from '../model/call.ts'
import type { ToolStats, McpUpstream, ToolId, UpstreamAnswer, UpstreamRequest } from '../model/tool.ts'
import type { Scope } from './keeping.ts'

/** Calls that have ended, and what they say of their tools. */
export interface CallStore {
  /** In the transaction of the money. Answers the ids that were new. */
  write(inside: Statements, calls: readonly EndedCall[]): Promise<ReadonlySet<string>>
  /** Writes a call whose money moved elsewhere. */
  note(call: EndedCall): Promise<void>
  find(owner: Owner, id: CallId): Promise<StoredCall | null>
  list(owner: Owner, filter: CallFilter): Promise<{ calls: readonly CallSummary[]; total: number }>
  /** Adds ended calls to their tools' stats, each exactly once. */
  foldStats(now: Date): Promise<number>
  /** Of one owner's tools. */
  stats(scope: Scope, now: Date): Promise<ReadonlyMap<ToolId, ToolStats>>
  /** Deletes stats that are too old to be read. */
  forget(now: Date): Promise<void>
  /** Failing tools that were not checked for a while; from now on they were. */
  takeFailing(now: Date, limit: number): Promise<readonly FailingTool[]>
  /** It may be well again: with one more failure it fails again. */
  recovered(toolId: ToolId): Promise<void>
}

export interface EndedCall extends CallSummary {
  /** Stored for a repeated request; null where there can be none. */
  readonly output: Output | null
  readonly fault: Fault | null
}

export interface CallFilter {
  /** An agent's key sees its own. */
  readonly agentId: string | null
  readonly tool: string | null
  readonly limit: number
  readonly offset: number
}

export interface FailingTool {
  readonly toolId: ToolId
  readonly environment: Environment
  readonly slug: string
}

/** The ways to the servers behind the tools. */
export interface Upstreams {
  /** Within the limits of a call; a failure is thrown as `upstream` or `late`. */
  http(request: UpstreamRequest, signal: AbortSignal): Promise<UpstreamAnswer>
  mcp(call: McpCall, signal: AbortSignal): Promise<Output>
  /** Whether anything at all answers at this address. */
  isThere(url: string): Promise<boolean>
}

export interface McpCall {
  readonly upstream: McpUpstream
  readonly input: Readonly<Record<string, unknown>>
  readonly headers: Readonly<Record<string, string>>
  readonly onProgress: (progress: Progress) => void
}

/** Runs creators' tools as the marketplace runs all their assets, where they are paid. */
export interface AssetRunner {
  run(run: AssetRun): Promise<{ output: string | null; cost: Usdc; failure: Failure | null }>
}

export interface AssetRun extends Pick<CallInput, 'caller' | 'slug' | 'operation' | 'keyed'> {
  /** The tool's names, for the lists of agents. */
  readonly toolNames: readonly string[]
  readonly inputs: Readonly<Record<string, unknown>>
  readonly maxCost: Usdc | null
  /** Takes a place among the calls of its server once there is money for it; throws where there is none. */
  readonly enter: () => () => void
  /** When it aborts the run is canceled, if its request has not left yet. */
  readonly signal: AbortSignal
}

/** How many calls a key has under way, over all processes. */
export interface Slots {
  readonly atOnce: number
  /** Null when all are taken; else what gives this one back. */
  take(key: string): Promise<(() => void) | null>
}
