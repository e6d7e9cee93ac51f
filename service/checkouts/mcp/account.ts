import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import type { McpAsk, McpTask } from '../../api/mcp/parts.ts'
import { failed } from '../../api/mcp/results.ts'
import { DomainError } from '../../kit/errors.ts'
import { jsonOrUndefined } from '../../kit/json-shape.ts'
import { deriveId, type Id } from '../../kit/ids.ts'
import { toWire } from '../../kit/money.ts'
import { isRecord, type Raw } from '../../kit/schema/merge.ts'
import { notBought } from '../errors.ts'
import type { PaymentView } from '../views.ts'
import type { AccountPayment, AccountPayments } from '../ports.ts'
import type { Checkouts } from '../service/checkouts.ts'
import type { Purchased } from '../service/purchases.ts'
import { chosenIn, PAID, patienceOf, taskOf, toResult, waitsLong, type ToolRequest } from './results.ts'

/** Calls with an API key, which the account's wallet pays. */
export function createAccountCalls({ checkouts, accounts }: AccountCallDeps) {
  /** Bought as at any other seller: within the limits of the caller's agent, and never above the listed price. */
  async function charge(request: ToolRequest): Promise<CallToolResult> {
    const { checkout, ask, sent } = request
    const { caller, operation } = ask
    const before = sent.repeats ? await bought(caller, operation) : null
    if (before?.own != null) return await resultOf({ ...before, own: before.own }, request)
    const { amount: maxAmount } = await checkouts.offer(checkout.id, chosenIn(request))
    const headers = { 'content-type': 'application/json' }
    const paid = {
      url: checkout.url,
      method: 'POST',
      headers,
      body: JSON.stringify(sent.params.arguments ?? {}),
      maxAmount,
    }
    const { payment, response } = await accounts.pay(caller, paid, operation, {
      keyed: sent.repeats,
      background: false,
    })
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
  async function resultOf(
    { payment, own }: Bought & { own: Purchased },
    request: ToolRequest,
  ): Promise<CallToolResult> {
    const ended = taskOf(own, bill(payment))
    if ('result' in ended) return ended.result
    return toResult(await checkouts.rested(own.view, patienceOf(request)), bill(payment))
  }

  async function task({ caller }: McpAsk, operation: Id<'op'>): Promise<McpTask | null> {
    const found = await bought(caller, operation)
    if (found === null) return null
    const { payment, own } = found
    if (own !== null) return taskOf(own, bill(payment))
    const { state, answerStatus, id, createdAt } = payment
    const isRefused = answerStatus !== null && answerStatus >= 300
    if (state !== 'returned' && !isRefused) return { status: 'working', isFinal: PAID }
    const named: Record<string, string> = state === 'returned' ? {} : { paymentId: id }
    return { status: 'completed', result: failed(notBought(answerStatus, named)), endedAt: createdAt }
  }

  /** The payment of this operation, and what it bought; null where it has reached no checkout of ours yet. */
  async function bought(caller: McpAsk['caller'], operation: Id<'op'>): Promise<Bought | null> {
    const payment = await paymentOf(caller, deriveId('pay', operation))
    return payment === null ? null : { payment, own: await checkouts.boughtWith(payment) }
  }

  async function paymentOf(caller: McpAsk['caller'], id: string): Promise<AccountPayment | null> {
    try {
      return (await accounts.find(caller, id)).payment
    } catch (error) {
      if (error instanceof DomainError && error.kind === 'missing') return null
      throw error
    }
  }

  return { charge, task }
}

interface Bought {
  payment: AccountPayment
  own: Purchased | null
}

export type AccountCalls = ReturnType<typeof createAccountCalls>

export interface AccountCallDeps {
  checkouts: Pick<Checkouts, 'offer' | 'rested' | 'boughtWith'>
  accounts: AccountPayments
}

function bill(payment: Pick<AccountPayment, 'id' | 'amount'> | null): Raw {
  const billing = payment === null ? { cost: 0 } : { cost: toWire(payment.amount), paymentId: payment.id }
  return { 'coinslot/billing': billing }
}
