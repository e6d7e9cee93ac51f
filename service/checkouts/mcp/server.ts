import type { McpService } from '../../api/mcp/parts.ts'
import { fromDecimal } from '../../kit/money.ts'
import { toolOf } from '../../sales/service/mcp-door.ts'
import { toolOfferOf } from '../service/checkouts.ts'
import { createCheckoutCalls, type CheckoutCallDeps } from './calls.ts'
import { checkoutOf } from './results.ts'

/** A checkout for MCP clients: one tool, whose call buys it. A guest pays for the call, an account from its wallet. */
export function createCheckoutMcp(deps: CheckoutCallDeps): McpService {
  const { call, task } = createCheckoutCalls(deps)
  return {
    about: () => ({ name: 'coinslot-checkout', title: 'Coinslot checkout', version: '1', instructions: INSTRUCTIONS }),
    tools: {
      async list(ask) {
        const { checkout } = await deps.checkouts.view(checkoutOf(ask))
        const offer = toolOfferOf({ ...checkout, price: fromDecimal(String(checkout.price)) })
        return { tools: [toolOf(offer, ask.guest !== null)] }
      },
      call,
    },
    resources: null,
    keeps: () => true,
    keepsForGuests: true,
    task,
  }
}

const INSTRUCTIONS = `One tool, which a seller offers for a price. Each call buys it once, in USDC.
Without an account the first answer states the price for x402 and MPP, or asks the person to pay on a page; call again
with the payment in _meta. With an API key the account's wallet pays. Nothing is charged for a call that is refused.`
