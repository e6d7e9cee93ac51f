import type { Caller } from '../../kit/caller.ts'
import type { Id } from '../../kit/ids.ts'
import type { Usdc } from '../../kit/money.ts'
import type { Environment } from '../../kit/owner.ts'
import type { ToolId } from './tool.ts'

export type CallId = Id<'call'>

/** A call as its caller requests it. */
export interface CallInput {
  readonly slug: string
  readonly input: unknown
  /** A tool that costs more is not called. */
  readonly maxCost?: Usdc | null
  readonly caller: Caller
  /** A repeated operation is the same call. */
  readonly operation: Id<'op'>
  /** The request has an idempotency key, so it can be repeated. */
  readonly keyed: boolean
  /** Stores the result for a repeated request, as for a keyed one. */
  readonly storesResult?: boolean
  /** Aborts when the caller disconnects. It ends the call only before the tool's server has been asked. */
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: Progress) => void
}

/** The progress of a call. */
export interface Progress {
  readonly progress: number
  readonly total: number | null
  readonly message: string | null
}

/** A tool's answer. */
export type Output =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'text'; readonly value: string }
  | { readonly kind: 'binary'; readonly value: Binary }

export interface Binary {
  readonly contentType: string
  readonly base64: string
  readonly bytes: number
}

/** A paid call, with its payer's remaining money. */
export interface CallResult {
  readonly callId: CallId
  readonly tool: string
  readonly output: Output['value']
  readonly outputKind: Output['kind']
  readonly cost: Usdc
  /** The rest of the free credits. */
  readonly credits: Usdc
  /** The rest of the wallet's balance. */
  readonly balance: Usdc
  readonly durationMs: number
}

/** Why a call ended unpaid. */
export interface Failure {
  readonly code: string
  readonly sentence: string
}

/** The party whose fault a failure is. Only an upstream's failures count against the tool. */
export type Fault = 'upstream' | 'caller' | 'ours'

/** A stored call without its answer. */
export interface CallSummary {
  readonly id: CallId
  readonly environment: Environment
  /** Null when the call was paid by x402. */
  readonly userId: string | null
  readonly agentId: string | null
  readonly toolId: ToolId
  readonly slug: string
  readonly provider: string
  readonly cost: Usdc
  readonly failure: Failure | null
  /** The hold that paid for the call: each further attempt takes another. */
  readonly attempt: number
  readonly durationMs: number
  readonly endedAt: Date
}

/** A stored call with its answer, for a repeated request. */
export interface StoredCall extends CallSummary {
  /** Null when the call failed, or when its answer has been deleted. */
  readonly output: Output | null
}

/** How far a call is, as every process can read it. */
export type CallState =
  | { readonly state: 'under way' }
  | { readonly state: 'ended'; readonly call: CallResult | FailedCall; readonly endedAt: Date }
  /** Its process died and its hold was given back, so it has no result. */
  | { readonly state: 'lost' }

/** A call without a result: it failed, or its answer has been deleted. */
export type FailedCall = Pick<CallSummary, 'id' | 'failure'>
