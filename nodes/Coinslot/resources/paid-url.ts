import { NodeApiError, type IDataObject, type INodeExecutionData, type INodeProperties } from 'n8n-workflow'
import { isObject } from '../../shared/transport.ts'
import { approval } from '../fields.ts'
import { paymentReturned, text } from '../failure.ts'
import { readJson, readText, type Step } from '../inputs.ts'
import { spend, type Operation } from '../request.ts'

/** The request and its maximum cost. */
const fields: INodeProperties[] = [
  {
    displayName: 'URL',
    name: 'url',
    type: 'string',
    default: '',
    required: true,
    placeholder: 'e.g. https://api.example.com/report',
    description: 'Any address that requires a payment by x402 or MPP; an address that requires none costs nothing',
  },
  {
    displayName: 'Maximum Amount (USDC)',
    name: 'maxAmount',
    type: 'number',
    typeOptions: { minValue: 0.000001 },
    default: 0.1,
    required: true,
    description: 'The most that this call may cost. If the address asks for more, nothing is paid.',
  },
  {
    displayName: 'Method',
    name: 'method',
    type: 'options',
    default: 'GET',
    description: 'The HTTP method of the call',
    options: ['DELETE', 'GET', 'PATCH', 'POST', 'PUT'].map((method) => ({ name: method, value: method })),
  },
  {
    displayName: 'Send Body',
    name: 'sendBody',
    type: 'options',
    default: 'none',
    description: 'The body to send with the call',
    options: [
      { name: 'JSON', value: 'json' },
      { name: 'Nothing', value: 'none' },
      { name: 'Text', value: 'text' },
    ],
    displayOptions: { hide: { method: ['GET'] } },
  },
  {
    displayName: 'Body (JSON)',
    name: 'bodyJson',
    type: 'json',
    default: '{}',
    description: 'An object, sent as JSON',
    displayOptions: { show: { sendBody: ['json'] }, hide: { method: ['GET'] } },
  },
  {
    displayName: 'Body (Text)',
    name: 'bodyText',
    type: 'string',
    typeOptions: { rows: 4 },
    default: '',
    description: 'Sent as it is; name its type with a Content-Type header',
    displayOptions: { show: { sendBody: ['text'] }, hide: { method: ['GET'] } },
  },
  {
    displayName: 'Headers',
    name: 'headers',
    type: 'fixedCollection',
    typeOptions: { multipleValues: true },
    placeholder: 'Add header',
    default: {},
    description: 'Sent with the call. Coinslot adds the payment.',
    options: [
      {
        displayName: 'Header',
        name: 'pairs',
        values: [
          { displayName: 'Name', name: 'name', type: 'string', default: '', placeholder: 'e.g. Accept-Language' },
          { displayName: 'Value', name: 'value', type: 'string', default: '' },
        ],
      },
    ],
  },
  {
    displayName: 'Options',
    name: 'options',
    type: 'collection',
    placeholder: 'Add option',
    default: {},
    options: [
      {
        displayName: 'Never Error',
        name: 'neverError',
        type: 'boolean',
        default: true,
        description: 'Whether to continue with any status that the address returns, including errors',
      },
      approval,
    ],
  },
]

export const fetchPaidUrl: Operation = {
  option: {
    name: 'Fetch',
    value: 'fetch',
    description: 'Call any address; if it requires a payment by x402 or MPP, pay up to a maximum',
    action: 'Fetch a paid URL',
  },
  fields,
  async run(step) {
    const { node, item } = step
    const options = node.getNodeParameter('options', item, {}) as Options
    const isRefusal = (response: Response): boolean => response.status >= 400 && options.neverError !== true
    const { payment, response } = await spend(
      step,
      { path: '/pay', body: readRequest(step), approvalSeconds: options.approvalSeconds ?? 0 },
      // The service stores this answer under the key: the next attempt has to ask the address itself.
      ({ payment, response }) => !isObject(payment) && isResponse(response) && isRefusal(response),
    )
    const paid = isObject(payment) ? payment : null
    if (!isResponse(response)) throw gone(step, paid)
    if (isRefusal(response)) throw refused(step, response, paid)
    return [await toItem(step, response, paid)]
  },
}

interface Options {
  approvalSeconds?: number
  neverError?: boolean
}

/** The response of the paid URL, as the service passes it on. */
interface Response {
  status: number
  headers: IDataObject
  body: string
  encoding: 'utf8' | 'base64'
}

function readRequest(step: Step): IDataObject {
  const { node, item } = step
  const { pairs = [] } = node.getNodeParameter('headers', item, {}) as { pairs?: { name: string; value: string }[] }
  const kind = node.getNodeParameter('sendBody', item, 'none') as string
  return {
    url: readText(step, 'url'),
    method: node.getNodeParameter('method', item),
    maxAmount: node.getNodeParameter('maxAmount', item),
    ...(pairs.length > 0 && { headers: Object.fromEntries(pairs.map(({ name, value }) => [name, value])) }),
    ...(kind === 'json' && { body: readJson(step, 'Body (JSON)', node.getNodeParameter('bodyJson', item, '{}')) }),
    ...(kind === 'text' && { body: node.getNodeParameter('bodyText', item, '') }),
  }
}

async function toItem({ node }: Step, response: Response, payment: IDataObject | null): Promise<INodeExecutionData> {
  const { status, headers, body, encoding } = response
  const type = typeOf(headers)
  if (encoding === 'base64') {
    const binary = await node.helpers.prepareBinaryData(Buffer.from(body, 'base64'), undefined, type)
    return { json: { status, headers, payment }, binary: { data: binary } }
  }
  return { json: { status, headers, body: type.includes('json') ? parsed(body) : body, payment } }
}

function typeOf(headers: IDataObject): string {
  const type = headers['content-type']
  return typeof type === 'string' ? type.split(';', 1).join('') : 'application/octet-stream'
}

/** A body that claims to be JSON but does not parse stays text, because it is paid for. */
function parsed(body: string): IDataObject | string {
  try {
    return JSON.parse(body) as IDataObject
  } catch {
    return body
  }
}

function refused({ node, item }: Step, response: Response, payment: IDataObject | null): NodeApiError {
  const paid =
    payment === null
      ? 'It required no payment.'
      : `Its payment ${text(payment['id'])} is ${text(payment['status'])}: if the seller does not take it, the money comes back automatically.`
  return new NodeApiError(
    node.getNode(),
    {},
    {
      message: `The address answered with status ${response.status}. ${paid} To continue with such an answer, turn on the option Never Error.`,
      description: response.encoding === 'utf8' ? response.body.slice(0, 500) : 'The answer is not text.',
      httpCode: String(response.status),
      itemIndex: item,
    },
  )
}

function gone({ node, item }: Step, payment: IDataObject | null): NodeApiError {
  return new NodeApiError(
    node.getNode(),
    {},
    {
      message:
        payment?.['status'] === 'returned'
          ? paymentReturned(payment)
          : `An earlier attempt of this step paid for this, and the answer of the address was not stored: payment ${text(payment?.['id'])}. Execute the workflow again to call and pay again.`,
      description: 'Coinslot stores the payment, but not the answer that it paid for.',
      itemIndex: item,
    },
  )
}

function isResponse(value: unknown): value is Response {
  return isObject(value) && typeof value['status'] === 'number' && typeof value['body'] === 'string'
}
