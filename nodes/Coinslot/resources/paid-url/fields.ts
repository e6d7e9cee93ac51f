import type { INodeProperties } from 'n8n-workflow'
import { approval } from '../../fields.ts'

/** The request, and the most that it may cost. */
export const fields: INodeProperties[] = [
  {
    displayName: 'URL',
    name: 'url',
    type: 'string',
    default: '',
    required: true,
    placeholder: 'e.g. https://api.example.com/report',
    description: 'Any address that asks for a payment by x402; one that asks for none costs nothing',
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
    description: 'The method to call it with',
    options: ['DELETE', 'GET', 'PATCH', 'POST', 'PUT'].map((method) => ({ name: method, value: method })),
  },
  {
    displayName: 'Send Body',
    name: 'sendBody',
    type: 'options',
    default: 'none',
    description: 'What to send along',
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
    description: 'Sent along with the call. The payment is added by Coinslot.',
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
        description: 'Whether to go on with whatever status the address answers, also when it is an error',
      },
      approval,
    ],
  },
]
