import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import type { McpAsk, McpTask } from '../../api/mcp/parts.ts'
import { failed } from '../../api/mcp/results.ts'
import { DomainError } from '../../kit/errors.ts'
import { jsonOrUndefined } from '../../kit/json-shape.ts'
import { deriveId, type Id } from '../../kit/ids.ts'
import { toWire, type Usdc } from '../../kit/money.ts'
import { isRecord, type Raw } from '../../kit/schema/merge.ts'
import { agentIn, type AccountFor, type Sale } from '../../sales/model.ts'
import { proofMeta } from '../../sales/service/mcp-door.ts'
import type { PaymentTokens } from '../../sales/service/proof.ts'
import { notBought } from '../errors.ts'
import type { PaymentView } from '../views.ts'
import type { AccountPayment, AccountPayments } from '../ports.ts'
import type { Checkouts } from '../service/checkouts.ts'
import type { Purchased } from '../service/purchases.ts'
import { chosenIn, PAID, patienceOf, taskOf, toResult, waitsLong, type ToolRequest } from './results.ts'

/** Calls with an API key, which the account's wallet pays. */
export function createAccountCalls({ checkouts, accounts, selling: { tokens } }: AccountCallDeps) {
  /** Within the limits of the caller's agent. A seller with a wallet here is paid in the ledger, any other one on the chain. */
  async function charge(request: ToolRequest): Promise<CallToolResult> {
    const { ask, sent } = request
    const before = sent.repeats ? await bought(ask.caller, ask.operation) : null
    if (before?.own != null) return await resultOf({ ...before, own: before.own }, request)
    return (before === null ? await buyHere(request) : null) ?? (await buyOutside(request))
  }

  /** Null where the seller is paid outside. */
  async function buyHere(request: ToolRequest): Promise<CallToolResult | null> {
    const { checkout, ask } = request
    const { caller, operation } = ask
    const accountFor: AccountFor = ({ amount, network, recipient }) =>
      accounts.here.buyer(caller, { request: callOf(request, amount), network, recipient }, operation)
    const chosen = chosenIn(request)
    const sold = await checkouts.sellToAccount(checkout.id, chosen, { operation, accountFor }, patienceOf(request))
    if (sold === null) return null
    if (sold.value === null) throw new Error('a paid sale has no answer')
    return toResult(sold.value, billOf(sold.sale))
  }

  /** Bought as at any other seller. */
  async function buyOutside(request: ToolRequest): Promise<CallToolResult> {
    const { checkout, ask } = request
    const { caller, operation } = ask
    const { amount } = await checkouts.offer(checkout.id, chosenIn(request))
    const call = callOf(request, amount)
    const options = { keyed: request.sent.repeats, background: false }
    const { payment, response } = await accounts.pay(caller, call, operation, options)
    const body = response?.encoding === 'utf8' ? jsonOrUndefined(response.body) : undefined
    if (response === null || response.status >= 300 || !isRecord(body)) {
      throw notBought(response?.status ?? null, payment === null ? {} : { paymentId: payment.id })
    }
    const own = payment === null ? null : await checkouts.boughtWith(payment)
    // The address has waited already, for clients that hear nothing meanwhile.
    if (own === null || own.isDone || !waitsLong(request))
      return toResult(body as unknown as PaymentView, bill(payment))
    return toResult(await checkouts.rested(own.view, patienceOf(request)), bill(payment))
  }

  /** A call that was paid for already. */
  async function resultOf({ meta, own }: Bought & { own: Purchased }, request: ToolRequest): Promise<CallToolResult> {
    const ended = taskOf(own, meta)
    if ('result' in ended) return ended.result
    return toResult(await checkouts.rested(own.view, patienceOf(request)), meta)
  }

  async function task({ caller }: McpAsk, operation: Id<'op'>): Promise<McpTask | null> {
    const found = await bought(caller, operation)
    if (found === null) return null
    const { payment, own, meta } = found
    if (own !== null) return taskOf(own, meta)
    if (payment === null) return null
    const { state, answerStatus, id, createdAt } = payment
    const isRefused = answerStatus !== null && answerStatus >= 300
    if (state !== 'returned' && !isRefused) return { status: 'working', isFinal: PAID }
    const named: Record<string, string> = state === 'returned' ? {} : { paymentId: id }
    return { status: 'completed', result: failed(notBought(answerStatus, named)), endedAt: createdAt }
  }

  /** What this operation bought; without `own` where its payment has reached no checkout of ours yet. */
  async function bought(caller: McpAsk['caller'], operation: Id<'op'>): Promise<Bought | null> {
    const own = await checkouts.boughtBy(operation)
    if (own?.sale.method === 'account') {
      const { sale } = own
      const isTheirs = await accounts.here.isBuyer(caller, { payer: sale.payer, agentId: agentIn(sale) })
      return isTheirs ? { payment: null, own, meta: billOf(sale) } : null
    }
    const payment = await paymentOf(caller, deriveId('pay', operation))
    return payment === null ? null : { payment, own: await checkouts.boughtWith(payment), meta: bill(payment) }
  }

  async function paymentOf(caller: McpAsk['caller'], id: string): Promise<AccountPayment | null> {
    try {
      return (await accounts.find(caller, id)).payment
    } catch (error) {
      if (error instanceof DomainError && error.kind === 'missing') return null
      throw error
    }
  }

  function billOf(sale: Sale): Raw {
    return { ...bill(sale), ...proofMeta(sale, tokens.of(sale.id)) }
  }

  return { charge, task }
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
  checkouts: Pick<Checkouts, 'offer' | 'rested' | 'boughtWith' | 'boughtBy' | 'sellToAccount'>
  accounts: AccountPayments
  selling: { tokens: Pick<PaymentTokens, 'of'> }
}

function bill(payment: Pick<AccountPayment, 'id' | 'amount'> | null): Raw {
  const billing = payment === null ? { cost: 0 } : { cost: toWire(payment.amount), paymentId: payment.id }
  return { 'coinslot/billing': billing }
}
