import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import type { McpAsk, McpTask } from '../../api/mcp/parts.ts'
import { failed } from '../../api/mcp/results.ts'
import { Departure } from '../../kit/departure.ts'
import { jsonOrUndefined } from '../../kit/json-shape.ts'
import { deriveId, type Id } from '../../kit/ids.ts'
import type { Usdc } from '../../kit/money.ts'
import { isRecord, type Raw } from '../../kit/schema/merge.ts'
import type { AccountFor, AccountPayment, Sale } from '../../sales/model.ts'
import type { AccountPurchases } from '../../sales/service/account-purchases.ts'
import type { Sold } from '../../sales/service/deps.ts'
import { assertMaxCost } from '../../sales/service/door.ts'
import { billedMeta, maxCostIn, namedPaymentIn } from '../../sales/service/mcp-door.ts'
import { proofOfOwnCall, type PaymentTokens } from '../../sales/service/proof.ts'
import { notBought, paymentMissing, paymentReturned } from '../errors.ts'
import type { PaymentView } from '../views.ts'
import type { AccountPayments } from '../ports.ts'
import type { Checkouts } from '../service/checkouts.ts'
import type { Purchased } from '../service/purchases.ts'
import { chosenIn, PAID, patienceOf, taskOf, toResult, waitsLong, type ToolRequest } from './results.ts'

/** Calls with an API key, which the account's wallet pays. */
export function createAccountCalls({ checkouts, accounts, purchases, selling: { tokens } }: AccountCallDeps) {
  /** What the caller has paid for already, whatever the checkout sells by now. Null where nothing of this call is. */
  async function resume(request: ToolRequest): Promise<CallToolResult | null> {
    const { ask, sent } = request
    const { payment: named } = namedPaymentIn(sent.params._meta ?? {})
    if (named !== null) return await replay(request, named)
    const before = sent.repeats ? await bought(ask.caller, deriveId('pay', ask.operation)) : null
    if (before?.own != null) return await resultOf({ ...before, own: before.own }, request)
    return before?.payment == null ? null : await pay(request, before.payment.amount)
  }

  /** Within the limits of the caller's agent. A seller with a wallet here is paid in the ledger, any other one on the chain. */
  async function charge(request: ToolRequest): Promise<CallToolResult> {
    return (await buyHere(request)) ?? (await buyOutside(request))
  }

  /** A call that names a payment is answered from it, and buys nothing else. */
  async function replay(request: ToolRequest, named: string): Promise<CallToolResult> {
    const { checkout, ask, sent } = request
    const found = await bought(ask.caller, named)
    if (found?.own?.sale.subject === checkout.id) {
      const { operation } = ask
      const proof = proofOfOwnCall(tokens, found.own.sale.id)
      const purchase = { operation, presented: null, ...proof, departure: new Departure() }
      const sold = await checkouts.sell(checkout.id, chosenIn(request), purchase, patienceOf(request))
      return answerOf(sold, found.meta)
    }
    // It has reached no checkout yet, and goes on from where it stands.
    if (found?.own !== null || found.payment?.url !== checkout.url) throw paymentMissing()
    const again = { ask: { ...ask, operation: deriveId('op', found.payment.id) }, sent: { ...sent, repeats: true } }
    return await pay({ ...request, ...again }, found.payment.amount)
  }

  /** Null where the seller is paid outside. */
  async function buyHere(request: ToolRequest): Promise<CallToolResult | null> {
    const { checkout, ask } = request
    const { caller, operation } = ask
    const maxCost = maxCostIn(request.sent.params._meta)
    const accountFor: AccountFor = async ({ amount, network, recipient }) => {
      assertMaxCost(amount, maxCost)
      return await accounts.here.buyer(caller, { request: callOf(request, amount), network, recipient }, operation)
    }
    const chosen = chosenIn(request)
    const sold = await checkouts.sellToAccount(checkout.id, chosen, { operation, accountFor }, patienceOf(request))
    return sold === null ? null : answerOf(sold, billOf(sold.sale))
  }

  /** Bought as at any other seller. */
  async function buyOutside(request: ToolRequest): Promise<CallToolResult> {
    const { amount } = await checkouts.offer(request.checkout.id, chosenIn(request))
    assertMaxCost(amount, maxCostIn(request.sent.params._meta))
    return await pay(request, amount)
  }

  /** Goes on with what was paid before, whatever the price has become since, and whether or not it is still for sale. */
  async function pay(request: ToolRequest, amount: Usdc): Promise<CallToolResult> {
    const { caller, operation } = request.ask
    const call = callOf(request, amount)
    const options = { keyed: request.sent.repeats, background: false }
    const { payment, response } = await accounts.pay(caller, call, operation, options)
    if (response === null && payment?.state === 'returned') throw paymentReturned()
    const body = response?.encoding === 'utf8' ? jsonOrUndefined(response.body) : undefined
    if (response === null || response.status >= 300 || !isRecord(body)) {
      throw notBought(response?.status ?? null, payment === null ? {} : { paymentId: payment.id })
    }
    const own = payment === null ? null : await checkouts.purchased(await purchases.signedFor(payment))
    // The address has waited already, for clients that hear nothing meanwhile.
    if (own === null || own.isDone || !waitsLong(request))
      return toResult(body as unknown as PaymentView, billedMeta(payment))
    return toResult(await checkouts.rested(own.view, patienceOf(request)), billedMeta(payment))
  }

  /** A call that was paid for already. */
  async function resultOf({ meta, own }: Bought & { own: Purchased }, request: ToolRequest): Promise<CallToolResult> {
    const ended = taskOf(own, meta)
    if ('result' in ended) return ended.result
    return toResult(await checkouts.rested(own.view, patienceOf(request)), meta)
  }

  async function task({ caller }: McpAsk, operation: Id<'op'>): Promise<McpTask | null> {
    const found = await bought(caller, deriveId('pay', operation))
    if (found === null) return null
    const { payment, own, meta } = found
    if (own !== null) return taskOf(own, meta)
    if (payment === null) return null
    const { state, answerStatus, id, createdAt } = payment
    const isRefused = answerStatus !== null && answerStatus >= 300
    if (state !== 'returned' && !isRefused) return { status: 'working', isFinal: PAID }
    const error = state === 'returned' ? paymentReturned() : notBought(answerStatus, { paymentId: id })
    return { status: 'completed', result: failed(error), endedAt: createdAt }
  }

  /** What the caller bought by this id; without `own` where its payment has reached no checkout of ours yet. */
  async function bought(caller: McpAsk['caller'], id: string): Promise<Bought | null> {
    const found = await purchases.find(caller, id)
    if (found === null) return null
    const { payment } = found
    const meta = payment === null ? billOf(found.sale) : billedMeta(payment)
    return { payment, own: await checkouts.purchased(found.sale), meta }
  }

  function billOf(sale: Sale): Raw {
    return billedMeta(sale, tokens.of(sale.id))
  }

  return { resume, charge, task }
}

interface Bought {
  /** Null where the ledger paid. */
  payment: AccountPayment | null
  own: Purchased | null
  meta: Raw
}

/** The call that an agent's owner sees, and never above the listed price. */
function callOf({ checkout, sent }: ToolRequest, maxAmount: Usdc): Parameters<AccountPayments['pay']>[1] {
  const headers = { 'content-type': 'application/json' }
  return { url: checkout.url, method: 'POST', headers, body: JSON.stringify(sent.params.arguments ?? {}), maxAmount }
}

export type AccountCalls = ReturnType<typeof createAccountCalls>

export interface AccountCallDeps {
  checkouts: Pick<Checkouts, 'offer' | 'rested' | 'purchased' | 'sell' | 'sellToAccount'>
  accounts: AccountPayments
  purchases: AccountPurchases
  selling: { tokens: Pick<PaymentTokens, 'of'> }
}

function answerOf({ value }: Sold<PaymentView>, meta: Raw): CallToolResult {
  if (value === null) throw new Error('a paid sale has no answer')
  return toResult(value, meta)
}
