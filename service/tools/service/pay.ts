import type { Address } from '../../chain/model.ts'
import type { NetworkName } from '../../chain/networks.ts'
import type { Clock } from '../../kit/clock.ts'
import { Departure } from '../../kit/departure.ts'
import { isId, type Id } from '../../kit/ids.ts'
import type { Log } from '../../kit/log.ts'
import { ZERO } from '../../kit/money.ts'
import type { Environment } from '../../kit/owner.ts'
import type { Sale } from '../../sales/model.ts'
import type { SellingDeps, Sold } from '../../sales/service/deps.ts'
import { createSelling } from '../../sales/service/sell.ts'
import { canonicalHash } from '../../kit/hash.ts'
import type { Presented } from '../../x402/model.ts'
import { needsKey, paymentMissing, paymentsUnavailable } from '../errors/payment.ts'
import type { CallId } from '../model/call.ts'
import type { PaidCall, ToolOffer } from '../model/payment.ts'
import type { Tool } from '../model/tool.ts'
import type { CallStore } from '../ports/calls.ts'
import type { Calls } from './calls.ts'
import { createToolProduct, type Answered } from './pay/product.ts'

/** Calls without an account, each paid by itself. */
export function createToolPayments(deps: ToolPaymentDeps) {
  const { unpaid, selling, environment, network, address, recipient } = deps
  const { journal, method } = selling
  const statusUrl = ({ id, details }: Sale): string => `${address}/pay/${String(details['slug'])}/calls/${id}`
  const product = createToolProduct({ ...deps, ...selling, offerOf, statusUrl })
  const sales = createSelling(selling, product)

  async function findTool(slug: string): Promise<Tool> {
    const tool = await unpaid.find(environment, slug, null)
    if (tool.upstream.kind === 'rda' || tool.price === ZERO) throw needsKey()
    return tool
  }

  function offerOf(tool: Tool): ToolOffer {
    if (recipient === null || !method.serves(network)) throw paymentsUnavailable()
    const { slug, name, price: amount, input } = tool
    return { slug, name, address: `${address}/pay/${slug}`, amount, network, recipient, input }
  }

  async function findOrNull(id: CallId): Promise<Sale | null> {
    const sale = await journal.findById(id)
    return sale?.product === 'tool' ? sale : null
  }

  return {
    async pay({ slug, input: raw, gone, ...ask }: PayAsk): Promise<PaidCall> {
      const tool = await findTool(slug)
      const input = unpaid.checked(tool, raw)
      const inputHash = canonicalHash([tool.id, input])
      return toPaid(await sales.buy({ ...ask, tool, input, inputHash, departure: new Departure(gone) }))
    },

    /** What a call costs, once it is known that it can be made. */
    async offer(slug: string, input: unknown): Promise<ToolOffer> {
      const tool = await findTool(slug)
      unpaid.checked(tool, input)
      return offerOf(tool)
    },

    /** Its state, without what was answered. */
    async find(id: string): Promise<Sale> {
      const found = isId('call', id) ? await findOrNull(id) : null
      if (found === null) throw paymentMissing()
      return found
    },

    /** Whether the answer has arrived: then it is not given again; else whoever proves the sale fetches it. */
    handedOver: (id: CallId, arrived: boolean): Promise<void> => (arrived ? journal.handedOver(id) : journal.leave(id)),
  }
}

export type ToolPayments = ReturnType<typeof createToolPayments>

export interface PayAsk {
  slug: string
  input: unknown
  /** Null where a token alone says who is asking. */
  presented: Presented | null
  /** The token of a payment, or one that the buyer chooses for a new one. */
  token: string | null
  /** A payment that was made here: the call's id, or the nonce of its authorization. */
  payment: string | null
  operation: Id<'op'>
  gone: AbortSignal
}

interface ToolPaymentDeps {
  unpaid: Calls['unpaid']
  calls: Pick<CallStore, 'note'>
  selling: SellingDeps
  clock: Clock
  log: Log
  environment: Environment
  network: NetworkName
  /** Who is paid; null where this server has no address of its own. */
  recipient: Address | null
  /** Of the tools. */
  address: string
  timeoutMs: number
}

function toPaid({ sale, value, token }: Sold<Answered>): PaidCall {
  const { amount: cost, network, payer, txHash, details } = sale
  if (value === null || txHash === null) throw new Error('a paid call has no transaction')
  const { output, durationMs } = value
  const call = { callId: sale.id as CallId, tool: String(details['slug']), cost, durationMs }
  return { ...call, output: output.value, outputKind: output.kind, network, payer, txHash, token }
}
