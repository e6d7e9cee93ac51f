import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { McpFault, McpPageRequired, type McpAsk, type McpCall } from '../../api/mcp/parts.ts'
import { failed, pageFor, unpaid, type OwnerPages } from '../../api/mcp/results.ts'
import { DomainError } from '../../kit/errors.ts'
import { canonicalHash } from '../../kit/hash.ts'
import { toDecimal, ZERO, type Usdc } from '../../kit/money.ts'
import type { Raw } from '../../kit/schema/merge.ts'
import type { SellingDeps } from '../../sales/service/deps.ts'
import { assertMaxCost } from '../../sales/service/door.ts'
import { maxCostIn, sellOverMcp } from '../../sales/service/mcp-door.ts'
import { presentedInMeta } from '../../x402/payload.ts'
import { toolNameOf } from '../../sales/model.ts'
import { toChosen } from '../http/price.ts'
import type { Checkouts } from '../service/checkouts.ts'
import type { AccountCallDeps, AccountCalls } from './account.ts'
import {
  checkoutOf,
  chosenIn,
  guesserOf,
  passIn,
  passMeta,
  patienceOf,
  toResult,
  waitsLong,
  type ToolRequest,
} from './results.ts'

/** Calls of a checkout's tool. Each buys it once: a guest by itself, an account from its wallet. */
export function createCheckoutCalls(deps: CheckoutCallDeps, account: Pick<AccountCalls, 'resume' | 'charge'>) {
  const { checkouts, selling, facilitator, pages, countGuest } = deps

  async function call(ask: McpAsk, sent: McpCall): Promise<CallToolResult> {
    const { name, arguments: body = {} } = sent.params
    try {
      if (ask.guest !== null) await countGuest(ask.guest)
      const { checkout } = await checkouts.known(checkoutOf(ask))
      if (name !== toolNameOf(checkout.product.name)) throw McpFault.params(`Unknown tool: ${name}`)
      const request = { checkout, ...toChosen(body, guesserOf(ask)), ask, sent }
      const pass = passIn(sent.params)
      if (pass !== null) return await usePass(request, pass)
      if (ask.guest !== null) return await sell(await continued(request))
      const resumed = await account.resume(request)
      if (resumed !== null) return resumed
      return checkout.testMode ? await simulate(request) : await account.charge(request)
    } catch (error) {
      if (!(error instanceof DomainError)) throw error
      const page = sent.opensPages ? pageFor(error, pages) : null
      if (page !== null) throw page
      return failed(error)
    }
  }

  /** In versions without a state for it the session and the request say which call is repeated. */
  async function continued(request: ToolRequest): Promise<ToolRequest> {
    const { ask, sent } = request
    if (ask.pageSession === undefined || presentedInMeta(sent.params._meta ?? {}) !== null) return request
    const asked = canonicalHash([ask.query, sent.params.name, sent.params.arguments ?? {}]).toString('base64url')
    const operation = await checkouts.unanswered(ask.pageSession, asked)
    if (operation === null) return { ...request, sent: { ...sent, opensPages: false } }
    return { ...request, ask: { ...ask, operation }, sent: { ...sent, repeats: true } }
  }

  /** A guest pays with the call, or its person pays on the checkout's page. */
  async function sell(request: ToolRequest): Promise<CallToolResult> {
    const { checkout, ask, sent } = request
    const chosen = chosenIn(request)
    const meta = sent.params._meta ?? {}
    const presents = presentedInMeta(meta) !== null
    const patience = patienceOf(request)
    // A client that has a state comes back before its person has paid. Until there is a payment there is no task either.
    const comesBack = !presents && ask.pageSession === undefined
    const awaits = comesBack ? patienceOf(request, sent.hearsProgress) : { ms: 0 }
    const own = sent.repeats ? await checkouts.ended(ask.operation, awaits) : null
    const isPaid = own?.isPaid === true
    const asksPerson = sent.opensPages && !presents && !isPaid
    if (own !== null && asksPerson) await askPerson(request, 'The payment is not confirmed yet.')
    if (checkout.testMode && !isPaid) {
      if (asksPerson) await askPerson(request, `${checkout.product.name} is in test mode: nothing is charged.`)
      return await simulate(request)
    }
    const { journal, dialects } = selling
    let price: Usdc | null = null
    const sale = await sellOverMcp(
      { meta, operation: ask.operation, gone: sent.signal, own: own?.proof ?? null },
      {
        facilitator,
        journal,
        dialects,
        async offer() {
          const offer = await checkouts.offer(checkout.id, chosen)
          assertMaxCost(offer.amount, maxCostIn(meta))
          price = offer.amount
          return offer
        },
        buy: (purchase) => checkouts.sell(checkout.id, chosen, purchase, patience),
        toBody: () => ({}),
      },
    )
    if (sale.kind === 'sold') {
      if (ask.pageSession !== undefined) await checkouts.answered(sale.sold.value)
      return toResult(sale.sold.value, sale.meta)
    }
    const cost = `${checkout.product.name} costs ${toDecimal(price ?? ZERO)} USDC.`
    if (asksPerson) await askPerson(request, `${cost} Pay on this page, and the call goes on.`, sale.meta)
    return unpaid(sale.terms, sale.meta, `A person can pay in a browser and get the answer there: ${checkout.url}`)
  }

  /** Returns where the page's address would be too long. */
  async function askPerson(request: ToolRequest, message: string, meta: Raw = {}): Promise<void> {
    const { checkout, ask } = request
    const url = await checkouts.orderPage(checkout.id, chosenIn(request), ask.operation)
    if (url !== null) throw new McpPageRequired(url, message, meta)
  }

  /** One of the runs that were paid for ahead, for the holder of the token. */
  async function usePass(request: ToolRequest, pass: string): Promise<CallToolResult> {
    const { checkout, ask } = request
    // Of an account it is no task: nothing leads its client back to the answer, so only one that hears of the progress waits long.
    const waits = patienceOf(request, ask.guest === null ? request.sent.hearsProgress : waitsLong(request))
    const order = { ...unpaidOrder(request), claim: { pass }, waits }
    const view = await checkouts.pay(checkout.id, order, ask.operation)
    return toResult(view, passMeta(view))
  }

  async function simulate(request: ToolRequest): Promise<CallToolResult> {
    const { checkout, ask } = request
    const order = unpaidOrder(request)
    return toResult(await checkouts.pay(checkout.id, { ...order, waits: patienceOf(request) }, ask.operation), {
      'coinslot/simulated': true,
    })
  }

  return call
}

function unpaidOrder(request: ToolRequest) {
  const nothing = { presented: null, quoteId: null, token: null, paymentId: null }
  return { ...chosenIn(request), named: (field: string) => field, ...nothing }
}

export interface CheckoutCallDeps extends AccountCallDeps {
  checkouts: AccountCallDeps['checkouts'] &
    Pick<
      Checkouts,
      | 'known'
      | 'tool'
      | 'sell'
      | 'pay'
      | 'orderPage'
      | 'ended'
      | 'boughtBy'
      | 'unanswered'
      | 'answered'
      | 'passOperation'
    >
  selling: Pick<SellingDeps, 'journal' | 'dialects' | 'tokens'>
  facilitator: string
  pages: OwnerPages
  countGuest(address: string): Promise<void>
}
