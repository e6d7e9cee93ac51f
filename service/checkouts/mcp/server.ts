import type { McpService } from '../../api/mcp/parts.ts'
import { receiptMeta, toolOf } from '../../sales/service/mcp-door.ts'
import { createAccountCalls } from './account.ts'
import { createCheckoutCalls, type CheckoutCallDeps } from './calls.ts'
import { checkoutOf, passIn, passMeta, taskOf } from './results.ts'

/** A checkout for MCP clients: one tool, whose call buys it. A guest pays for the call, an account from its wallet. */
export function createCheckoutMcp(deps: CheckoutCallDeps): McpService {
  const { checkouts, selling } = deps
  const account = createAccountCalls(deps)
  return {
    about: () => ({ name: 'coinslot-checkout', title: 'Coinslot checkout', version: '1', instructions: INSTRUCTIONS }),
    tools: {
      async list(ask) {
        return { tools: [toolOf(await checkouts.tool(checkoutOf(ask)), ask.guest !== null)] }
      },
      call: createCheckoutCalls(deps, account),
    },
    resources: null,
    keeps: () => true,
    keepsForGuests: true,
    /** The sale and its delivery are the task. */
    async task(ask, operation) {
      if (ask.guest === null) return await account.task(ask, operation)
      const own = await checkouts.boughtBy(operation)
      if (own === null) return null
      const { sale, view } = own
      const isByPass = view.payment.free === 'pass'
      return taskOf(
        own,
        isByPass ? passMeta(view) : receiptMeta({ sale, token: selling.tokens.of(sale.id) }, selling.dialects),
      )
    },
    /** A run of a pass has an operation of its own, which the pass is a part of. An account's is no task: it is not found by the account. */
    async taskOperation(ask, params) {
      const pass = ask.guest === null ? null : passIn(params)
      return pass === null ? null : await checkouts.passOperation(checkoutOf(ask), pass, ask.operation)
    },
  }
}

const INSTRUCTIONS = `One tool, which a seller offers for a price. Each call buys it once, in USDC.
Without an account the first answer states the price for x402 and MPP, or asks the person to pay on a page; call again
with the payment in _meta. With an API key the account's wallet pays; the header Idempotency-Key names a call that may be repeated,
and a call with coinslot/payment of an earlier answer's _meta has that answer again. Nothing is charged for a call that is refused.
A pass that was paid for ahead takes the place of a payment: its token as coinslot/pass in _meta.`
