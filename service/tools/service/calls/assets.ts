import { upstreamError, upstreamTimeout, withToolsCode } from '../../errors/call.ts'
import type { CallResult, Output } from '../../model/call.ts'
import type { RdaUpstream } from '../../model/tool.ts'
import { balancesOf, resultOf, rowOf, storesAnswer, type CallDeps, type Order, type Place } from './order.ts'

/** Tools of creators. The marketplace runs them and pays their creators. Free credits do not pay for them. */
export function createAssetCalls({ assets, place, store, ledger, clock }: CallDeps & { place: Place }) {
  return {
    async run(order: Order, upstream: RdaUpstream): Promise<CallResult> {
      const { call, owner, tool, input, departure } = order
      const started = performance.now()
      const { caller, operation, keyed, maxCost = null } = call
      const toolNames = [tool.slug, tool.id]
      const enter = () => place(tool, owner.userId)
      const about = { caller, slug: upstream.rdaSlug, toolNames, inputs: input, maxCost, operation, keyed }
      const { signal } = departure
      const { output, cost, failure } = await assets.run({ ...about, enter, signal }).catch((error: unknown) => {
        throw withToolsCode(error, 'balance')
      })
      const durationMs = Math.round(performance.now() - started)
      const text: Output = { kind: 'text', value: output ?? '' }
      // The marketplace names its runs itself, so each call has a single attempt here.
      const row = { ...rowOf({ ...order, attempt: 1 }, durationMs, clock.now()), cost, failure }
      const fault = failure === null ? null : 'upstream'
      await store.note({ ...row, fault, output: storesAnswer(call) && failure === null ? text : null })
      if (failure?.code === 'run_timeout') throw upstreamTimeout()
      if (failure !== null) throw upstreamError(failure.sentence)
      return resultOf(row, text, await balancesOf(ledger, owner))
    },
  }
}
