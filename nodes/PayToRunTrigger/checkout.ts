import { createHash } from 'node:crypto'
import type { IDataObject, IHookFunctions, IWebhookFunctions } from 'n8n-workflow'

/** What the node's parameters ask of the service, as `POST /checkouts` takes it. */
export function readCheckout(hook: IHookFunctions | IWebhookFunctions): CheckoutRequest {
  const parameter = (name: string): string => hook.getNodeParameter(name) as string
  const options = hook.getNodeParameter('options', {}) as { callbackUrl?: string }
  return {
    callbackUrl: readCallback(options.callbackUrl, hook.getNodeWebhookUrl('default')),
    product: { name: parameter('productName'), description: orNull(parameter('productDescription')) },
    price: hook.getNodeParameter('price'),
    network: parameter('network'),
    ...(parameter('recipient') === 'address' && { recipient: parameter('recipientAddress').trim() }),
    fields: readFields(hook.getNodeParameter('customerFields', {})),
    redirectUrl: orNull(parameter('redirectUrl')),
    testMode: isTestMode(hook),
    lifetime: hook.getMode() === 'manual' ? 'temporary' : 'persistent',
    responseMode: parameter('respond') === 'lastNode' ? 'lastNode' : 'immediately',
    // No customer pays for a workflow that is not there.
    preflight: true,
    source: { instanceId: hook.getInstanceId(), workflowId: hook.getWorkflow().id, nodeId: hook.getNode().id },
  }
}

export interface CheckoutRequest extends IDataObject {
  lifetime: 'temporary' | 'persistent'
}

/** Two that are alike need not be made anew. */
export function fingerprint(checkout: CheckoutRequest): string {
  return createHash('sha256').update(JSON.stringify(checkout)).digest('hex')
}

export function isTestMode(node: IHookFunctions | IWebhookFunctions): boolean {
  return node.getNodeParameter('testMode') === true
}

/**
 * Test money goes with a sandbox key and real money with a production key, unless the author chose a network. A
 * credential that cannot be read is left to the call itself, which says what is wrong with it.
 */
export async function withNetwork(
  hook: IHookFunctions | IWebhookFunctions,
  checkout: CheckoutRequest,
): Promise<CheckoutRequest> {
  if (checkout['network'] !== 'credential') return checkout
  const { environment } = await hook.getCredentials('coinslotApi').catch(() => ({ environment: undefined }))
  return { ...checkout, network: environment === 'production' ? 'base' : 'base-sepolia' }
}

/** What the service calls the parameters, and what they are called here. */
export const LABELS = {
  callbackUrl: 'Callback URL',
  'product.name': 'Product Name',
  'product.description': 'Description',
  price: 'Price (USDC)',
  network: 'Network',
  recipient: 'Recipient Wallet',
  fields: 'Customer Fields',
  redirectUrl: 'Redirect URL',
  testMode: 'Test Mode',
} as const

/** A field as the editor keeps it. */
export interface FieldParameters {
  label: string
  name?: string
  type: string
  required?: boolean
  placeholder?: string
  help?: string
  choices?: { values?: { value: string }[] }
  rules?: { default?: string; min?: number; max?: number; pattern?: string }
}

function readFields(collection: unknown): IDataObject[] {
  const { fields = [] } = collection as { fields?: FieldParameters[] }
  return fields.map((field) => ({
    name: orNull(field.name) ?? nameOf(field.label),
    label: field.label,
    type: field.type,
    required: field.required === true,
    ...given('placeholder', field.placeholder),
    ...given('description', field.help),
    ...(field.type === 'select' && { options: (field.choices?.values ?? []).map(({ value }) => value) }),
    ...readRules(field),
  }))
}

/** A rule that was set and then became another type's is left over in the editor, and means nothing. */
function readRules({ type, rules = {} }: FieldParameters): IDataObject {
  return {
    ...given('default', readDefault(type, rules.default)),
    ...(MEASURED.includes(type) && { ...given('min', rules.min), ...given('max', rules.max) }),
    ...(WRITTEN.includes(type) && given('pattern', rules.pattern)),
  }
}

/** The editor keeps it as text, the service wants what the customer would have given. */
function readDefault(type: string, text: string | undefined): IDataObject[string] {
  if (text === undefined || text === '') return undefined
  // What is neither goes as it is, for the service to refuse: NaN would arrive as nothing.
  if (type === 'number') return Number.isFinite(Number(text)) ? Number(text) : text
  if (type === 'boolean') return { true: true, false: false }[text] ?? text
  return text
}

/** What the workflow reads the answer by, where nobody chose a name: `Your website` becomes `your_website`. */
export function nameOf(label: string): string {
  const name = label
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    // Within a word: an e-mail is an email.
    .replace(/(?<=[a-z])[-'’](?=[a-z])/g, '')
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_|_$/g, '')
  return (/^\d/.test(name) ? `field_${name}` : name).slice(0, 64)
}

/** Behind a reverse proxy n8n may not know its own public address; the path is n8n's in either case. */
function readCallback(override: string | undefined, own: string | undefined): string {
  const address = own ?? ''
  const base = orNull(override)
  if (base === null) return address
  // A whole address is taken as it is, an origin gets n8n's path.
  return /^https?:\/\/[^/]+\/?$/.test(base) ? base.replace(/\/$/, '') + address.replace(/^https?:\/\/[^/]+/, '') : base
}

function given(name: string, value: IDataObject[string]): IDataObject {
  return value === undefined || value === null || value === '' ? {} : { [name]: value }
}

function orNull(text: string | undefined): string | null {
  return text === undefined || text.trim() === '' ? null : text.trim()
}

const WRITTEN = ['text', 'textarea', 'url', 'email', 'file']
const MEASURED = ['number', ...WRITTEN]
