import { ownerOf, type Caller } from '../../../kit/caller.ts'
import { deriveId, type Id } from '../../../kit/ids.ts'
import { answerForgotten } from '../../errors/call.ts'
import type { CallId, CallResult, CallState, StoredCall } from '../../model/call.ts'
import type { FoundRun } from '../../ports/calls.ts'
import { balancesOf, holdOf, MORE_ATTEMPTS, resultOf, type CallDeps } from './order.ts'

/** Reads how far a call is, in whichever process it was made. */
export function createCallStates({ catalogue, store, ledger, assets }: CallDeps) {
  /** Returns the stored result of a call that was paid for. */
  async function replay(stored: StoredCall): Promise<CallResult> {
    const { id, environment, userId, output } = stored
    if (output === null) throw answerForgotten(id)
    const answer = (await catalogue.wasSimulated(stored)) ? { ...output, simulated: true as const } : output
    return resultOf(stored, answer, await balancesOf(ledger, { userId: userId ?? '', environment }))
  }

  return {
    replay,

    /** Null when the caller has made no call with this operation, or none whose money was held. */
    async of(caller: Caller, operation: Id<'op'>): Promise<CallState | null> {
      const owner = ownerOf(caller)
      const id = deriveId('call', operation)
      // A named call may be repeated after a failure without a limit, and each repetition has its own hold.
      const failed = (await store.find(owner, id, caller.agentId))?.attempt ?? 0
      // Read before the row's final state, which is written in the transaction that ends the hold.
      const holds = await ledger.holdStates(owner, holdsOf(id, failed))
      if (holds.includes('open')) return UNDER_WAY
      const stored = await store.find(owner, id, caller.agentId)
      if (stored !== null) {
        const isFailed = stored.failure !== null || stored.output === null
        return { state: 'ended', call: isFailed ? stored : await replay(stored), endedAt: stored.endedAt }
      }
      const run = await assets.find(caller, operation)
      if (run !== null) return await ofRun(caller, operation, run)
      // With a row, it is the call of the owner or of another agent.
      return holds.length === 0 || (await store.find(owner, id)) !== null ? null : { state: 'lost' }
    },
  }

  /** A run goes on in another process when its own dies, and the row of its call is written later, if at all. */
  async function ofRun(caller: Caller, operation: Id<'op'>, { slug, result }: FoundRun): Promise<CallState> {
    if (result === null) return UNDER_WAY
    const { output, cost, failure, durationMs, endedAt } = result
    const id = deriveId('call', operation)
    if (failure !== null) return { state: 'ended', call: { id, failure }, endedAt }
    const text = { kind: 'text', value: output ?? '' } as const
    const left = await balancesOf(ledger, ownerOf(caller))
    return { state: 'ended', call: resultOf({ id, slug, cost, durationMs, endedAt }, text, left), endedAt }
  }
}

export type CallStates = ReturnType<typeof createCallStates>

const UNDER_WAY = { state: 'under way' } as const
/** Of the first attempts, and of those that may follow the last one that has failed. */
function holdsOf(id: CallId, failed: number): readonly string[] {
  const next = Array.from({ length: 1 + MORE_ATTEMPTS }, (_, place) => place + 1)
  return [...new Set([...next, ...next.map((attempt) => failed + attempt)])].map((attempt) => holdOf(id, attempt))
}
