import type { IDataObject } from 'n8n-workflow'
import { isObject } from '../../shared/transport.ts'
import { limit, returnAll } from '../fields.ts'
import { readText, readTime, refusal } from '../inputs.ts'
import { readList, spend, type Operation } from '../request.ts'

export const createCoupon: Operation = {
  option: {
    name: 'Create',
    value: 'create',
    description: 'Create a code that makes purchases cheaper',
    action: 'Create a coupon',
  },
  fields: [
    {
      displayName: 'Code',
      name: 'code',
      type: 'string',
      default: '',
      required: true,
      placeholder: 'e.g. SPRING-10',
      description: 'What customers type: 3 to 40 letters, digits and hyphens',
    },
    {
      displayName: 'Discount',
      name: 'takesOff',
      type: 'options',
      default: 'percent',
      options: [
        { name: 'A Percentage', value: 'percent' },
        { name: 'An Amount', value: 'amount' },
      ],
    },
    {
      displayName: 'Percent',
      name: 'percent',
      type: 'number',
      typeOptions: { minValue: 1, maxValue: 100, numberPrecision: 0 },
      default: 10,
      displayOptions: { show: { takesOff: ['percent'] } },
    },
    {
      displayName: 'Amount (USDC)',
      name: 'amount',
      type: 'number',
      typeOptions: { minValue: 0.000001 },
      default: 1,
      displayOptions: { show: { takesOff: ['amount'] } },
    },
    {
      displayName: 'Limits',
      name: 'limits',
      type: 'collection',
      placeholder: 'Add Limit',
      default: {},
      options: [
        {
          displayName: 'Checkout IDs',
          name: 'checkouts',
          type: 'string',
          default: '',
          placeholder: 'e.g. chk_01k…, chk_01m…',
          description:
            'The IDs of the checkouts that accept the coupon, separated by commas. If empty, every checkout that takes coupons accepts it.',
        },
        {
          displayName: 'Purchases',
          name: 'max',
          type: 'number',
          typeOptions: { minValue: 1, numberPrecision: 0 },
          default: 100,
          description: 'How many purchases can use the coupon',
        },
        {
          displayName: 'Purchases per Customer',
          name: 'perCustomer',
          type: 'number',
          typeOptions: { minValue: 1, numberPrecision: 0 },
          default: 1,
        },
        { displayName: 'Until', name: 'until', type: 'dateTime', default: '' },
      ],
    },
  ],
  async run(step) {
    const { node, item } = step
    const off = readText(step, 'takesOff') === 'amount' ? 'amount' : 'percent'
    const { checkouts = '', until, ...limits } = node.getNodeParameter('limits', item, {}) as Limits
    const ids = checkouts.split(/[\s,]+/).filter((id) => id !== '')
    const body = {
      code: readText(step, 'code'),
      [off]: node.getNodeParameter(off, item),
      ...limits,
      ...readTime(step, 'until', until),
      ...(ids.length > 0 && { checkouts: ids }),
    }
    return [{ json: couponIn(await spend(step, { path: '/coupons', body })) }]
  },
}

interface Limits {
  checkouts?: string
  max?: number
  perCustomer?: number
  until?: unknown
}

export const listCoupons: Operation = {
  option: {
    name: 'Get Many',
    value: 'getAll',
    description: 'Get the coupons of the account and how often each was used',
    action: 'Get many coupons',
  },
  fields: [
    returnAll,
    limit,
    {
      displayName: 'Archived',
      name: 'archived',
      type: 'boolean',
      default: false,
      description: 'Whether to get the archived coupons in place of the others',
    },
  ],
  async run(step) {
    const archived = step.node.getNodeParameter('archived', step.item, false) === true
    return await readList(step, { path: '/coupons', query: { archived } }, { list: 'coupons' })
  },
}

export const archiveCoupon: Operation = {
  option: {
    name: 'Archive',
    value: 'archive',
    description: 'End a coupon at once; its code is free for a new one',
    action: 'Archive a coupon',
  },
  fields: [
    {
      displayName: 'Coupon ID',
      name: 'couponId',
      type: 'string',
      default: '',
      required: true,
      placeholder: 'The ID that Coupon: Get Many returns',
    },
  ],
  async run(step) {
    const id = readText(step, 'couponId')
    if (id === '') throw refusal(step, 'Coupon ID is empty. Enter the id that Coupon: Get Many returns.')
    return [{ json: couponIn(await spend(step, { path: `/coupons/${encodeURIComponent(id)}/archive` })) }]
  },
}

function couponIn({ coupon }: IDataObject): IDataObject {
  return isObject(coupon) ? coupon : {}
}
