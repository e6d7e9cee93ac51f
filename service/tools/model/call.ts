import type { ErrorCode } from '../../kit/error-codes/catalogue.ts'
import type { Caller } from '../../kit/caller.ts'
import type { Id } from '../../kit/ids.ts'
import type { Usdc } from '../../kit/money.ts'
import type { Environment } from '../../kit/owner.ts'
import type { Polling, ToolId } from './tool.ts'

export type CallId = Id<'call'>

/** A call as its caller requests it. */
export interface CallInput {
  readonly slug: string
  readonly input: unknown
  /** A tool that costs more is not called. */
  readonly maxCost?: Usdc | null
  /** Nothing but these fields of the answer. */
  readonly fields?: FieldTree | null
  /** Reads up to this many pages of the answer, each at the tool's price. */
  readonly pagesMax?: number | null
  readonly caller: Caller
  /** The name or id of the connection to use, in place of the default one. */
  readonly connection?: string | null
  /** A repeated operation is the same call. */
  readonly operation: Id<'op'>
  /** The request has an idempotency key, so it can be repeated. */
  readonly keyed: boolean
  /** An earlier request may have made the call. As `keyed` when absent. */
  readonly mayHaveBegun?: boolean
  /** Stores the result for a repeated request, as for a keyed one. */
  readonly storesResult?: boolean
  /** Aborts when the caller disconnects. It ends the call only before the tool's server has been asked. */
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: Progress) => void
}

/** The fields of an answer that are kept, by name; null keeps all of a field. */
export type FieldTree = ReadonlyMap<string, FieldTree | null>

/** The progress of a call. */
export interface Progress {
  readonly progress: number
  readonly total: number | null
  readonly message: string | null
}

/** A tool's answer. */
export type Output = (
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'text'; readonly value: string }
  | { readonly kind: 'binary'; readonly value: Binary }
  | { readonly kind: 'file'; readonly value: KeptFile }
) & {
  readonly simulated?: true
  readonly pages?: Pages
  /** The server's `Link` header. It is not kept. */
  readonly link?: string
  /** The tool has accepted the work and is not done: the value says how far it is. */
  readonly operation?: Operation
}

/** Work that goes on at the tool's server, and how it is asked about. Its addresses are sealed at rest. */
export interface Operation {
  readonly at: string
  /** Null where `at` is the result's own address. */
  readonly polls: Polling | null
  readonly waitMs: number
  /** Which of the provider's keys started it. */
  readonly key: string
  /** The caller's own access that started it. */
  readonly connectionId: string | null
}

/** Work that goes on, as its caller sees it. */
export interface OperationUnderWay {
  /** The tool is not asked before. */
  readonly askAt: Date
  /** After that it can no longer be asked about. */
  readonly expiresAt: Date
}

/** The pages that an answer was put together from. */
export interface Pages {
  /** Each was paid for. */
  readonly read: number
  /** The input that goes on after them; null when there is nothing more. */
  readonly next: Readonly<Record<string, unknown>> | null
}

/** A tool's answer on its way to its caller: one that is too large is kept first. */
export type Reached = Output | { readonly kind: 'large'; readonly value: LargeBody }

export interface LargeBody {
  readonly contentType: string
  readonly body: Buffer
}

/** An answer that was too large to be sent. Whoever has its link can load it until then. */
export interface KeptFile {
  readonly url: string
  readonly name: string
  readonly contentType: string
  readonly bytes: number
  readonly expiresAt: string
}

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
  /** The sandbox made the answer up: the tool's server was not called. */
  readonly simulated: boolean
  /** Null where a single page was asked for. */
  readonly pages: Pages | null
  /** The tool is still at work, so the output says how far it is. */
  readonly operation: OperationUnderWay | null
  readonly cost: Usdc
  /** The rest of the free credits. */
  readonly credits: Usdc
  /** The rest of the wallet's balance. */
  readonly balance: Usdc
  readonly durationMs: number
}

/** Why a call ended unpaid. */
export interface Failure {
  readonly code: ErrorCode
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
  /** The work goes on: how to ask about it, and from when. */
  readonly operation: { readonly sealed: string; readonly askAt: Date } | null
}

/** How far a call is, as every process can read it. */
export type CallState =
  | { readonly state: 'under way' }
  | { readonly state: 'ended'; readonly call: CallResult | FailedCall; readonly endedAt: Date }
  /** Its process died and its hold was given back, so it has no result. */
  | { readonly state: 'lost' }

/** A call without a result: it failed, or its answer has been deleted. */
export type FailedCall = Pick<CallSummary, 'id' | 'failure'>
