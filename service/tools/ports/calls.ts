import type { Caller } from '../../kit/caller.ts'
import type { Id } from '../../kit/ids.ts'
import type { Usdc } from '../../kit/money.ts'
import type { Statements } from '../../kit/transaction.ts'
import type { Environment, Owner } from '../../kit/owner.ts'
import type { CallId, CallSummary, Fault, KeptCall, Output, Progress } from '../model/call.ts'
import type { Figures } from '../model/figures.ts'
import type { McpUpstream, ToolId } from '../model/tool.ts'
import type { UpstreamAnswer, UpstreamRequest } from '../model/upstream.ts'
import type { Scope } from './keeping.ts'

/** Calls that have ended, and what they say of their tools. */
export interface CallStore {
  /** In the transaction of the money. Answers the ids that were not there before. */
  write(inside: Statements, calls: readonly EndedCall[]): Promise<ReadonlySet<string>>
  /** One whose money moved elsewhere. */
  note(call: EndedCall): Promise<void>
  find(owner: Owner, id: CallId): Promise<KeptCall | null>
  list(owner: Owner, filter: CallFilter): Promise<{ calls: readonly CallSummary[]; total: number }>
  /** Moves what ended calls left behind into their tools' figures, each exactly once. */
  foldFigures(now: Date): Promise<number>
  /** Of one owner's tools. */
  figures(scope: Scope, now: Date): Promise<ReadonlyMap<ToolId, Figures>>
  /** Answers and figures that are too old to be asked for. */
  forget(now: Date): Promise<void>
  /** Failing tools that nobody has looked at for a while; looking at one is noted. */
  takeFailing(now: Date, limit: number): Promise<readonly FailingTool[]>
  /** It may be well again: the next failure counts as the first. */
  recovered(toolId: ToolId): Promise<void>
}

export interface EndedCall extends CallSummary {
  /** Kept for whoever asks again; null where nobody can. */
  readonly kept: Output | null
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
  /** Within the limits of a call; throws what went wrong as an upstream's or as too late. */
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

/** Creators' tools run where all that is theirs runs: they are paid there. */
export interface AssetRunner {
  run(ask: AssetRun): Promise<{ output: string | null; cost: Usdc; failure: { code: string; sentence: string } | null }>
}

export interface AssetRun {
  readonly caller: Caller
  readonly slug: string
  /** What the tool is called, for the lists of agents. */
  readonly toolNames: readonly string[]
  readonly inputs: Readonly<Record<string, unknown>>
  readonly maxCost: Usdc | null
  readonly operation: Id<'op'>
  readonly keyed: boolean
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
