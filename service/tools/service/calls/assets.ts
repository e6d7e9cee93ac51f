import type { Clock } from '../../../kit/clock.ts'
import type { Ledger } from '../../../ledger/service.ts'
import { upstreamError, upstreamTimeout } from '../../errors/call.ts'
import type { CallResult } from '../../model/call.ts'
import type { RdaUpstream, Tool } from '../../model/tool.ts'
import type { AssetRunner, CallStore, EndedCall } from '../../ports/calls.ts'
import type { Order } from './charge.ts'

/** Tools of creators: the marketplace runs them and pays whoever made them; free credits are not for them. */
export function createAssetCalls({ assets, place, store, ledger, clock }: AssetCallDeps) {
  return {
    async run({ ask, callId, owner, tool, input, signal }: Order, upstream: RdaUpstream): Promise<CallResult> {
      const started = performance.now()
      const { caller, operation, keyed, maxCost = null } = ask
      const toolNames = [tool.slug, tool.id]
      const ran = await assets.run({
        caller,
        slug: upstream.rdaSlug,
        toolNames,
        inputs: input,
        maxCost,
        operation,
        keyed,
        enter: () => place(tool, owner.userId),
        signal,
      })
      const durationMs = Math.round(performance.now() - started)
      const { failure } = ran
      const call: EndedCall = {
        id: callId,
        environment: owner.environment,
        userId: owner.userId,
        agentId: caller.agentId,
        toolId: tool.id,
        slug: tool.slug,
        provider: tool.provider,
        cost: ran.cost,
        failure,
        attempt: 1,
        durationMs,
        endedAt: clock.now(),
        fault: failure === null ? null : 'upstream',
        kept: keyed && failure === null ? { kind: 'text', value: ran.output ?? '' } : null,
      }
      await store.note(call)
      if (failure !== null) {
        if (failure.code === 'run_timeout') throw upstreamTimeout()
        throw upstreamError(failure.sentence)
      }
      const [left] = await ledger.balances([owner])
      if (left === undefined) throw new Error('a payer was left without a balance')
      return {
        callId,
        tool: tool.slug,
        output: ran.output ?? '',
        outputKind: 'text',
        cost: ran.cost,
        credits: left.credits,
        balance: left.wallet,
        durationMs,
      }
    },
  }
}

export interface AssetCallDeps {
  assets: AssetRunner
  /** A place among the calls of its server, and how to leave it; throws where there is none. */
  place(tool: Tool, account: string): () => void
  store: Pick<CallStore, 'note'>
  ledger: Pick<Ledger, 'balances'>
  clock: Clock
}
