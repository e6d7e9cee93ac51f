import { ownerOf, type Caller } from '../../../kit/caller.ts'
import { DomainError } from '../../../kit/errors.ts'
import { answerForgotten, callMissing, ofCall, serverChanged } from '../../errors/call.ts'
import type { CallId, CallInput, CallResult, Operation, Output, StoredCall } from '../../model/call.ts'
import type { Tool } from '../../model/tool.ts'
import { withFields, type LargeAnswers } from './large.ts'
import { type CallDeps, type Place } from './order.ts'
import type { Reach } from './reach.ts'
import type { CallStates } from './states.ts'

/**
 * Results that are fetched after their call. Where the tool was still at work when the call ended, it is asked again: for
 * nothing, since the call was charged, and by one process at a time.
 */
export function createOperations(deps: OperationsDeps) {
  const { catalogue, connections, store, states, reach, large, slots, place, secrets, clock, timeoutMs } = deps

  /** The work's result or state, as the tool tells it now. */
  async function ask(stored: StoredCall, sealed: string, { caller, tool, waitMs, signal }: Question): Promise<void> {
    const owner = ownerOf(caller)
    const operation = JSON.parse(secrets.open(sealed, contextOf(stored.id))) as Operation
    const named = operation.connectionId
    const { access } = named === null ? { access: null } : await catalogue.accessFor(tool)
    const connection = access === null ? null : await connections.find(caller, access, { isRequired: true, named })
    const room = large.place(owner)
    const leave = place(tool, owner.userId)
    try {
      const reached = await reach.resume({ tool, connection, operation, waitMs, signal, large: room })
      if (reached === null) throw serverChanged(stored.id)
      // The whole of it: the poll that finds the work done may want to read its state only.
      const output = await large.send({ owner, tool, callId: stored.id, call: {} }, reached)
      await store.writeOperation(stored.id, { output, operation: sealedOf(deps, stored.id, output) })
    } finally {
      leave()
      room.leave()
    }
  }

  /** Nobody is asked where the work has ended, or was asked about a moment ago. */
  async function asked(stored: StoredCall, asking: Omit<Question, 'tool'>): Promise<StoredCall> {
    const { id, slug, environment, operation, toolId } = stored
    if (operation === null) return stored
    const { caller } = asking
    const now = clock.now()
    const tool = await catalogue.bySlug(environment, slug, caller.user?.id ?? null)
    if (tool.id !== toolId) throw serverChanged(id)
    if (await catalogue.isSimulated(tool)) return stored
    if (!(await store.claimOperation(id, now, new Date(now.getTime() + timeoutMs)))) return stored
    try {
      await ask(stored, operation.sealed, { ...asking, tool })
    } catch (error) {
      const askAt = new Date(clock.now().getTime() + FAILED_MS)
      await store.writeOperation(id, { output: null, operation: { sealed: operation.sealed, askAt } })
      throw error
    }
    return (await store.find(ownerOf(caller), id, caller.agentId)) ?? stored
  }

  async function current(stored: StoredCall, { fields, ...asking }: ResultRequest): Promise<CallResult> {
    const { caller } = asking
    const giveBack = await slots.taken(caller.keyId ?? ownerOf(caller).userId)
    try {
      const now = await asked(stored, asking)
      const output = now.output === null || fields === null ? now.output : withFields(fields, now.output)
      return await states.replay({ ...now, output })
    } finally {
      giveBack()
    }
  }

  return {
    /** Another account's or agent's call counts as missing. */
    async result(caller: Caller, id: CallId, input: ResultInput): Promise<CallResult> {
      const stored = await store.find(ownerOf(caller), id, caller.agentId)
      if (stored === null) throw callMissing()
      if (stored.failure !== null) throw failedCall(stored.failure, id)
      if (stored.output === null) throw answerForgotten(id)
      try {
        return await current(stored, { caller, ...input })
      } catch (error) {
        throw ofCall(aboutPaid(error), id)
      }
    },
  }
}

/** How to ask about work that goes on. Null where the answer is the whole. */
export function sealedOf({ secrets, clock }: Sealing, id: CallId, { operation }: Output): StoredCall['operation'] {
  if (operation === undefined) return null
  const askAt = new Date(clock.now().getTime() + Math.max(operation.waitMs, FAILED_MS))
  return { sealed: secrets.seal(JSON.stringify(operation), contextOf(id)), askAt }
}

type Sealing = Pick<CallDeps, 'secrets' | 'clock'>

/** Binds what is sealed to its call, so that it cannot be opened in another call's row. */
function contextOf(id: CallId): string {
  return `tool-operation/${id}`
}

function failedCall({ code, sentence }: NonNullable<StoredCall['failure']>, callId: CallId): DomainError {
  return new DomainError('upstream', code, sentence, { callId })
}

/** The call was charged when the tool accepted the work, so no error may say that it was not, or that it is to be made anew. */
function aboutPaid(error: unknown): unknown {
  if (!(error instanceof DomainError)) return error
  const sentence = error.message.replace(' Nothing was charged.', ' Asking again costs nothing.')
  return new DomainError(error.kind, error.code, sentence, { ...error.fields, paid: true }).causedBy(error.cause)
}

export interface ResultInput {
  fields: NonNullable<CallInput['fields']> | null
  /** How long it may take until the work is done. */
  waitMs: number
  signal: AbortSignal
}

interface ResultRequest extends ResultInput {
  caller: Caller
}

interface Question extends Omit<ResultRequest, 'fields'> {
  tool: Tool
}

type OperationsDeps = Omit<CallDeps, 'slots'> & {
  states: CallStates
  reach: Reach
  large: LargeAnswers
  place: Place
  slots: { taken(key: string): Promise<() => void> }
}

/** A server that fails, or that names no time, is not asked again before. */
const FAILED_MS = 1_000
