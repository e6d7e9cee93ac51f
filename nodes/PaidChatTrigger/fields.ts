import type { INodeProperties } from 'n8n-workflow'
import { fields as ofForm } from '../PayToRunTrigger/fields.ts'

/** The same parameter as that of the other trigger, which has its words. */
function shared(...names: readonly string[]): INodeProperties[] {
  return ofForm.filter(({ name }) => names.includes(name))
}

/** Only what a chat has of them. */
function sharedOptions(...names: readonly string[]): INodeProperties[] {
  return shared('options').map((field) => ({
    ...field,
    options: (field.options as INodeProperties[]).filter(({ name }) => names.includes(name)),
  }))
}

/** The node's parameters for the author of the workflow, in the order of the panel. */
export const fields: INodeProperties[] = [
  {
    displayName:
      'Copy link: click the address under <b>Webhook URLs</b>. While this step listens, the test address leads to a temporary chat. Once the workflow is published, the production address shows the link for your customers.',
    name: 'linkNotice',
    type: 'notice',
    default: '',
  },
  {
    displayName: 'Product Name',
    name: 'productName',
    type: 'string',
    default: '',
    required: true,
    placeholder: 'e.g. Tax assistant',
    description: 'What the customer talks to, at the top of the chat',
  },
  {
    displayName: 'Description',
    name: 'productDescription',
    type: 'string',
    typeOptions: { rows: 3 },
    default: '',
    placeholder: 'e.g. Answers about your tax return, by people who know it.',
    description: 'What the customer gets, below the name',
  },
  {
    displayName: 'Greeting',
    name: 'greeting',
    type: 'string',
    typeOptions: { rows: 2 },
    default: 'Hello! What would you like to know?',
    description: 'The first words of the chat, shown before the customer pays',
  },
  {
    displayName: 'Price (USDC)',
    name: 'price',
    type: 'number',
    typeOptions: { minValue: 0.000001 },
    default: 1,
    required: true,
    description: 'What the customer pays ahead, in USDC with at most six decimals',
  },
  {
    displayName: 'Messages per Payment',
    name: 'messages',
    type: 'number',
    typeOptions: { minValue: 2, numberPrecision: 0 },
    default: 20,
    required: true,
    description: 'How many messages are paid for. After the last one the chat stops until the customer pays again.',
  },
  {
    displayName:
      'Each message runs the workflow once, with the conversation so far under <b>history</b>. What the last node outputs is the answer, or what Payment: Answer Payer sent. Payment: Show Progress is shown in the chat while the workflow runs. It has three minutes.',
    name: 'answerNotice',
    type: 'notice',
    default: '',
  },
  {
    displayName: 'Return a Failed Message',
    name: 'returnFailed',
    type: 'boolean',
    default: true,
    description:
      'Whether a message counts as not sent when its workflow fails. If it is the first one of a payment, the payment is sent back from your Coinslot wallet.',
  },
  ...shared('network', 'recipient', 'recipientAddress', 'testMode', 'testNotice'),
  ...sharedOptions('callbackUrl', 'coupons'),
]
