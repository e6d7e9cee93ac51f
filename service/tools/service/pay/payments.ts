import type { Address } from '../../../chain/model.ts'
import type { NetworkName } from '../../../chain/networks.ts'
import { isId } from '../../../kit/ids.ts'
import { ZERO } from '../../../kit/money.ts'
import { paymentsUnavailable } from '../../../sales/errors.ts'
import type { Offer, Sale } from '../../../sales/model.ts'
import type { PurchaseRequest, SellingDeps, Sold } from '../../../sales/service/deps.ts'
import { createSelling } from '../../../sales/service/sell.ts'
import { canonicalHash } from '../../../kit/hash.ts'
import { needsKey, paymentMissing } from '../../errors/call.ts'
import type { Tool } from '../../model/tool.ts'
import { createToolProduct, type ToolAnswer, type ToolProductDeps } from './product.ts'

/** Calls without an account, each paid by x402. */
export function createToolPayments(deps: ToolPaymentDeps) {
  const { unpaid, selling, environment, network, address, recipient } = deps
  const { journal, method, dialects } = selling
  const statusUrl = ({ id, details }: Sale): string => `${address}/pay/${String(details['slug'])}/calls/${id}`
  const product = createToolProduct({ ...deps, ...selling, offerOf, statusUrl })
  const sales = createSelling(selling, product)

  async function findTool(slug: string): Promise<Tool> {
    const tool = await unpaid.find(environment, slug)
    const { upstream, price } = tool
    if (upstream.kind === 'rda' || price === ZERO) throw needsKey(upstream.kind === 'rda' ? upstream.rdaSlug : null)
    return tool
  }

  function offerOf(tool: Tool): Offer {
    if (recipient === null || !isAvailable()) throw paymentsUnavailable()
    const { slug, name, price: amount, input } = tool
    return { slug, name, address: `${address}/${slug}`, amount, network, recipient, input }
  }

  function isAvailable(): boolean {
    return recipient !== null && method.serves(network)
  }

  return {
    /** Whether this server can settle payments. */
    isAvailable,

    async buy(slug: string, inputs: unknown, ask: PurchaseRequest): Promise<Sold<ToolAnswer>> {
      const tool = await findTool(slug)
      const input = unpaid.checked(tool, inputs)
      return await sales.buy({ ...ask, tool, input, inputHash: canonicalHash([tool.id, input]) })
    },

    /** The price of a call, after a check that the call can be made. */
    async offer(slug: string, input: unknown): Promise<Offer> {
      const tool = await findTool(slug)
      unpaid.checked(tool, input)
      return offerOf(tool)
    },

    /** The sale's state, without the answer. */
    async find(id: string): Promise<Sale> {
      const sale = isId('call', id) ? await journal.findById(id) : null
      if (sale?.product !== 'tool') throw paymentMissing()
      return sale
    },

    journal,
    dialects,
  }
}

export type ToolPayments = ReturnType<typeof createToolPayments>

interface ToolPaymentDeps extends Omit<ToolProductDeps, 'tokens' | 'offerOf' | 'statusUrl'> {
  selling: SellingDeps
  network: NetworkName
  /** The address that receives the payment. Null when this server has none. */
  recipient: Address | null
  /** The tools' address. */
  address: string
}
