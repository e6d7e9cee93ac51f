import type { IDataObject, INodeProperties } from 'n8n-workflow'
import { isObject, networkOf } from '../../shared/transport.ts'
import { text } from '../failure.ts'
import { limit, locator, returnAll } from '../fields.ts'
import { readJson, readText, refusal, type Step } from '../inputs.ts'
import { change, read, readList, spend, type Operation } from '../request.ts'

const checkout = locator(
  { displayName: 'Checkout', name: 'checkout', description: 'A payment page of the account', required: true },
  'searchCheckouts',
  { displayName: 'By ID', placeholder: 'e.g. chk_01k…' },
)

const productName: INodeProperties = {
  displayName: 'Product Name',
  name: 'productName',
  type: 'string',
  default: '',
  placeholder: 'e.g. SEO audit of your website',
  description: 'What the customer pays for, at the top of the form',
}

const price: INodeProperties = {
  displayName: 'Price (USDC)',
  name: 'price',
  type: 'number',
  typeOptions: { minValue: 0.000001 },
  default: 1,
  description: 'What it costs, in USDC with at most six decimals',
}

const testMode: INodeProperties = {
  displayName: 'Simulate Payments',
  name: 'testMode',
  type: 'boolean',
  default: true,
  description:
    'Whether the checkout is in test mode: payments are simulated and cost nothing. Switch it off to be paid.',
}

const more: INodeProperties = {
  displayName: 'More Terms (JSON)',
  name: 'more',
  type: 'json',
  default: '{}',
  description:
    'Any other terms of a checkout as the API takes them, such as fields, pricing, plans, coupons or trialRuns. They replace the terms above.',
}

export const createCheckout: Operation = {
  option: {
    name: 'Create',
    value: 'create',
    description: 'Create a payment page and get its link',
    action: 'Create a checkout',
  },
  fields: [
    { ...productName, required: true },
    { ...price, required: true },
    {
      displayName: 'After the Payment',
      name: 'after',
      type: 'options',
      default: 'webhook',
      description: 'What the customer gets',
      options: [
        { name: 'A Link', value: 'link', description: 'An address that only customers get to know' },
        { name: 'A Text', value: 'text', description: 'Text or Markdown that only customers read' },
        { name: 'A Webhook Is Called', value: 'webhook', description: 'For a workflow that a Webhook node starts' },
      ],
    },
    {
      displayName: 'Webhook URL',
      name: 'callbackUrl',
      type: 'string',
      default: '',
      required: true,
      placeholder: 'e.g. https://n8n.example.com/webhook/…',
      description:
        'Gets each paid input, signed. A Pay-to-Run Trigger makes its own checkout: do not enter its address.',
      displayOptions: { show: { after: ['webhook'] } },
    },
    {
      displayName: 'Text',
      name: 'afterText',
      type: 'string',
      typeOptions: { rows: 4 },
      default: '',
      required: true,
      displayOptions: { show: { after: ['text'] } },
    },
    {
      displayName: 'Link',
      name: 'afterLink',
      type: 'string',
      default: '',
      required: true,
      placeholder: 'e.g. https://example.com/course',
      description: 'An https address',
      displayOptions: { show: { after: ['link'] } },
    },
    testMode,
    {
      displayName: 'Options',
      name: 'options',
      type: 'collection',
      placeholder: 'Add option',
      default: {},
      options: [
        { displayName: 'Description', name: 'description', type: 'string', typeOptions: { rows: 3 }, default: '' },
        more,
        { displayName: 'Redirect URL', name: 'redirectUrl', type: 'string', default: '' },
      ],
    },
  ],
  async run(step) {
    const { node, item } = step
    const options = node.getNodeParameter('options', item, {}) as Options
    const body = {
      product: { name: readText(step, 'productName'), ...given('description', options.description) },
      price: node.getNodeParameter('price', item),
      ...readAfter(step),
      network: await networkOf(node, 'credential'),
      testMode: node.getNodeParameter('testMode', item, true),
      ...given('redirectUrl', options.redirectUrl),
      ...readMore(step, options.more),
    }
    const created = await spend(step, { path: '/checkouts', body })
    return [{ json: { ...checkoutIn(created), secret: created['secret'] ?? null } }]
  },
}

interface Options {
  description?: string
  redirectUrl?: string
  more?: unknown
  productName?: string
  price?: number
  testMode?: boolean
}

function readAfter(step: Step): IDataObject {
  switch (readText(step, 'after')) {
    case 'text':
      return { after: { kind: 'text', text: readText(step, 'afterText') } }
    case 'link':
      return { after: { kind: 'link', url: readText(step, 'afterLink') } }
    default:
      return { callbackUrl: readText(step, 'callbackUrl') }
  }
}

export const updateCheckout: Operation = {
  option: {
    name: 'Update',
    value: 'update',
    description: 'Change a checkout; customers who have opened it get what they were shown',
    action: 'Update a checkout',
  },
  fields: [
    checkout,
    {
      displayName: 'Changes',
      name: 'changes',
      type: 'collection',
      placeholder: 'Add Change',
      default: {},
      options: [
        { displayName: 'Description', name: 'description', type: 'string', typeOptions: { rows: 3 }, default: '' },
        more,
        price,
        productName,
        { displayName: 'Redirect URL', name: 'redirectUrl', type: 'string', default: '' },
        testMode,
      ],
    },
  ],
  async run(step) {
    const path = checkoutPath(step)
    const changes = step.node.getNodeParameter('changes', step.item, {}) as Options
    const { productName: name, description, more: others, redirectUrl, ...rest } = changes
    const body = {
      ...rest,
      ...(redirectUrl !== undefined && { redirectUrl: redirectUrl.trim() === '' ? null : redirectUrl.trim() }),
      ...((name ?? description) !== undefined && { product: await productOf(step, path, { name, description }) }),
      ...readMore(step, others),
    }
    if (Object.keys(body).length === 0) throw refusal(step, 'There is nothing to change. Add a change.')
    return [{ json: checkoutIn(await change(step, { method: 'PATCH', path, body })) }]
  },
}

/** The API replaces the product as a whole. */
async function productOf(
  step: Step,
  path: string,
  { name, description }: { name: string | undefined; description: string | undefined },
): Promise<IDataObject> {
  const { product } = checkoutIn(await read(step, { path })) as {
    product?: { name: string; description: string | null }
  }
  const words = (description ?? product?.description ?? '').trim()
  return { name: name?.trim() ?? product?.name, description: words === '' ? null : words }
}

export const getCheckout: Operation = {
  option: { name: 'Get', value: 'get', description: 'Get a checkout and its link', action: 'Get a checkout' },
  fields: [checkout],
  run: async (step) => [{ json: checkoutIn(await read(step, { path: checkoutPath(step) })) }],
}

export const listCheckouts: Operation = {
  option: {
    name: 'Get Many',
    value: 'getAll',
    description: 'Get the checkouts of the account, newest first',
    action: 'Get many checkouts',
  },
  fields: [returnAll, limit],
  run: async (step) => await readList(step, { path: '/checkouts' }, { list: 'checkouts' }),
}

export const duplicateCheckout: Operation = {
  option: {
    name: 'Duplicate',
    value: 'duplicate',
    description: 'Create a checkout with the terms of another one, and a link of its own',
    action: 'Duplicate a checkout',
  },
  fields: [
    checkout,
    { ...productName, description: 'The name of the copy. If empty, it has the name of the original.' },
  ],
  async run(step) {
    const original = checkoutIn(await read(step, { path: checkoutPath(step) }))
    if (isObject(original['source'])) {
      throw refusal(step, 'This checkout belongs to a trigger in n8n. Copy that node there instead.')
    }
    const name = readText(step, 'productName')
    const { product, pricing, after, picture, price: amount } = original
    const isPriced = isObject(pricing) && ['fixed', 'quantity'].includes(text(pricing['kind']))
    const body = {
      ...Object.fromEntries(TERMS.map((term) => [term, original[term] ?? null])),
      ...(isPriced && { price: amount }),
      // A service of an earlier version has no chats or mails about sales, and refuses what it does not know.
      ...(original['chat'] != null && { chat: original['chat'] }),
      ...(original['notify'] != null && { notify: original['notify'] }),
      product: { ...(isObject(product) ? product : {}), ...(name !== '' && { name }) },
      ...(isObject(after) && { after: after['kind'] === 'file' ? { kind: 'file', fileId: after['fileId'] } : after }),
      ...(isObject(picture) && { picture: picture['fileId'] }),
    }
    const created = await spend(step, { path: '/checkouts', body })
    return [{ json: { ...checkoutIn(created), secret: created['secret'] ?? null } }]
  },
}

/** What a copy has of the original, as it is. */
const TERMS = [
  ...['callbackUrl', 'pricing', 'coupons', 'network', 'recipient', 'fields', 'redirectUrl', 'testMode'],
  ...[
    'responseMode',
    'preflight',
    'onUnconfirmed',
    'onError',
    'capture',
    'runSeconds',
    'refundOnFailure',
    'embedOrigins',
  ],
  ...['trialRuns', 'trialsPerDay', 'plans'],
]

export const archiveCheckout: Operation = {
  option: {
    name: 'Archive',
    value: 'archive',
    description: 'Close a checkout: its link takes no more payments',
    action: 'Archive a checkout',
  },
  fields: [checkout],
  run: async (step) => [{ json: checkoutIn(await change(step, { method: 'DELETE', path: checkoutPath(step) })) }],
}

export const simulatePayment: Operation = {
  option: {
    name: 'Simulate Payment',
    value: 'simulate',
    description: 'Pay at a checkout in test mode, without money',
    action: 'Simulate a payment at a checkout',
  },
  fields: [
    checkout,
    {
      displayName: 'Input (JSON)',
      name: 'inputJson',
      type: 'json',
      default: '{}',
      description: 'What the customer fills in. If empty, sample values are used.',
    },
  ],
  async run(step) {
    const input = readJson(step, 'Input (JSON)', step.node.getNodeParameter('inputJson', step.item, '{}'))
    const body = Object.keys(input).length === 0 ? {} : { input }
    return [{ json: await spend(step, { path: `${checkoutPath(step)}/test-payment`, body }) }]
  },
}

function checkoutIn({ checkout: found }: IDataObject): IDataObject {
  return isObject(found) ? found : {}
}

function readMore(step: Step, value: unknown): IDataObject {
  return value === undefined ? {} : readJson(step, 'More Terms (JSON)', value)
}

/** The path of the checkout, relative to the API's address. */
function checkoutPath(step: Step): string {
  const id = readText(step, 'checkout')
  if (id === '') throw refusal(step, 'Choose a checkout first.')
  return `/checkouts/${encodeURIComponent(id)}`
}

function given(name: string, value: string | undefined): IDataObject {
  return value === undefined || value.trim() === '' ? {} : { [name]: value.trim() }
}
