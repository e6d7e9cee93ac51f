import {
  WAIT_INDEFINITELY,
  type IDataObject,
  type INode,
  type IWebhookDescription,
  type IWebhookFunctions,
  type IWebhookResponseData,
} from 'n8n-workflow'
import { advice, ask, isObject } from '../../shared/transport.ts'
import { text } from '../failure.ts'
import { readText, refusal } from '../inputs.ts'
import { orderField, orderOf } from '../order.ts'
import { spend, type Operation } from '../request.ts'

export const askForMore: Operation = {
  option: {
    name: 'Ask for More',
    value: 'ask',
    description: 'Ask the customer for another amount within the same order, and wait for the answer',
    action: 'Ask the payer for more',
  },
  fields: [
    orderField,
    {
      displayName: 'Amount (USDC)',
      name: 'moreAmount',
      type: 'number',
      typeOptions: { minValue: 0.000001, numberPrecision: 6 },
      default: 1,
      required: true,
      description: 'What the customer pays in addition, in USDC with at most six decimals',
    },
    {
      displayName: 'Note',
      name: 'note',
      type: 'string',
      default: '',
      required: true,
      placeholder: 'e.g. Your site has 40 more pages. Shall I audit them as well?',
      description: 'What it is for: one line of at most 200 characters, which the customer reads',
    },
    {
      displayName: 'Expires After (Minutes)',
      name: 'expiresMinutes',
      type: 'number',
      typeOptions: { minValue: 1, maxValue: 10_080, numberPrecision: 0 },
      default: 1_440,
      description: 'How long the customer has for it',
    },
    {
      displayName:
        'The workflow waits here, and goes on once with the <b>status</b>: paid, refused or expired. It asks once, for the first item, however many there are. The customer sees the question on the page of the order; on a page that waits for the result it appears by itself. Set <b>Respond</b> to <b>Immediately</b> in the trigger: n8n would answer with the step that waits.',
      name: 'askNotice',
      type: 'notice',
      default: '',
    },
  ],
  // n8n waits with the whole execution.
  isOnce: () => true,
  async run(step) {
    const { node, item } = step
    if (node.isToolExecution() || node.getNode().type.endsWith('Tool')) {
      throw refusal(step, 'A tool of an agent cannot wait for a customer. Use this step in the workflow itself.')
    }
    const payment = orderOf(step)
    const note = readText(step, 'note').replace(/\s+/g, ' ').slice(0, 200)
    if (note === '') throw refusal(step, 'Note is empty. Enter what the further amount is for.')
    const resumeUrl = text(node.evaluateExpression('{{ $execution.resumeUrl }}', item))
    const { request } = await spend(step, {
      path: `/payments/${encodeURIComponent(payment)}/requests`,
      // n8n answers with a waiting step as if it were the last node.
      query: { waits: true },
      body: {
        amount: node.getNodeParameter('moreAmount', item),
        note,
        expiresInSeconds: Math.round((node.getNodeParameter('expiresMinutes', item, 1_440) as number) * 60),
        callbackUrl: callbackOf(resumeUrl, node.getNode(), payment),
      },
    })
    // The service calls at the end of every request, an expired one too.
    await node.putExecutionToWait(WAIT_INDEFINITELY)
    return [{ json: isObject(request) ? request : {} }]
  },
}

/** The address of this node in the waiting execution. A newer n8n signs the execution's address in its query. */
function callbackOf(resumeUrl: string, { id, name }: INode, payment: string): string {
  const [address = '', signed = ''] = resumeUrl.split('?')
  const query = new URLSearchParams(signed)
  query.set('payment', payment)
  // The seller's dashboard shows which step asked.
  query.set('step', name.slice(0, 100))
  return `${address}/${id}?${query.toString()}`
}

/** The address at which n8n takes up an execution that waits at this node. */
export const resumeWebhooks: IWebhookDescription[] = [
  {
    name: 'default',
    httpMethod: 'POST',
    responseMode: 'onReceived',
    path: '={{ $nodeId }}',
    restartWebhook: true,
    isFullPath: true,
  },
]

/**
 * The request says that something has happened, and not what: anyone may know this address. The service is asked, and
 * only a request that names this execution and this node as its address counts.
 */
export async function resume(webhook: IWebhookFunctions): Promise<IWebhookResponseData> {
  const { payment } = webhook.getQueryData() as { payment?: unknown }
  const path = `/payments/${encodeURIComponent(text(payment))}/requests`
  const answer = await ask(webhook, { method: 'GET', path, timeoutMs: 10_000 })
  if (!answer.reached || answer.status >= 500) return respond(webhook, 503, advice(answer))
  const here = placeOf(webhook.getRequestObject().originalUrl)
  const requests = answer.status === 200 ? (answer.body['requests'] as IDataObject[]) : []
  // In a loop this node asks again: the last request is the one that is waited for.
  const request = requests.filter(({ callbackUrl }) => placeOf(text(callbackUrl)) === here).at(-1)
  if (request === undefined) return respond(webhook, 404, 'This step waits for no request of this payment.')
  if (!ENDS.has(text(request['status']))) return { webhookResponse: { waiting: true } }
  const { id, of, status, amount, note, paymentId } = request
  const json = { status, amount, note, requestId: id, paymentId: of, furtherPaymentId: paymentId }
  return { webhookResponse: { received: true }, workflowData: [[{ json, pairedItem: { item: 0 } }]] }
}

const ENDS: ReadonlySet<string> = new Set(['paid', 'refused', 'expired'])

/** The execution and the node in the address. What is before them may differ behind a reverse proxy. */
function placeOf(url: string): string {
  const [path = ''] = url.split('?')
  return path.split('/').slice(-2).join('/')
}

function respond(webhook: IWebhookFunctions, status: number, error: string): IWebhookResponseData {
  webhook.getResponseObject().status(status).json({ error })
  return { noWebhookResponse: true }
}
