import { NodeApiError, type IDataObject } from 'n8n-workflow'
import { advice, isObject, type HttpResult } from '../shared/transport.ts'
import type { Step } from './inputs.ts'

/** What went wrong and what to do next, in one sentence or two: for a person, or for the model that called the tool. */
export function failure({ node, item }: Step, answer: HttpResult): NodeApiError {
  const code = codeOf(answer)
  const message = explain(answer, code) ?? advice(answer, LABELS)
  const error = new NodeApiError(
    node.getNode(),
    { code },
    {
      message,
      description: traceOf(answer, code),
      ...(answer.reached && { httpCode: String(answer.status) }),
      itemIndex: item,
    },
  )
  // Continue-on-fail passes this data on: how much to top up, when a limit resets, which run to look up.
  if (answer.reached) error.context['data'] = answer.body
  return error
}

/** The panel's labels for the service's parameters. */
const LABELS = {
  maxAmount: 'Maximum Amount',
  maxCost: 'Maximum Cost',
  modelId: 'Model',
  rdaSlug: 'Marketplace Asset',
  url: 'URL',
}

/**
 * Whether it is certain that this request failed and nothing was paid. If so, a retry is a new request. If not, a retry
 * must repeat the same request.
 */
export function isEndedUnpaid(answer: HttpResult): boolean {
  if (!answer.reached) return false
  const { status, body } = answer
  const code = codeOf(answer)
  if (code === 'payment_returned') return true
  if (code === '' || typeof body['paymentId'] === 'string') return false
  // A failed run, tool or URL: the service returns a specific error code and does not charge for it.
  if (status === 500) return code !== 'internal'
  return [400, 402, 403, 404, 502, 504].includes(status) || code === 'tool_removed'
}

/** Whether the same request may get another answer later. A credential that cannot be used has to be changed. */
export function isOutage(answer: HttpResult): boolean {
  return answer.reached ? answer.status === 429 || answer.status >= 500 : answer.address !== ''
}

function codeOf(answer: HttpResult): string {
  return answer.reached && typeof answer.body['code'] === 'string' ? answer.body['code'] : ''
}

/**
 * What to quote when asking for help: the status, the code and the request id. Without an answer: why a retry is safe.
 */
function traceOf(answer: HttpResult, code: string): string {
  if (!answer.reached) {
    return 'Nothing is paid twice: if this step is retried in the same execution, Coinslot treats it as the same call.'
  }
  const request = answer.body['requestId']
  return `Coinslot answered ${answer.status}${code === '' ? '' : ` ${code}`}${typeof request === 'string' ? `, request ${request}` : ''}.`
}

function explain(answer: HttpResult, code: string): string | undefined {
  if (!answer.reached || code === '') return undefined
  const { status, body } = answer
  const known = EXPLAINED[code]?.(body, answer)
  if (known !== undefined) return known
  if (typeof body['paymentId'] === 'string') return paymentOpen(body)
  if (status === 500 && typeof body['runId'] === 'string' && code !== 'internal') return runFailed(body)
  return status === 502 || status === 504 ? otherSide(body) : undefined
}

type Explain = (body: IDataObject, answer: HttpResult & { reached: true }) => string | undefined

const EXPLAINED: Readonly<Partial<Record<string, Explain>>> = {
  approval_required: ({ approvalId, expiresAt }) =>
    `A person must approve this first: approval ${text(approvalId)}, open until ${when(expiresAt)}. Nothing was paid. Approve it in the Coinslot dashboard and execute this step again with the same inputs, or set the option Wait for Approval to wait longer.`,
  approval_refused: () => 'A person rejected this call. Nothing was paid. Do not retry without changing the inputs.',
  insufficient_balance: tooLittle,
  insufficient_credits: tooLittle,
  max_cost_exceeded: ({ required, maxCost }) =>
    `This may cost up to ${usdc(required)}, which is above the Maximum Cost${typeof maxCost === 'number' ? ` of ${usdc(maxCost)}` : ''}. Nothing was paid. Raise the maximum, or choose a cheaper option.`,
  price_above_maximum: ({ required, maxAmount }) =>
    `The address asks for ${usdc(required)}, which is above the Maximum Amount of ${usdc(maxAmount)}. Nothing was paid. Raise the maximum to pay this price.`,
  spending_limit: spendingLimit,
  agent_key_forbidden: () =>
    "The credential holds an agent's key, which may not do this. Use a credential with a key of the account itself.",
  rda_not_found: () =>
    'There is no such marketplace asset for this account: it may be archived, a draft of another account, or in the other environment. Choose another one from the list.',
  run_not_found: () =>
    'This account has no such run. Check the run ID, and that the credential is the one that started it.',
  tool_not_found: () =>
    'There is no tool with this name. Choose another one from the list, or search for one by what it does.',
  tool_removed: ({ successor }) =>
    typeof successor === 'string'
      ? `This tool was removed. Use ${successor} instead.`
      : 'This tool was removed. Search for another one that does the same.',
  idempotency_conflict: () =>
    'The inputs of this step have changed since an earlier attempt in this execution (for example, because they use $now). To avoid paying twice, it was not sent again. Execute the workflow again.',
  run_canceled: ({ runId }) => `The run ${text(runId)} was canceled, and cost nothing.`,
  run_ended: ({ status }) =>
    `This run has ended already: it ${status === 'succeeded' ? 'succeeded' : `is ${text(status)}`}. There is nothing to cancel.`,
  run_unsettled: ({ runId }) =>
    `The run was made, but its charge is still pending. Get ${text(runId)} with Run: Get, or retry this step: it is the same run.`,
  no_acceptable_offer: ({ error }) => `${text(error)} Nothing was paid. A retry does not help.`,
  payment_returned: ({ payment }) => paymentReturned(isObject(payment) ? payment : {}),
  payer_unavailable: ({ error }) => `${text(error)} Nothing was paid.`,
  answer_forgotten: ({ callId }) =>
    `This call was made and paid for, but its answer is no longer stored: ${text(callId)}. Execute the workflow again to make a new call.`,
  answer_awaited: () =>
    'This step cannot wait for the customer, because the last node answers the payment: n8n would answer with this step. Set Respond to Immediately in the Pay-to-Run Trigger, publish the workflow, and send the result with Payment: Answer Payer. A paid chat cannot ask for more. The customer was not asked.',
  rate_limited: limited,
  rda_rate_limited: limited,
}

/** Repeating the step would find the same payment, so a person has to execute the workflow again. */
export function paymentReturned({ id, reason }: IDataObject): string {
  const payment = `payment ${text(id)} of this step`
  // The seller decides only where it had the payment.
  const why =
    reason === 'expired' ? `The seller did not take the ${payment}` : `The ${payment} was not made (${text(reason)})`
  return `${why}, and the money came back. Execute the workflow again to retry.`
}

/** The seller or the connection to the seller failed after an authorization was signed. */
function paymentOpen({ error, paymentId }: IDataObject): string {
  return `${text(error)} A payment may have been sent: ${text(paymentId)}. If the seller does not take it, the money comes back automatically. Retrying this step in the same execution does not pay twice.`
}

function runFailed({ error, runId }: IDataObject): string {
  return `The run failed, and cost nothing: ${text(error)} (${text(runId)})`
}

function otherSide({ error }: IDataObject): string {
  const reason = text(error)
  return `The other side failed: ${reason}${reason.includes('Nothing was') ? '' : ' Nothing was paid.'} Try again later.`
}

function tooLittle({ required, available, topUpUrl }: IDataObject): string {
  const where = typeof topUpUrl === 'string' ? ` at ${topUpUrl}` : ''
  return `The Coinslot balance is too low: this costs ${usdc(required)} and ${usdc(available)} is available. Nothing was paid. Top up the wallet${where} and try again.`
}

/** A rule of the agent's key stopped the call: which rule, how much of it is used, and when a retry makes sense. */
function spendingLimit({ error, limit, allowed, spent, requested, resetsAt }: IDataObject): string {
  const isMoney = typeof limit === 'string' && (limit.startsWith('per') || limit === 'lifetime')
  const figures =
    isMoney && typeof allowed === 'number' && limit !== 'perCall'
      ? ` ${usdc(spent)} of ${usdc(allowed)} is spent, and this would cost ${usdc(requested)}.`
      : isMoney && typeof allowed === 'number'
        ? ` One call may cost ${usdc(allowed)}, and this would cost ${usdc(requested)}.`
        : ''
  const next =
    typeof resetsAt === 'string'
      ? `Do not retry before ${when(resetsAt)}, when the limit resets.`
      : 'A retry does not help.'
  return `A spending limit of the agent stops this: ${text(error)}${figures} Nothing was paid. ${next} Only the owner of the account can change the limit, in the Coinslot dashboard.`
}

function limited({ error }: IDataObject, { retryAfterSeconds }: HttpResult & { reached: true }): string {
  return retryAfterSeconds === undefined
    ? `${text(error)} Wait a minute, then try again.`
    : `${text(error)} Wait ${retryAfterSeconds} seconds, then try again.`
}

/** A value from the service as text for a sentence. */
export function text(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

export function usdc(amount: unknown): string {
  // `toFixed` avoids the exponent that JavaScript prints for very small numbers.
  return typeof amount === 'number' ? `${amount.toFixed(6).replace(/\.?0{1,6}$/, '')} USDC` : 'an unknown amount'
}

function when(time: unknown): string {
  return typeof time === 'string' ? `${time.slice(0, 16).replace('T', ' ')} UTC` : 'it expires'
}
