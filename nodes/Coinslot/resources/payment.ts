import type { IDataObject, INodeProperties } from 'n8n-workflow'
import { isObject } from '../../shared/transport.ts'
import { limit, returnAll } from '../fields.ts'
import { readText, readTime, refusal, type Step } from '../inputs.ts'
import { orderOf, refundedField } from '../order.ts'
import { read, readList, spend, type Operation } from '../request.ts'

const paymentId: INodeProperties = {
  displayName: 'Payment ID',
  name: 'paymentId',
  type: 'string',
  default: '',
  required: true,
  placeholder: 'e.g. pay_01k…',
  description: 'The payment, as the trigger and the webhooks name it',
}

export const getPayment: Operation = {
  option: {
    name: 'Get',
    value: 'get',
    description: 'Get a payment that you received, with its refunds',
    action: 'Get a payment',
  },
  fields: [paymentId],
  async run(step) {
    const { payment } = await read(step, { path: paymentPath(step) })
    return [{ json: isObject(payment) ? payment : {} }]
  },
}

export const listPayments: Operation = {
  option: {
    name: 'Get Many',
    value: 'getAll',
    description: 'Get the payments that you received, newest first',
    action: 'Get many payments',
  },
  fields: [
    returnAll,
    limit,
    {
      displayName: 'Filters',
      name: 'filters',
      type: 'collection',
      placeholder: 'Add Filter',
      default: {},
      options: [
        { displayName: 'From', name: 'from', type: 'dateTime', default: '' },
        { displayName: 'Payer', name: 'payer', type: 'string', default: '', description: 'The address that paid' },
        {
          displayName: 'Product',
          name: 'product',
          type: 'options',
          default: 'checkout',
          options: [
            { name: 'Checkout', value: 'checkout' },
            { name: 'Marketplace Asset', value: 'asset' },
            { name: 'Paywall', value: 'gate' },
          ],
        },
        {
          displayName: 'Refunded',
          name: 'refunded',
          type: 'boolean',
          default: true,
          description: 'Whether to list only payments with a refund, or, switched off, only those without one',
        },
        {
          displayName: 'State',
          name: 'state',
          type: 'options',
          default: 'paid',
          options: ['created', 'failed', 'paid', 'refunded', 'released', 'settling'].map((value) => ({
            name: value.charAt(0).toUpperCase() + value.slice(1),
            value,
          })),
        },
        { displayName: 'To', name: 'to', type: 'dateTime', default: '' },
      ],
    },
  ],
  async run(step) {
    const { from, to, ...filters } = step.node.getNodeParameter('filters', step.item, {}) as Filters
    const query: IDataObject = { ...filters, ...readTime(step, 'from', from), ...readTime(step, 'to', to) }
    const wanted = Object.entries(query).filter(([, value]) => value !== '')
    return await readList(step, { path: '/payments', query: Object.fromEntries(wanted) }, { list: 'payments' })
  },
}

interface Filters {
  from?: unknown
  to?: unknown
  payer?: string
  product?: string
  refunded?: boolean
  state?: string
}

export const refundPayment: Operation = {
  option: {
    name: 'Refund',
    value: 'refund',
    description: 'Send a payment back to the address that paid, from the balance of the wallet',
    action: 'Refund a payment',
  },
  fields: [
    refundedField,
    {
      displayName: 'Amount (USDC)',
      name: 'amount',
      type: 'number',
      typeOptions: { minValue: 0, numberPrecision: 6 },
      default: 0,
      description:
        'How much to refund. 0 refunds all that is left of the payment; what an expression gives must be more than 0.',
    },
    {
      displayName: 'Reason',
      name: 'reason',
      type: 'string',
      default: '',
      required: true,
      description: 'For your records. The buyer does not see it.',
    },
  ],
  async run(step) {
    const body = { ...refunded(step), reason: readText(step, 'reason') }
    // A sub-workflow may be called with a stranger's data, which would then choose where money goes.
    const path = `/payments/${encodeURIComponent(orderOf(step, { inSubWorkflow: false }))}/refund`
    const { refund } = await spend(step, { path, body })
    return [{ json: isObject(refund) ? refund : {} }]
  },
}

export const reportOutcome: Operation = {
  option: {
    name: 'Report Outcome',
    value: 'outcome',
    description:
      'Say whether the order succeeded, with the result for the customer. Where the trigger charges only a success, this decides.',
    action: 'Report the outcome of a payment',
  },
  fields: [
    { ...paymentId, default: '={{ $json.metadata.paymentId }}' },
    {
      displayName: 'Outcome',
      name: 'status',
      type: 'options',
      default: 'succeeded',
      options: [
        { name: 'Succeeded', value: 'succeeded', description: 'The customer is charged, and sees the answer' },
        {
          name: 'Failed',
          value: 'failed',
          description: 'The customer is not charged, and sees the answer as the reason',
        },
      ],
    },
    {
      displayName: 'Answer',
      name: 'answer',
      type: 'string',
      typeOptions: { rows: 4 },
      default: '',
      description: 'For the customer: the result as text, Markdown or JSON, or why it failed',
    },
  ],
  async run(step) {
    const answer = readText(step, 'answer')
    const body = { status: readText(step, 'status'), ...(answer === '' ? {} : { answer }) }
    const { payment } = await spend(step, { path: `/payments/${encodeURIComponent(orderOf(step))}/outcome`, body })
    return [{ json: isObject(payment) ? payment : {} }]
  },
}

/** Left out for all that is left, which an author enters: an expression that finds nothing must not refund everything. */
function refunded(step: Step): IDataObject {
  const { node, item } = step
  const amount: unknown = node.getNodeParameter('amount', item, 0)
  const entered: unknown = node.getNodeParameter('amount', item, 0, { rawExpressions: true })
  if (entered === 0) return {}
  const number = typeof amount === 'string' && amount.trim() !== '' ? Number(amount) : amount
  if (typeof number === 'number' && number > 0) return { amount: number }
  throw refusal(
    step,
    `Amount (USDC) is ${JSON.stringify(amount) ?? 'empty'}, and nothing was refunded. Its expression must give more than 0. To refund all that is left, enter 0 as a fixed value.`,
  )
}

/** The path of the payment, relative to the API's address. */
function paymentPath(step: Step): string {
  const id = readText(step, 'paymentId')
  if (id === '') throw refusal(step, 'Payment ID is empty. Enter the ID of a payment that you received.')
  return `/payments/${encodeURIComponent(id)}`
}
