import { createHash } from 'node:crypto'
import type { IDataObject, IHookFunctions, IWebhookFunctions } from 'n8n-workflow'

/** Reads the node's parameters into the body of `POST /checkouts`. */
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
    ...readCapture(hook),
    // No customer should pay for a workflow that does not respond.
    preflight: true,
    source: { instanceId: hook.getInstanceId(), workflowId: hook.getWorkflow().id, nodeId: hook.getNode().id },
  }
}

/** Left out where it is the default, so that the checkout of an older workflow keeps its fingerprint. */
function readCapture(hook: IHookFunctions | IWebhookFunctions): IDataObject {
  const capture = hook.getNodeParameter('capture', 'onPayment')
  if (capture === 'onSuccess' || capture === 'escrow') {
    return { capture, runSeconds: hook.getNodeParameter('runSeconds', 180) }
  }
  return hook.getNodeParameter('refundOnFailure', false) === true ? { refundOnFailure: true } : {}
}

export interface CheckoutRequest extends IDataObject {
  lifetime: 'temporary' | 'persistent'
}

/** Two requests with the same fingerprint share one checkout. */
export function fingerprint(checkout: CheckoutRequest): string {
  return createHash('sha256').update(JSON.stringify(checkout)).digest('hex')
}

export function isTestMode(node: IHookFunctions | IWebhookFunctions): boolean {
  return node.getNodeParameter('testMode') === true
}

/**
 * A sandbox key uses the test network and a production key the real one, unless the author chose a network. If the
 * credential cannot be read, the call itself reports the error.
 */
export async function withNetwork(
  hook: IHookFunctions | IWebhookFunctions,
  checkout: CheckoutRequest,
): Promise<CheckoutRequest> {
  if (checkout['network'] !== 'credential') return checkout
  const { environment } = await hook.getCredentials('coinslotApi').catch(() => ({ environment: undefined }))
  return { ...checkout, network: environment === 'production' ? 'base' : 'base-sepolia' }
}

/** The service's parameter names and their labels here. */
export const LABELS = {
  callbackUrl: 'Callback URL',
  'product.name': 'Product Name',
  'product.description': 'Description',
  price: 'Price (USDC)',
  network: 'Network',
  recipient: 'Recipient Wallet',
  fields: 'Customer Fields',
  redirectUrl: 'Redirect URL',
  capture: 'Charge',
  runSeconds: 'Time Limit (Seconds)',
  refundOnFailure: 'Refund if It Fails',
  testMode: 'Test Mode',
} as const

/** A field as the editor stores it. */
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

/**
 * The editor keeps rules of a type that was selected earlier. They have no meaning for the current type and are
 * dropped.
 */
function readRules({ type, rules = {} }: FieldParameters): IDataObject {
  return {
    ...given('default', readDefault(type, rules.default)),
    ...(MEASURED.includes(type) && { ...given('min', rules.min), ...given('max', rules.max) }),
    ...(WRITTEN.includes(type) && given('pattern', rules.pattern)),
  }
}

/** The editor stores the default as text; the service expects the customer's type. */
function readDefault(type: string, text: string | undefined): IDataObject[string] {
  if (text === undefined || text === '') return undefined
  // A text that is neither a number nor a boolean goes to the service unchanged, to be refused there: NaN would be sent
  // as null.
  if (type === 'number') return Number.isFinite(Number(text)) ? Number(text) : text
  if (type === 'boolean') return { true: true, false: false }[text] ?? text
  return text
}

/** The field's name in the workflow when the author chose none: `Your website` becomes `your_website`. */
export function nameOf(label: string): string {
  const name = label
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    // Drops a hyphen or an apostrophe within a word: `e-mail` becomes `email`.
    .replace(/(?<=[a-z])[-'’](?=[a-z])/g, '')
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_|_$/g, '')
  return (/^\d/.test(name) ? `field_${name}` : name).slice(0, 64)
}

/** Behind a reverse proxy n8n may not know its own public address. The path is always n8n's. */
function readCallback(override: string | undefined, own: string | undefined): string {
  const address = own ?? ''
  const base = orNull(override)
  if (base === null) return address
  // A complete URL is used unchanged; an origin gets n8n's path.
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
