import type { Caller } from '../../kit/caller.ts'
import type { Id } from '../../kit/ids.ts'
import type { Usdc } from '../../kit/money.ts'
import type { Environment } from '../../kit/owner.ts'
import type { ToolId } from './tool.ts'

export type CallId = Id<'call'>

/** What somebody wants a tool to do. */
export interface CallAsk {
  readonly slug: string
  readonly input: unknown
  /** A dearer tool is not called. */
  readonly maxCost?: Usdc | null
  readonly caller: Caller
  /** Names the act: the same one again is the same call. */
  readonly operation: Id<'op'>
  /** Whoever repeats it comes under the same name. */
  readonly keyed: boolean
  /** What is paid for is kept for whoever asks again; so it is for whoever is keyed. */
  readonly keeps?: boolean
  /** Aborts when the caller is gone. That ends the call only as long as the tool's server has not been asked. */
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: Progress) => void
}

/** How far a call has come. */
export interface Progress {
  readonly progress: number
  readonly total: number | null
  readonly message: string | null
}

/** What a tool answered. */
export type Output =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'text'; readonly value: string }
  | { readonly kind: 'binary'; readonly value: Binary }

export interface Binary {
  readonly contentType: string
  readonly base64: string
  readonly bytes: number
}

/** A call that was paid for, with what its caller has left. */
export interface CallResult {
  readonly callId: CallId
  readonly tool: string
  readonly output: Output['value']
  readonly outputKind: Output['kind']
  readonly cost: Usdc
  /** What is left of the free credits. */
  readonly credits: Usdc
  /** What is left in the wallet. */
  readonly balance: Usdc
  readonly durationMs: number
}

/** What ended unpaid, and why. */
export interface Failure {
  readonly code: string
  readonly sentence: string
}

/** Whose fault a failure is says what it means for the tool: only the upstream's own count against it. */
export type Fault = 'upstream' | 'caller' | 'ours'

/** A call as it is kept, without its answer. */
export interface CallSummary {
  readonly id: CallId
  readonly environment: Environment
  /** Null where a stranger paid by x402. */
  readonly userId: string | null
  readonly agentId: string | null
  readonly toolId: ToolId
  readonly slug: string
  readonly provider: string
  readonly cost: Usdc
  readonly failure: Failure | null
  /** Which of its locks it was: one that is tried again takes the next. */
  readonly attempt: number
  readonly durationMs: number
  readonly endedAt: Date
}

/** One that was asked for under a name, so that its answer can be given again. */
export interface KeptCall extends CallSummary {
  /** Null where it failed, or where the answer has been forgotten since. */
  readonly output: Output | null
}
