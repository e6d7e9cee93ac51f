import type { INodeProperties } from 'n8n-workflow'
import { customerFields } from './customer-fields.ts'
import { plans, priceFields } from './price-fields.ts'

/** The node's parameters for the author of the workflow, in the order of the panel. */
export const fields: INodeProperties[] = [
  {
    displayName:
      'Copy link: click the address under <b>Webhook URLs</b>. While this step listens, the test address leads to a temporary payment form. Once the workflow is published, the production address shows the link for your customers.',
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
    placeholder: 'e.g. SEO audit of your website',
    description: 'What the customer pays for, at the top of the form',
  },
  {
    displayName: 'Description',
    name: 'productDescription',
    type: 'string',
    typeOptions: { rows: 3 },
    default: '',
    placeholder: 'e.g. Send us your address and read the report ten minutes later.',
    description: 'What the customer gets, below the name of the product',
  },
  ...priceFields,
  {
    displayName: 'Respond',
    name: 'respond',
    type: 'options',
    default: 'onReceived',
    description: 'What the customer sees after paying',
    options: [
      {
        name: 'Immediately',
        value: 'onReceived',
        description: 'A message that the payment arrived and the workflow has started',
      },
      {
        name: 'When Last Node Finishes',
        value: 'lastNode',
        description:
          'What Payment: Answer Payer sent, or else the data of the last node, on the payment page. The workflow has three minutes, and must not wait in between (Ask for More, a Wait node): n8n would answer with the step that waits.',
      },
    ],
  },
  {
    displayName: 'Charge',
    name: 'capture',
    type: 'options',
    default: 'onPayment',
    description: 'When the customer is charged',
    options: [
      {
        name: 'Before the Workflow Runs',
        value: 'onPayment',
        description: 'The customer pays, then the workflow runs',
      },
      {
        name: 'Only if the Workflow Succeeds',
        value: 'onSuccess',
        description: 'The customer signs, the workflow runs, and only a success is charged',
      },
      {
        name: 'Only if the Workflow Succeeds, Money Held Meanwhile',
        value: 'escrow',
        description: 'The money waits in a contract while the workflow runs: a success pays you, a failure goes back',
      },
    ],
  },
  {
    displayName:
      'The last node decides: if it finishes, the customer is charged; if the workflow fails, nothing is. If you respond immediately, use Payment: Answer Payer or Payment: Fail Payment of the Coinslot node. A wallet can be emptied while the workflow runs: then you are not paid, and the customer does not see the result.',
    name: 'captureNotice',
    type: 'notice',
    default: '',
    displayOptions: { show: { capture: ['onSuccess'] } },
  },
  {
    displayName:
      'The last node decides: if it finishes, you are paid; if the workflow fails, the money goes back. If you respond immediately, use Payment: Answer Payer or Payment: Fail Payment of the Coinslot node. Customers need a client that knows the x402 scheme auth-capture, or the payment page.',
    name: 'escrowNotice',
    type: 'notice',
    default: '',
    displayOptions: { show: { capture: ['escrow'] } },
  },
  {
    displayName: 'Time Limit (Seconds)',
    name: 'runSeconds',
    type: 'number',
    typeOptions: { minValue: 10, numberPrecision: 0 },
    default: 180,
    description: 'If the outcome is not known by then, nothing is charged',
    displayOptions: { show: { capture: ['onSuccess', 'escrow'] } },
  },
  {
    displayName: 'Refund if It Fails',
    name: 'refundOnFailure',
    type: 'boolean',
    default: false,
    description:
      'Whether a payment is sent back by itself when its workflow fails. The money comes from your Coinslot wallet.',
    displayOptions: { show: { capture: ['onPayment'] } },
  },
  {
    displayName: 'Network',
    name: 'network',
    type: 'options',
    default: 'credential',
    description: 'Where customers pay',
    options: [
      {
        name: 'Same as the Credential',
        value: 'credential',
        description: 'Base Sepolia with a sandbox credential, Base with a production credential',
      },
      { name: 'Base', value: 'base', description: 'Real USDC; outside of test mode it needs a production credential' },
      {
        name: 'Base Sepolia',
        value: 'base-sepolia',
        description: 'Test network, where USDC is free and worth nothing',
      },
    ],
  },
  {
    displayName: 'Recipient Wallet',
    name: 'recipient',
    type: 'options',
    default: 'account',
    description: 'Who is paid',
    options: [
      {
        name: 'My Coinslot Wallet',
        value: 'account',
        description: 'The wallet of the account that the credential belongs to',
      },
      {
        name: 'Another Address',
        value: 'address',
        description: 'Any address on the network: customers pay straight to it',
      },
    ],
  },
  {
    displayName: 'Recipient Address',
    name: 'recipientAddress',
    type: 'string',
    default: '',
    required: true,
    placeholder: 'e.g. 0x71C7656EC7ab88b098defB751B7401B5f6d8976F',
    description: 'Check it twice: a payment to a wrong address cannot be taken back',
    displayOptions: { show: { recipient: ['address'] } },
  },
  customerFields,
  plans,
  {
    displayName: 'Redirect URL',
    name: 'redirectUrl',
    type: 'string',
    default: '',
    placeholder: 'e.g. https://example.com/thank-you',
    description: 'Where the customer is sent after paying. Without it the form shows that the payment arrived.',
  },
  {
    displayName: 'Test Mode',
    name: 'testMode',
    type: 'boolean',
    default: true,
    description: 'Whether payments are only simulated, and cost nothing. Switch it off to be paid.',
  },
  {
    displayName:
      'In test mode <b>all payments are simulated</b>: anyone who opens the form, or knows the address of this trigger, can run the workflow.',
    name: 'testNotice',
    type: 'notice',
    default: '',
    displayOptions: { show: { testMode: [true] } },
  },
  {
    displayName: 'Options',
    name: 'options',
    type: 'collection',
    placeholder: 'Add option',
    default: {},
    options: [
      {
        displayName: 'Callback URL',
        name: 'callbackUrl',
        type: 'string',
        default: '',
        placeholder: 'e.g. https://n8n.example.com',
        description:
          'Where Coinslot reaches this n8n when it is behind a reverse proxy: its public origin, or the whole address of this trigger',
      },
      {
        displayName: 'Coupons',
        name: 'coupons',
        type: 'boolean',
        default: true,
        description: 'Whether customers may use the coupons of your account',
      },
      {
        displayName: 'Files as Binary Data',
        name: 'filesAsBinary',
        type: 'boolean',
        default: true,
        description:
          'Whether the files that customers upload are fetched when they have paid, as binary data under the names of their fields. Links to other places stay links.',
      },
      {
        displayName: 'Free Trial Runs',
        name: 'trialRuns',
        type: 'number',
        typeOptions: { minValue: 0, maxValue: 100, numberPrecision: 0 },
        default: 1,
        description: 'How many runs each wallet gets for nothing',
      },
      {
        displayName: 'Free Trial Runs per Day',
        name: 'trialsPerDay',
        type: 'number',
        typeOptions: { minValue: 1, maxValue: 10000, numberPrecision: 0 },
        default: 50,
        description: 'How many free runs all wallets together get on a day (UTC)',
      },
    ],
  },
]

/** The version that a new node gets. */
export const LATEST = 1.1
export const VERSIONS = [1, LATEST]

/**
 * What the first version of the node has otherwise. A workflow stores no default, and n8n drops what a node's version does not
 * have, so a workflow that was made then must find its own parameters and defaults.
 */
export function withFirstVersion(fields: readonly INodeProperties[]): INodeProperties[] {
  const responds = fields.filter(({ name }) => name === 'respond').map((field) => of(field, 1))
  return fields.flatMap((field) => {
    if (field.name === 'network') return [of(field, LATEST), of({ ...field, default: 'base' }, 1)]
    // It was an option.
    if (field.name === 'respond') return [of(field, LATEST)]
    if (field.name === 'options')
      return [{ ...field, options: [...((field.options ?? []) as INodeProperties[]), ...responds] }]
    return [field]
  })
}

function of(field: INodeProperties, version: number): INodeProperties {
  return { ...field, displayOptions: { show: { ...field.displayOptions?.show, '@version': [version] } } }
}
