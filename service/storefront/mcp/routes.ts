import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import type { McpAsk, McpCall } from '../../api/mcp/parts.ts'
import { answered, unpaid } from '../../api/mcp/results.ts'
import { Departure } from '../../kit/departure.ts'
import { DomainError } from '../../kit/errors.ts'
import { deriveId } from '../../kit/ids.ts'
import { ZERO, type Usdc } from '../../kit/money.ts'
import type { Owner } from '../../kit/owner.ts'
import { paymentMissing } from '../../paywall/errors.ts'
import type { OpenedRoute, RouteAnswer } from '../../paywall/service/tools.ts'
import { PaymentRefused } from '../../sales/errors.ts'
import type { AccountFor, AccountPayment } from '../../sales/model.ts'
import type { AccountPurchases } from '../../sales/service/account-purchases.ts'
import type { Sold } from '../../sales/service/deps.ts'
import { assertMaxCost, withinMaxCost } from '../../sales/service/door.ts'
import { billedMeta, maxCostIn, namedPaymentIn, sellOverMcp } from '../../sales/service/mcp-door.ts'
import { proofOfOwnCall, type PaymentTokens } from '../../sales/service/proof.ts'
import type { AccountPayments, PaidCall } from '../ports.ts'
import type { Seller } from './server.ts'

/** Sells calls of paywalls' routes: a guest pays at the gate, an account from its wallet. */
export function createRouteSeller({ openRoute, accounts, purchases, tokens, countGuest }: RouteSellerDeps): Seller {
  async function sell(route: OpenedRoute, { operation }: McpAsk, { params, signal }: McpCall): Promise<CallToolResult> {
    const meta = params._meta ?? {}
    const counter = withinMaxCost(route.counter(), maxCostIn(meta))
    const sale = await sellOverMcp({ meta, operation, gone: signal }, counter)
    return sale.kind === 'required' ? unpaid(sale.terms, sale.meta) : toResult(route, sale.sold.value, sale.meta)
  }

  /** Within the limits of the caller's agent. A seller with a wallet here is paid in the ledger, any other one on the chain. */
  async function charge(route: OpenedRoute, ask: McpAsk, sent: McpCall): Promise<CallToolResult> {
    const { payment: named } = namedPaymentIn(sent.params._meta ?? {})
    if (named !== null) return await replay(route, ask, sent, named)
    // Whether the same call was paid on the chain before.
    const before = sent.repeats ? await purchases.find(ask.caller, deriveId('pay', ask.operation)) : null
    if (before?.payment != null) return await buyOutside(route, ask, sent)
    const boughtHere = await buyHere(route, ask, sent)
    if (boughtHere !== null) return boughtHere
    // Only now: what was paid before is answered, whatever the price has become since.
    assertMaxCost(route.price, maxCostIn(sent.params._meta))
    return await buyOutside(route, ask, sent)
  }

  /** A call that names a payment is answered from it, and buys nothing else. */
  async function replay(route: OpenedRoute, ask: McpAsk, sent: McpCall, named: string): Promise<CallToolResult> {
    const { sale = null, payment = null } = (await purchases.find(ask.caller, named)) ?? {}
    if (sale !== null) {
      const proof = proofOfOwnCall(tokens, sale.id)
      const sold = await unlessRefused(route.counter().buy({ ...purchaseOf(ask, sent), ...proof }))
      return answerOf(route, sold, payment === null ? billedMeta(sale, sold.token) : billedMeta(payment))
    }
    if (payment?.url !== route.url || payment.method !== route.method) throw paymentMissing()
    // It has reached no gate yet, and goes on from where it stands.
    return await buyOutside(route, { ...ask, operation: deriveId('op', payment.id) }, { ...sent, repeats: true })
  }

  /** Null where the seller is paid outside. */
  async function buyHere(route: OpenedRoute, ask: McpAsk, sent: McpCall): Promise<CallToolResult | null> {
    const { caller, operation } = ask
    const maxCost = maxCostIn(sent.params._meta)
    const accountFor: AccountFor = async ({ amount, network, recipient }) => {
      assertMaxCost(amount, maxCost)
      return await accounts.here.buyer(caller, { request: callOf(route, amount), network, recipient }, operation)
    }
    const sold = await unlessRefused(route.counter().buyFromAccount(purchaseOf(ask, sent), accountFor))
    return sold === null ? null : answerOf(route, sold, billedMeta(sold.sale, sold.token))
  }

  /** Bought as at any other seller, and never above the listed price. */
  async function buyOutside(
    route: OpenedRoute,
    { caller, operation }: McpAsk,
    { repeats: keyed }: McpCall,
  ): Promise<CallToolResult> {
    const request = callOf(route, route.price)
    const { payment, response } = await accounts.pay(caller, request, operation, { keyed, background: false })
    if (response === null && payment?.state === 'returned') throw notBought()
    if (response === null) throw noAnswer(payment === null ? {} : { paymentId: payment.id })
    const bill = payment === null || (await mayBeCharged(payment)) ? payment : { ...payment, amount: ZERO }
    const type = response.headers['content-type'] ?? ''
    const answer = { status: response.status, type: String(type), body: Buffer.from(response.body, response.encoding) }
    return toResult(route, { ...answer, whole: true }, billedMeta(bill))
  }

  /** Not where the gate refused the payment, or the API failed before the money moved: the gate settles neither. */
  async function mayBeCharged(payment: AccountPayment): Promise<boolean> {
    if (payment.state === 'settled') return true
    const sale = await purchases.signedFor(payment)
    return sale !== null && sale.state !== 'released' && sale.state !== 'failed'
  }

  /** A route that is free. The limits of the caller's agent decide about it as about any other. */
  async function pass(route: OpenedRoute, { guest, caller, operation }: McpAsk): Promise<CallToolResult> {
    if (guest === null) await accounts.here.countFree(caller, callOf(route, ZERO), operation)
    return toResult(route, await route.pass(), {})
  }

  return async ({ owner, id }, ask, sent) => {
    if (ask.guest !== null) await countGuest(ask.guest)
    const route = await openRoute(owner, id, sent.params.arguments ?? {}, sent.signal)
    if (route.price === ZERO) return await pass(route, ask)
    return ask.guest === null ? await charge(route, ask, sent) : await sell(route, ask, sent)
  }
}

/** Gets a route ready to be called with this input; throws where the input does not fit it. */
export type OpenRoute = (
  owner: Owner,
  tool: string,
  input: Readonly<Record<string, unknown>>,
  gone: AbortSignal,
) => Promise<OpenedRoute>

interface RouteSellerDeps {
  openRoute: OpenRoute
  accounts: AccountPayments
  purchases: AccountPurchases
  tokens: Pick<PaymentTokens, 'of'>
  countGuest(address: string): Promise<void>
}

type Meta = Readonly<Record<string, unknown>>

/** Of a call that names no payment. */
function purchaseOf({ operation }: McpAsk, { signal }: McpCall) {
  return { operation, presented: null, token: null, payment: null, departure: new Departure(signal) }
}

async function unlessRefused<T>(bought: Promise<T>): Promise<T> {
  return await bought.catch((error: unknown) => {
    throw error instanceof PaymentRefused ? notBought() : error
  })
}

function answerOf(route: OpenedRoute, { value }: Sold<RouteAnswer>, meta: Meta): CallToolResult {
  if (value === null) throw new Error('a paid sale has no answer')
  return toResult(route, value, meta)
}

/** The call that an agent's owner sees. */
function callOf({ url, method, headers, body }: OpenedRoute, maxAmount: Usdc): PaidCall {
  return { url, method, headers, body, maxAmount }
}

function toResult({ url: uri }: OpenedRoute, { status, type, body, whole }: RouteAnswer, meta: Meta): CallToolResult {
  const mimeType = type.split(';')[0]?.trim().toLowerCase() ?? ''
  const about = { 'coinslot/status': status, ...(whole ? {} : { 'coinslot/truncated': true }), ...meta }
  const failed = status >= 400 ? { isError: true } : {}
  if (isText(mimeType) || body.length === 0) return { ...answered(body.toString('utf8'), about), ...failed }
  const data = body.toString('base64')
  const content = mimeType.startsWith('image/')
    ? { type: 'image' as const, data, mimeType }
    : { type: 'resource' as const, resource: { uri, mimeType, blob: data } }
  return { content: [content], _meta: about, ...failed }
}

function isText(mimeType: string): boolean {
  return /^text\/|[/+](json|xml|yaml|javascript|x-ndjson|x-www-form-urlencoded)$/.test(mimeType)
}

/** The call was interrupted before, or the upstream failed, and its answer was lost. */
function notBought(): DomainError {
  const sentence = 'This call was not bought, and nothing was charged. Send it again as a new call.'
  return new DomainError('upstream', 'not_bought', sentence)
}

function noAnswer(payment: Readonly<Record<string, string>>): DomainError {
  const charged = 'paymentId' in payment ? 'The payment shows whether it was charged.' : 'Nothing was charged.'
  return new DomainError('upstream', 'not_bought', `The API did not answer in time. ${charged}`, payment)
}
