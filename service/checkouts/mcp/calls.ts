import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { McpFault, McpPageRequired, type McpAsk, type McpCall, type McpTask } from '../../api/mcp/parts.ts'
import { failed, pageFor, plain, unpaid, type OwnerPages } from '../../api/mcp/results.ts'
import { DomainError } from '../../kit/errors.ts'
import { deriveId, type Id } from '../../kit/ids.ts'
import { toWire } from '../../kit/money.ts'
import { faultOfJsonShape, jsonOrUndefined } from '../../kit/json-shape.ts'
import { isRecord, type Raw } from '../../kit/schema/merge.ts'
import { paymentRefused } from '../../sales/errors.ts'
import { receiptMeta, sellOverMcp } from '../../sales/service/mcp-door.ts'
import type { SellingDeps } from '../../sales/service/deps.ts'
import { presentedInMeta } from '../../x402/payload.ts'
import { notBought } from '../errors.ts'
import type { CheckoutView, PaymentView } from '../model.ts'
import { ANSWER_MS } from '../rules/lifecycle.ts'
import { toolNameOf } from '../rules/tool.ts'
import type { AccountPayment, AccountPayments } from '../ports.ts'
import type { Checkouts } from '../service/checkouts.ts'
import type { Patience, Purchased } from '../service/follow.ts'

/** Calls of a checkout's tool. Each buys it once: a guest by itself, an account from its wallet. */
export function createCheckoutCalls({
  checkouts,
  selling,
  facilitator,
  accounts,
  pages,
  countGuest,
}: CheckoutCallDeps) {
  async function call(ask: McpAsk, sent: McpCall): Promise<CallToolResult> {
    const { name, arguments: input = {} } = sent.params
    try {
      if (ask.guest !== null) await countGuest(ask.guest)
      const { checkout } = await checkouts.view(checkoutOf(ask))
      if (name !== toolNameOf(checkout.product.name)) throw McpFault.params(`Unknown tool: ${name}`)
      const request = { checkout, input, ask, sent }
      if (ask.guest !== null) return await sell(request)
      return checkout.testMode ? await simulate(request) : await chargeAccount(request)
    } catch (error) {
      if (!(error instanceof DomainError)) throw error
      const page = sent.opensPages ? pageFor(error, pages) : null
      if (page !== null) throw page
      return failed(error)
    }
  }

  /** A guest pays with the call, or its person pays on the checkout's page. */
  async function sell(request: Request): Promise<CallToolResult> {
    const { checkout, input, ask, sent } = request
    const meta = sent.params._meta ?? {}
    const presents = presentedInMeta(meta) !== null
    const patience = patienceOf(request)
    // A person takes longer to pay than a client to come back.
    const own = sent.repeats ? await checkouts.ended(ask.operation, presents ? { ms: 0 } : patience) : null
    const isPaid = own?.isPaid === true
    const asksPerson = sent.opensPages && !presents && !isPaid
    if (own !== null && asksPerson) await askPerson(request, 'The payment is not confirmed yet.')
    if (checkout.testMode && !isPaid) {
      if (asksPerson) await askPerson(request, `${checkout.product.name} is in test mode: nothing is charged.`)
      return await simulate(request)
    }
    const { journal, dialects } = selling
    const sale = await sellOverMcp(
      { meta, operation: ask.operation, gone: sent.signal, own: own?.proof ?? null },
      {
        facilitator,
        journal,
        dialects,
        offer: () => checkouts.offer(checkout.id, input),
        buy: (purchase) => checkouts.sell(checkout.id, input, purchase, patience),
        toBody: () => ({}),
      },
    )
    if (sale.kind === 'sold') return toResult(sale.sold.value, sale.meta)
    const price = `${checkout.product.name} costs ${String(checkout.price)} USDC.`
    if (asksPerson) await askPerson(request, `${price} Pay on this page, and the call goes on.`, sale.meta)
    return unpaid(sale.terms, sale.meta, `A person can pay in a browser and get the answer there: ${checkout.url}`)
  }

  /** Returns where the page's address would be too long. */
  async function askPerson({ checkout, input, ask }: Request, message: string, meta: Raw = {}): Promise<void> {
    const url = await checkouts.orderPage(checkout.id, input, ask.operation)
    if (url !== null) throw new McpPageRequired(url, message, meta)
  }

  async function simulate(request: Request): Promise<CallToolResult> {
    const { checkout, input, ask } = request
    const order = {
      input,
      named: (field: string) => field,
      presented: null,
      quoteId: null,
      token: null,
      paymentId: null,
    }
    return toResult(await checkouts.pay(checkout.id, { ...order, waits: patienceOf(request) }, ask.operation), {
      'coinslot/simulated': true,
    })
  }

  /** Bought as at any other seller: within the limits of the caller's agent, and never above the listed price. */
  async function chargeAccount(request: Request): Promise<CallToolResult> {
    const { checkout, input, ask, sent } = request
    const { caller, operation } = ask
    const { amount: maxAmount } = await checkouts.offer(checkout.id, input)
    const headers = { 'content-type': 'application/json' }
    const paid = { url: checkout.url, method: 'POST', headers, body: JSON.stringify(input), maxAmount }
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
    if (own === null || own.isDone || !waitsLong(request)) return toResult(body as unknown as PaymentView, bill(payment))
    return toResult(await checkouts.rested(own.view, patienceOf(request)), bill(payment))
  }

  async function accountTask({ caller }: McpAsk, operation: Id<'op'>): Promise<McpTask | null> {
    const payment = await accountPayment(caller, deriveId('pay', operation))
    if (payment === null) return null
    const own = await checkouts.boughtWith(payment)
    if (own !== null) return taskOf(own, bill(payment))
    const { state, answerStatus, id, createdAt } = payment
    const isRefused = answerStatus !== null && answerStatus >= 300
    if (state !== 'returned' && !isRefused) return { status: 'working', isFinal: PAID }
    const named: Record<string, string> = state === 'returned' ? {} : { paymentId: id }
    return { status: 'completed', result: failed(notBought(answerStatus, named)), endedAt: createdAt }
  }

  async function accountPayment(caller: McpAsk['caller'], id: string): Promise<AccountPayment | null> {
    try {
      return (await accounts.find(caller, id)).payment
    } catch (error) {
      if (error instanceof DomainError && error.kind === 'missing') return null
      throw error
    }
  }

  return {
    call,

    /** The sale and its delivery are the task. */
    async task(ask: McpAsk, operation: Id<'op'>): Promise<McpTask | null> {
      if (ask.guest === null) return await accountTask(ask, operation)
      const own = await checkouts.boughtBy(operation)
      if (own === null) return null
      return taskOf(own, receiptMeta({ sale: own.sale, token: selling.tokens.of(own.sale.id) }, selling.dialects))
    },
  }
}

export interface CheckoutCallDeps {
  checkouts: Pick<
    Checkouts,
    'view' | 'offer' | 'sell' | 'pay' | 'orderPage' | 'ended' | 'rested' | 'boughtBy' | 'boughtWith'
  >
  selling: Pick<SellingDeps, 'journal' | 'dialects' | 'tokens'>
  facilitator: string
  accounts: AccountPayments
  pages: OwnerPages
  countGuest(address: string): Promise<void>
}

interface Request {
  checkout: CheckoutView['checkout']
  input: Raw
  ask: McpAsk
  sent: McpCall
}

export const checkoutOf = ({ query }: McpAsk): string => query['chk'] ?? ''

/** A client that hears of the progress, or that has a task meanwhile. Others give up after half a minute. */
function waitsLong({ ask, sent }: Request): boolean {
  return sent.hearsProgress || ask.resumable
}

function patienceOf(request: Request): Patience {
  const { signal: gone, onProgress } = request.sent
  let last = ''
  let next = 0
  return {
    ...(waitsLong(request) ? { ms: ANSWER_MS } : {}),
    gone,
    onStep(view, ageMs) {
      const stage = stageOf(view)
      if (stage === last && ageMs < next) return
      const seconds = Math.floor(ageMs / 1_000)
      const message = stage === last ? `${stage} Waiting for ${String(seconds)} s.` : stage
      last = stage
      next = ageMs + PROGRESS_EVERY_MS
      onProgress({ progress: seconds, total: null, message })
    },
  }
}

const PROGRESS_EVERY_MS = 5_000

function stageOf(view: PaymentView | null): string {
  if (view === null) return 'Waiting for the payment.'
  if (view.payment.status !== 'paid') return 'The payment is being settled.'
  const { status, attempts } = view.delivery ?? { status: 'pending', attempts: 0 }
  return status === 'pending' && attempts === 0 ? 'Paid. Starting the workflow.' : 'Paid. The workflow has started.'
}

/** A payment that was sent cannot be taken back. */
const PAID = 'This call is paid for, so it is not canceled and not refunded. tasks/get returns its answer.'

function taskOf({ sale, view, isDone }: Purchased, meta: Raw): McpTask {
  if (!isDone) return { status: 'working', isFinal: PAID }
  const refusal = sale.state === 'failed' ? paymentRefused(sale.reason, sale) : null
  const result = refusal === null ? toResult(view, meta) : failed(refusal)
  return { status: 'completed', result, endedAt: sale.endedAt ?? sale.createdAt }
}

function bill(payment: Pick<AccountPayment, 'id' | 'amount'> | null): Raw {
  const billing = payment === null ? { cost: 0 } : { cost: toWire(payment.amount), paymentId: payment.id }
  return { 'coinslot/billing': billing }
}

/** The workflow's answer itself where there is one, otherwise the payment and its delivery. */
function toResult(view: PaymentView, meta: Raw): CallToolResult {
  const answer = view.delivery?.answer ?? null
  if (answer === null) return plain({ ...view }, meta)
  const value = faultOfJsonShape(answer) === null ? jsonOrUndefined(answer) : undefined
  const structuredContent = isRecord(value) ? value : { result: value === undefined ? answer : value }
  return { content: [{ type: 'text', text: answer }], structuredContent, _meta: { ...meta } }
}
