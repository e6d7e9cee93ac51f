import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { McpFault, type McpAsk, type McpCall, type McpService } from '../../api/mcp/parts.ts'
import { answered, failed, pageFor, plain, unpaid, type OwnerPages } from '../../api/mcp/results.ts'
import { DomainError } from '../../kit/errors.ts'
import type { Id } from '../../kit/ids.ts'
import { fromDecimal, toWire } from '../../kit/money.ts'
import { jsonOrUndefined } from '../../kit/json-shape.ts'
import { isRecord, type Raw } from '../../kit/schema/merge.ts'
import { sellOverMcp, toolOf } from '../../sales/service/mcp-door.ts'
import { toolNameOf } from '../../sales/model.ts'
import type { SellingDeps } from '../../sales/service/deps.ts'
import { notBought } from '../errors.ts'
import type { PaymentView } from '../model.ts'
import type { AccountPayments } from '../ports.ts'
import { toolOfferOf, type Checkouts } from '../service/checkouts.ts'

/** A checkout for MCP clients: one tool, whose call buys it. A guest pays for the call, an account from its wallet. */
export function createCheckoutMcp({
  checkouts,
  selling,
  facilitator,
  accounts,
  pages,
  countGuest,
}: McpDeps): McpService {
  async function call(ask: McpAsk, sent: McpCall): Promise<CallToolResult> {
    const { name, arguments: input = {} } = sent.params
    try {
      if (ask.guest !== null) await countGuest(ask.guest)
      const { checkout } = await checkouts.view(checkoutOf(ask))
      if (name !== toolNameOf(checkout.product.name)) throw McpFault.params(`Unknown tool: ${name}`)
      if (checkout.testMode) return await simulate(checkout.id, input, ask.operation)
      return ask.guest === null
        ? await chargeAccount(checkout, input, { ask, sent })
        : await sell(checkout.id, input, { ask, sent })
    } catch (error) {
      if (!(error instanceof DomainError)) throw error
      const page = sent.opensPages ? pageFor(error, pages) : null
      if (page !== null) throw page
      return failed(error)
    }
  }

  async function sell(id: string, input: Raw, { ask, sent }: Call): Promise<CallToolResult> {
    const { journal, dialects } = selling
    const meta = sent.params._meta ?? {}
    const sale = await sellOverMcp(
      { meta, operation: ask.operation, gone: sent.signal },
      {
        facilitator,
        journal,
        dialects,
        offer: () => checkouts.offer(id, input),
        buy: (request) => checkouts.sell(id, input, request),
        toBody: () => ({}),
      },
    )
    if (sale.kind === 'required') return unpaid(sale.terms, sale.meta)
    return toResult(sale.sold.value, sale.meta)
  }

  async function simulate(id: string, input: Raw, operation: Id<'op'>): Promise<CallToolResult> {
    const order = {
      input,
      named: (field: string) => field,
      presented: null,
      quoteId: null,
      token: null,
      paymentId: null,
    }
    return toResult(await checkouts.pay(id, { ...order, waitsForResult: true }, operation), {
      'coinslot/simulated': true,
    })
  }

  /** Bought as at any other seller: within the limits of the caller's agent, and never above the listed price. */
  async function chargeAccount(
    { id, url }: { id: string; url: string },
    input: Raw,
    { ask: { caller, operation }, sent: { repeats: keyed } }: Call,
  ): Promise<CallToolResult> {
    const { amount: maxAmount } = await checkouts.offer(id, input)
    const headers = { 'content-type': 'application/json' }
    const request = { url, method: 'POST', headers, body: JSON.stringify(input), maxAmount }
    const { payment, response } = await accounts.pay(caller, request, operation, { keyed, background: false })
    const body = response?.encoding === 'utf8' ? jsonOrUndefined(response.body) : undefined
    const named = payment === null ? {} : { paymentId: payment.id }
    const cost = payment === null ? 0 : toWire(payment.amount)
    if (response === null || response.status >= 300 || !isRecord(body)) throw notBought(response?.status ?? null, named)
    return toResult(body as unknown as PaymentView, { 'coinslot/billing': { cost, ...named } })
  }

  return {
    about: () => ({ name: 'coinslot-checkout', title: 'Coinslot checkout', version: '1', instructions: INSTRUCTIONS }),
    tools: {
      async list(ask) {
        const { checkout } = await checkouts.view(checkoutOf(ask))
        const offer = toolOfferOf({ ...checkout, price: fromDecimal(String(checkout.price)) })
        return { tools: [toolOf(offer, ask.guest !== null)] }
      },
      call,
    },
    resources: null,
    // A guest fetches a lost answer with the payment's token.
    keeps: () => false,
    task: () => Promise.resolve(null),
  }
}

interface Call {
  ask: McpAsk
  sent: McpCall
}

export interface McpDeps {
  checkouts: Pick<Checkouts, 'view' | 'offer' | 'sell' | 'pay'>
  selling: Pick<SellingDeps, 'journal' | 'dialects'>
  facilitator: string
  accounts: AccountPayments
  pages: OwnerPages
  countGuest(address: string): Promise<void>
}

const checkoutOf = ({ query }: McpAsk): string => query['chk'] ?? ''

/** The workflow's answer itself where there is one, otherwise the payment and its delivery. */
function toResult(view: PaymentView, meta: Readonly<Record<string, unknown>>): CallToolResult {
  const answer = view.delivery?.answer ?? null
  if (answer === null) return plain({ ...view }, meta)
  return answered(answer, meta)
}

const INSTRUCTIONS = `One tool, which a seller offers for a price. Each call buys it once, in USDC.
Without an account the first answer states the price for x402 and MPP; call again with the payment in _meta.
With an API key the account's wallet pays. Nothing is charged for a call that is refused.`
