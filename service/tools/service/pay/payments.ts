import type { Address } from '../../../chain/model.ts'
import type { NetworkName } from '../../../chain/networks.ts'
import { invalid } from '../../../kit/errors.ts'
import { isId } from '../../../kit/ids.ts'
import { forSale, paymentsUnavailable } from '../../../sales/errors.ts'
import type { Offer, Sale } from '../../../sales/model.ts'
import type { PurchaseRequest, SellingDeps, Sold } from '../../../sales/service/deps.ts'
import { createSelling } from '../../../sales/service/sell.ts'
import { paymentMissing } from '../../errors/call.ts'
import type { Tool } from '../../model/tool.ts'
import { faultOfShape } from '../../rules/shape.ts'
import { assertSold, createToolProduct, type CheckedCall, type ToolAnswer, type ToolProductDeps } from './product.ts'

/** Calls without an account, each paid by x402. */
export function createToolPayments(deps: ToolPaymentDeps) {
  const { unpaid, selling, environment, network, address, recipient } = deps
  const { journal, method, dialects } = selling
  const statusUrl = ({ id, details }: Sale): string => `${address}/pay/${String(details['slug'])}/calls/${id}`
  const product = createToolProduct({ ...deps, ...selling, offerOf, statusUrl })
  const sales = createSelling(selling, product)

  async function check(slug: string, inputs: unknown): Promise<CheckedCall> {
    const tool = await unpaid.find(environment, slug)
    return { tool, input: unpaid.checked(tool, inputs) }
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
      // No call was ever sold with such an input, and it may be too deep to be hashed.
      const misshapen = faultOfShape(inputs)
      if (misshapen !== null) throw invalid(misshapen)
      return await sales.buy({ ...ask, slug, inputs, call: await forSale(check(slug, inputs)) })
    },

    /** The price of a call, after a check that the call can be made. */
    async offer(slug: string, input: unknown): Promise<Offer> {
      const tool = await unpaid.find(environment, slug)
      assertSold(tool)
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
