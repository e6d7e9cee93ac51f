import type { Caller } from '../../kit/caller.ts'
import type { Id } from '../../kit/ids.ts'
import type { Usdc } from '../../kit/money.ts'
import type { Environment } from '../../kit/owner.ts'
import type { ToolId } from './tool.ts'

export type CallId = Id<'call'>

/** A call as its caller asks for it. */
export interface CallInput {
  readonly slug: string
  readonly input: unknown
  /** A dearer tool is not called. */
  readonly maxCost?: Usdc | null
  readonly caller: Caller
  /** The same operation again is the same call. */
  readonly operation: Id<'op'>
  /** The request has an idempotency key, so it can be repeated. */
  readonly keyed: boolean
  /** Stores the result for a repeated request, as for a keyed one. */
  readonly storesResult?: boolean
  /** Aborts when the caller leaves. That ends the call only while the tool's server has not been asked. */
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

/** Why a call ended unpaid. */
export interface Failure {
  readonly code: string
  readonly sentence: string
}

/** Whose fault a failure is: only the upstream's count against the tool. */
export type Fault = 'upstream' | 'caller' | 'ours'

/** A stored call without its answer. */
export interface CallSummary {
  readonly id: CallId
  readonly environment: Environment
  /** Null where the call was paid by x402. */
  readonly userId: string | null
  readonly agentId: string | null
  readonly toolId: ToolId
  readonly slug: string
  readonly provider: string
  readonly cost: Usdc
  readonly failure: Failure | null
  /** Which of its holds paid it: each further attempt takes another. */
  readonly attempt: number
  readonly durationMs: number
  readonly endedAt: Date
}

/** A stored call with its answer, for a repeated request. */
export interface StoredCall extends CallSummary {
  /** Null where it failed, or where the answer was deleted since. */
  readonly output: Output | null
}
