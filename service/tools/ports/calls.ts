import type { Caller } from '../../kit/caller.ts'
import type { Id } from '../../kit/ids.ts'
import type { Usdc } from '../../kit/money.ts'
import type { Statements } from '../../kit/transaction.ts'
import type { Environment, Owner } from '../../kit/owner.ts'
import type { CallId, CallInput, CallSummary, Failure, Fault, StoredCall, Output, Progress } from '../model/call.ts'
import type { ToolStats, McpUpstream, ToolId, UpstreamAnswer, UpstreamRequest } from '../model/tool.ts'
import type { Scope } from './keeping.ts'

/** Ended calls, and the statistics of their tools. */
export interface CallStore {
  /** Runs in the transaction of the money. Returns the ids that were new. */
  write(inside: Statements, calls: readonly EndedCall[]): Promise<ReadonlySet<string>>
  /** Stores a call that was paid elsewhere. */
  note(call: EndedCall): Promise<void>
  /** With an agent, only a call of this agent. */
  find(owner: Owner, id: CallId, agentId?: string | null): Promise<StoredCall | null>
  /** Whether this process asks now about work that goes on: no other does until that time. */
  claimOperation(id: CallId, now: Date, until: Date): Promise<boolean>
  /** How far the work is now, or its result. */
  writeOperation(id: CallId, progress: OperationProgress): Promise<void>
  list(owner: Owner, filter: CallFilter): Promise<{ calls: readonly CallSummary[]; total: number }>
  /** Adds ended calls to their tools' stats, each exactly once. */
  foldStats(now: Date): Promise<number>
  /** The statistics of one owner's tools. */
  stats(scope: Scope, now: Date): Promise<ReadonlyMap<ToolId, ToolStats>>
  /** Deletes statistics that are too old to be read. */
  forget(now: Date): Promise<void>
  /** Failing tools that were not checked for a while. Marks them as checked now. */
  takeFailing(now: Date, limit: number): Promise<readonly FailingTool[]>
  /** The tool may work again. One more failure marks it as failing again. */
  recovered(toolId: ToolId): Promise<void>
}

export interface EndedCall extends CallSummary {
  /** Stored for a repeated request. Null when the request cannot be repeated. */
  readonly output: Output | null
  readonly fault: Fault | null
  readonly operation?: StoredCall['operation']
}

export interface OperationProgress {
  /** Null where nothing new is known. */
  readonly output: Output | null
  /** Null when the work has ended. */
  readonly operation: StoredCall['operation']
}

export interface CallFilter {
  /** An agent's key sees only the agent's calls. */
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

/** Access to the servers behind the tools. */
export interface Upstreams {
  /** Limited like any call. Throws a failure as `upstream` or `late`. Without a place only ordinary answers are read. */
  http(request: UpstreamRequest, signal: AbortSignal, large?: LargePlace): Promise<UpstreamAnswer>
  /** A file that a caller named, without any credential. */
  fetch(url: string, bytesMax: number, signal: AbortSignal): Promise<UpstreamAnswer>
  mcp(call: McpCall, signal: AbortSignal): Promise<Output>
  /** Whether any server answers at this address. */
  isThere(url: string): Promise<boolean>
}

/** A place for an answer beyond the ordinary size, taken when it turns out to be one. Throws where none is free. */
export interface LargePlace {
  take(): void
}

/** Where answers are kept that are too large to be sent. */
export interface AnswerFiles {
  keepAnswer(
    owner: Owner,
    answer: { name: string; mediaType: string; body: Buffer },
  ): Promise<{ url: string; until: Date }>
}

export interface McpCall {
  readonly upstream: McpUpstream
  /** The server's session is shared with no other one. */
  readonly caller: string
  readonly input: Readonly<Record<string, unknown>>
  readonly headers: Readonly<Record<string, string>>
  readonly onProgress: (progress: Progress) => void
}

/** Runs creators' tools like the marketplace's other assets, which also pays the creators. */
export interface AssetRunner {
  run(run: AssetRun): Promise<AssetResult>
  /** The run of this operation; null when there is none. Its result is null until it has ended. */
  find(caller: Caller, operation: Id<'op'>): Promise<FoundRun | null>
}

export interface AssetResult {
  output: string | null
  cost: Usdc
  failure: Failure | null
}

export interface FoundRun {
  slug: string
  result: (AssetResult & { endedAt: Date; durationMs: number }) | null
}

export interface AssetRun extends Pick<CallInput, 'caller' | 'slug' | 'operation' | 'keyed'> {
  /** The tool's names, as agents' lists of allowed tools use them. */
  readonly toolNames: readonly string[]
  readonly inputs: Readonly<Record<string, unknown>>
  readonly maxCost: Usdc | null
  /** Takes a place among the calls of its server once the money is held. Throws when no place is free. */
  readonly enter: () => () => void
  /** Its abort cancels the run, unless the run's request was already sent. */
  readonly signal: AbortSignal
}

/** Counts the calls that a key has in progress, over all processes. */
export interface Slots {
  readonly atOnce: number
  /** Null when all slots are taken. Otherwise the function that frees this one. */
  take(key: string): Promise<(() => void) | null>
}
