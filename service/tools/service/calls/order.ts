import type { Guard } from '../../../budgets/service/guard.ts'
import type { ChosenConnection, ConnectionUse } from '../../../connections/service/use.ts'
import type { Clock } from '../../../kit/clock.ts'
import type { Departure } from '../../../kit/departure.ts'
import type { Failpoints } from '../../../kit/failpoints.ts'
import type { Log } from '../../../kit/log.ts'
import type { Owner } from '../../../kit/owner.ts'
import type { Balances } from '../../../ledger/model.ts'
import type { Ledger } from '../../../ledger/service.ts'
import type { CallId, CallInput, CallResult, CallSummary, Output, StoredCall } from '../../model/call.ts'
import type { Tool } from '../../model/tool.ts'
import type { AnswerFiles, AssetRunner, CallStore, Slots, Upstreams } from '../../ports/calls.ts'
import type { SecretKeeping } from '../../ports/sources.ts'
import { ANSWER_KEPT_MS } from '../../rules/operation.ts'
import type { Paging } from '../../rules/paging.ts'
import type { Catalogue } from '../catalogue/catalogue.ts'

/** A call with everything needed to make it and charge for it. */
export interface Order {
  call: CallInput
  callId: CallId
  owner: Owner
  tool: Tool
  input: Readonly<Record<string, unknown>>
  attempt: number
  /** Null for one answer as the tool gives it; else the most pages that are read, and how. */
  all: { pagesMax: number; paging: Paging } | null
  /** The caller's own access to the provider. Null where the tool needs none. */
  connection: ChosenConnection | null
  /** Ends when the process stops, and when the caller takes the call back in time. */
  departure: Departure
}

/**
 * Takes a place among the calls in progress at a tool's server and returns how to free it. Throws when all are taken.
 * The account is `GUESTS` when a call is paid without one.
 */
export type Place = (tool: Tool, account: string) => () => void

export interface CallDeps {
  catalogue: Pick<Catalogue, 'bySlug' | 'credentials' | 'isSimulated' | 'simulate' | 'wasSimulated' | 'accessFor'>
  connections: Pick<ConnectionUse, 'find' | 'credentials' | 'answered'>
  /** Whether a host may be called without https: only one that the operator allowed by name. */
  plainHttp: (url: URL) => boolean
  store: CallStore
  upstreams: Upstreams
  assets: AssetRunner
  ledger: Pick<Ledger, 'actTogether' | 'balances' | 'holdStates'>
  /** Holds the money. Also checks the limits when the caller is an agent. */
  locks: Pick<Guard, 'reserve'>
  slots: Slots
  clock: Clock
  log: Log
  failpoints: Failpoints
  /** How long a tool may take. */
  timeoutMs: number
  /** Concurrent calls to one provider, in each process. */
  providerAtOnce: number
  /** The largest answer that is sent; of several pages, together. */
  answerBytesMax: number
  files: AnswerFiles
  /** Seals how work that goes on is asked about. */
  secrets: SecretKeeping
  /** The files that one call sends, together. */
  fileBytesMax: number
}

/** The columns of a call's row that do not depend on how the call ended. */
export function rowOf({ callId, owner, call, tool, attempt }: Order, durationMs: number, endedAt: Date) {
  return {
    id: callId,
    environment: owner.environment,
    userId: owner.userId,
    agentId: call.caller.agentId,
    toolId: tool.id,
    slug: tool.slug,
    provider: tool.provider,
    attempt,
    durationMs,
    endedAt,
  } satisfies Partial<CallSummary>
}

/** How often a hold that has ended before its call did is taken anew. */
export const MORE_ATTEMPTS = 3

/** A hold ends once, so each further attempt at a call takes another one. */
export function holdOf(callId: CallId, attempt: number): string {
  return attempt === 1 ? callId : `${callId}~${String(attempt)}`
}

/** Whether the answer is stored, because its request can be repeated or its caller can fetch it. */
export function storesAnswer({ keyed, storesResult = false }: CallInput): boolean {
  return keyed || storesResult
}

interface PaidCall extends Pick<CallSummary, 'id' | 'slug' | 'cost' | 'durationMs' | 'endedAt'> {
  operation?: StoredCall['operation']
}

export function resultOf(call: PaidCall, output: Output, left: Balances): CallResult {
  const { id, slug, cost, durationMs, endedAt, operation = null } = call
  return {
    callId: id,
    tool: slug,
    output: output.value,
    outputKind: output.kind,
    simulated: output.simulated === true,
    pages: output.pages ?? null,
    operation:
      operation === null ? null : { askAt: operation.askAt, expiresAt: new Date(endedAt.getTime() + ANSWER_KEPT_MS) },
    cost,
    credits: left.credits,
    balance: left.wallet,
    durationMs,
  }
}

export async function balancesOf(ledger: CallDeps['ledger'], owner: Owner): Promise<Balances> {
  const [balances] = await ledger.balances([owner])
  if (balances === undefined) throw new Error('the ledger returned no balance of a payer')
  return balances
}
