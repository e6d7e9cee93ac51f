import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { McpFault, type McpAsk, type McpCall, type McpService } from '../../api/mcp/parts.ts'
import { failed, pageFor, type OwnerPages } from '../../api/mcp/results.ts'
import { DomainError } from '../../kit/errors.ts'
import type { Id } from '../../kit/ids.ts'
import { toolOf } from '../../sales/service/mcp-door.ts'
import type { FoundProduct, Kind } from '../model.ts'
import type { Storefront } from '../service.ts'

/** All that an account sells, for MCP clients: each product is a tool, whose call buys it. */
export function createStorefrontMcp(deps: McpDeps): McpService {
  const { storefront, sellers, pages, countMessage, task } = deps

  async function checkoutFor(ask: McpAsk, name: unknown): Promise<FoundProduct | null> {
    const product = await storefront.find(handleOf(ask), ask.caller.environment, String(name)).catch(noneMissing)
    return product?.kind === 'checkout' ? product : null
  }

  async function call(ask: McpAsk, sent: McpCall): Promise<CallToolResult> {
    try {
      await countMessage(ask)
      const { name } = sent.params
      const product = await storefront.find(handleOf(ask), ask.caller.environment, name)
      if (product === null) throw McpFault.params(`Unknown tool: ${name}`)
      return await sellers[product.kind](product, ask, sent)
    } catch (error) {
      if (!(error instanceof DomainError)) throw error
      const page = sent.opensPages ? pageFor(error, pages) : null
      if (page !== null) throw page
      return failed(error)
    }
  }

  return {
    about: () => ({
      name: 'coinslot-storefront',
      title: 'Coinslot storefront',
      version: '1',
      instructions: INSTRUCTIONS,
    }),
    tools: {
      async list(ask, cursor) {
        await countMessage(ask)
        const found = await storefront.page(handleOf(ask), ask.caller.environment, cursor)
        if (found === null) throw McpFault.params('cursor: was not issued by this server')
        const { shown, next } = found
        const isGuest = ask.guest !== null
        const tools = shown.map(({ product, offer }) => ({ ...toolOf(offer, isGuest), name: product.tool }))
        return { tools, ...(next === null ? {} : { nextCursor: next }) }
      },
      call,
    },
    resources: null,
    /** Of checkouts, whose workflows may take long. A guest fetches other lost answers with the payment's token. */
    keeps: async (name, ask) => (await checkoutFor(ask, name)) !== null,
    keepsForGuests: true,
    task,
    async taskOperation(ask, params) {
      const checkout = await checkoutFor(ask, params.name)
      return checkout === null ? null : await deps.taskOperation(checkout, ask, params)
    },
  }
}

/** Sells one product to the caller of its tool. */
export type Seller = (product: FoundProduct, ask: McpAsk, sent: McpCall) => Promise<CallToolResult>

interface McpDeps {
  storefront: Storefront
  sellers: Readonly<Record<Kind, Seller>>
  /** The calls that are stored. */
  task: McpService['task']
  /** The task of a checkout's call, where it is not named by the request. */
  taskOperation(checkout: FoundProduct, ask: McpAsk, params: McpCall['params']): Promise<Id<'op'> | null>
  pages: OwnerPages
  /** Counts each message, also those of one batch. Throws when there were too many. */
  countMessage(ask: McpAsk): Promise<void>
}

/** The call itself says that there is no such account. */
function noneMissing(error: unknown): null {
  if (error instanceof DomainError && error.kind === 'missing') return null
  throw error
}

const handleOf = ({ query }: McpAsk): string => query['handle'] ?? ''

const INSTRUCTIONS = `All that one seller offers, each as a tool with a price. Each call buys it once, in USDC.
Without an account the first answer states the price for x402 and MPP; call again with the payment in _meta.
With an API key the account's wallet pays; the header Idempotency-Key names a call that may be repeated,
and a call with coinslot/payment of an earlier answer's _meta has that answer again. Nothing is charged for a call that is refused.`
