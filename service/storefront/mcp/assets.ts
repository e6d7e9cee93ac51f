import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import type { McpAsk, McpCall } from '../../api/mcp/parts.ts'
import { answered, unpaid } from '../../api/mcp/results.ts'
import { deriveId, isId, type Id } from '../../kit/ids.ts'
import { toWire } from '../../kit/money.ts'
import type { Environment } from '../../kit/owner.ts'
import { FAILURES, runFailed, runMissing, runUnsettled } from '../../marketplace/errors.ts'
import { hasEnded, type Run } from '../../marketplace/model/run.ts'
import type { GuestRuns } from '../../marketplace/service/guests.ts'
import type { Runs } from '../../marketplace/service/runs/runs.ts'
import { withinMaxCost, type Counter } from '../../sales/service/door.ts'
import { chargedMeta, maxCostIn, namedPaymentIn, sellOverMcp } from '../../sales/service/mcp-door.ts'
import type { FoundProduct } from '../model.ts'
import type { Seller } from './server.ts'

/** Sells runs of assets. Who runs one pays once it has succeeded: a guest by x402, an account from its balance. */
export function createAssetSeller({ runs, guests, facilitator, toolNamesOf, countGuest }: AssetSellerDeps): Seller {
  async function sell(id: string, { operation }: McpAsk, { params, signal }: McpCall): Promise<CallToolResult> {
    const { journal, dialects } = guests
    const { arguments: inputs = {}, _meta: meta = {} } = params
    const counter: Counter<Run> = {
      facilitator,
      journal,
      dialects,
      offer: () => guests.offer(id, inputs),
      buy: (request) => guests.buy(id, inputs, request),
      toBody: () => ({}),
    }
    const sale = await sellOverMcp({ meta, operation, gone: signal }, withinMaxCost(counter, maxCostIn(meta)))
    if (sale.kind === 'required') return unpaid(sale.terms, sale.meta)
    // No client confirms that a result arrived, so its buyer can fetch it again as long as it is stored.
    await journal.leave(sale.sold.sale)
    return answered(sale.sold.value.output ?? '', sale.meta)
  }

  async function run(
    { id: identifier, slug }: FoundProduct,
    { caller, operation }: McpAsk,
    call: McpCall,
  ): Promise<CallToolResult> {
    const { params, signal, repeats: keyed } = call
    // A run that has not begun is taken back; any other goes on and is charged if it succeeds.
    const cancel = (): void => void runs.cancel(caller, idOf(operation)).catch(() => undefined)
    signal.addEventListener('abort', cancel, { once: true })
    try {
      const inputs = params.arguments ?? {}
      const maxCost = maxCostIn(params._meta)
      // By the names that it has among all tools: what its seller calls it here is for the seller to choose.
      const toolNames = slug === undefined || caller.agentId === null ? [] : await toolNamesOf(caller.environment, slug)
      const input = { identifier, inputs, modelId: null, maxCost, webhookUrl: null, background: false, toolNames }
      const ended = await runs.run(caller, input, { operation, keyed })
      if (!hasEnded(ended.state)) throw runUnsettled()
      if (ended.state !== 'succeeded') throw runFailed(ended, ended.failure ?? FAILURES.internal)
      const billing = { cost: toWire(ended.cost), runId: ended.id }
      return answered(ended.output ?? '', chargedMeta(billing, ended.id))
    } finally {
      signal.removeEventListener('abort', cancel)
    }
  }

  /** A call that names a run is answered from it, and begins no other. */
  async function replay(asset: FoundProduct, ask: McpAsk, sent: McpCall, named: string): Promise<CallToolResult> {
    const before = isId('run', named) ? await runs.find(ask.caller, named) : null
    if (before?.rdaId !== asset.id) throw runMissing()
    return await run(asset, { ...ask, operation: deriveId('op', before.id) }, { ...sent, repeats: true })
  }

  return async (asset, ask, sent) => {
    if (ask.guest === null) {
      const { payment: named } = namedPaymentIn(sent.params._meta ?? {})
      return named === null ? await run(asset, ask, sent) : await replay(asset, ask, sent, named)
    }
    await countGuest(ask.guest)
    return await sell(asset.id, ask, sent)
  }
}

function idOf(operation: Id<'op'>): Id<'run'> {
  return deriveId('run', operation)
}

interface AssetSellerDeps {
  runs: Pick<Runs, 'run' | 'find' | 'cancel'>
  guests: GuestRuns
  facilitator: string
  /** The slug of an asset's tool, and its id where the catalogue has it: by either an agent's policy may name it. */
  toolNamesOf(environment: Environment, slug: string): Promise<readonly string[]>
  countGuest(address: string): Promise<void>
}
