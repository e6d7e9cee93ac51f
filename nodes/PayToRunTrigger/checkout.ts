import { createHash } from 'node:crypto'
import type { IDataObject, IHookFunctions, IWebhookFunctions } from 'n8n-workflow'
import { networkOf } from '../shared/transport.ts'
import { orNull, readFields, type FieldParameters } from './form.ts'
import { outputFor, readPlans, readPricing, withDecision } from './price.ts'

/** Reads the node's parameters into the body of `POST /checkouts`. */
export function readCheckout(hook: IHookFunctions | IWebhookFunctions): CheckoutRequest {
  const parameter = (name: string): string => hook.getNodeParameter(name) as string
  const options = hook.getNodeParameter('options', {}) as Options
  const { fields = [] } = hook.getNodeParameter('customerFields', {}) as { fields?: FieldParameters[] }
  return {
    ...readProduct(hook),
    ...readPricing(hook, fields),
    ...readPlace(hook),
    fields: readFields(withDecision(hook, fields)),
    redirectUrl: orNull(parameter('redirectUrl')),
    ...readLife(hook),
    // An option in the node's first version.
    responseMode: hook.getNodeParameter('respond', options.respond) === 'lastNode' ? 'lastNode' : 'immediately',
    ...readCapture(hook),
    ...readPlans(hook),
    ...readOffers(options),
    ...readSource(hook),
  }
}

/** A trigger of this package: what it asks the service for, and what its workflow gets. */
export interface Trigger {
  read: (hook: IHookFunctions | IWebhookFunctions) => CheckoutRequest
  /** The service's parameter names and their labels in the panel. */
  labels: Readonly<Record<string, string>>
  /** The workflow's item for a payment. */
  itemOf: (payment: IDataObject) => IDataObject
  /** The place of the output that the item goes to; the first where this is left out. */
  outputFor?: (webhook: IWebhookFunctions, item: IDataObject) => number
}

/*
 * Parts of every request. Their order is that of the fingerprint: with another one all workflows would register again.
 */

/** Where the workflow is reached, and what is sold. */
export function readProduct(hook: IHookFunctions | IWebhookFunctions): IDataObject {
  const { callbackUrl } = hook.getNodeParameter('options', {}) as Options
  const [name, description] = [hook.getNodeParameter('productName'), hook.getNodeParameter('productDescription')]
  return {
    callbackUrl: readCallback(callbackUrl, hook.getNodeWebhookUrl('default')),
    product: { name, description: orNull(description as string) },
  }
}

/** Where it is paid, and to whom. */
export function readPlace(hook: IHookFunctions | IWebhookFunctions): IDataObject {
  const isElsewhere = hook.getNodeParameter('recipient') === 'address'
  return {
    network: hook.getNodeParameter('network'),
    ...(isElsewhere && { recipient: (hook.getNodeParameter('recipientAddress') as string).trim() }),
  }
}

export function readLife(hook: IHookFunctions | IWebhookFunctions): Pick<CheckoutRequest, 'lifetime' | 'testMode'> {
  return { testMode: isTestMode(hook), lifetime: hook.getMode() === 'manual' ? 'temporary' : 'persistent' }
}

export function readSource(hook: IHookFunctions | IWebhookFunctions): IDataObject {
  return {
    // No customer should pay for a workflow that does not respond.
    preflight: true,
    source: { instanceId: hook.getInstanceId(), workflowId: hook.getWorkflow().id, nodeId: hook.getNode().id },
  }
}

interface Options {
  callbackUrl?: string
  respond?: string
  coupons?: boolean
  trialRuns?: number
  trialsPerDay?: number
}

function readOffers({ coupons, trialRuns, trialsPerDay }: Options): IDataObject {
  return {
    ...(coupons === true && { coupons }),
    ...(trialRuns !== undefined && trialRuns > 0 && { trialRuns }),
    ...(trialsPerDay !== undefined && { trialsPerDay }),
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
  testMode: boolean
}

/** Two requests with the same fingerprint share one checkout. */
export function fingerprint(checkout: CheckoutRequest): string {
  return createHash('sha256').update(JSON.stringify(checkout)).digest('hex')
}

export function isTestMode(node: IHookFunctions | IWebhookFunctions): boolean {
  return node.getNodeParameter('testMode') === true
}

/** With the network itself where the author chose that of the credential. */
export async function withNetwork(
  hook: IHookFunctions | IWebhookFunctions,
  checkout: CheckoutRequest,
): Promise<CheckoutRequest> {
  return { ...checkout, network: await networkOf(hook, checkout['network'] as string) }
}

/** The service's parameter names and their labels here. */
export const LABELS = {
  callbackUrl: 'Callback URL',
  'product.name': 'Product Name',
  'product.description': 'Description',
  price: 'Price (USDC)',
  'pricing.min': 'Minimum Amount or Minimum Quantity',
  'pricing.max': 'Maximum Amount or Maximum Quantity',
  'pricing.suggested': 'Suggested Amount (USDC)',
  'pricing.field': 'Dropdown',
  'pricing.prices': 'Price of a Choice',
  plans: 'Plans',
  trialRuns: 'Free Trial Runs',
  trialsPerDay: 'Free Trial Runs per Day',
  network: 'Network',
  recipient: 'Recipient Wallet',
  fields: 'Customer Fields',
  redirectUrl: 'Redirect URL',
  capture: 'Charge',
  runSeconds: 'Time Limit (Seconds)',
  refundOnFailure: 'Refund if It Fails',
  testMode: 'Test Mode',
} as const

export const PAY_TO_RUN: Trigger = { read: readCheckout, labels: LABELS, itemOf: (payment) => payment, outputFor }

/** Behind a reverse proxy n8n may not know its own public address. The path is always n8n's. */
function readCallback(override: string | undefined, own: string | undefined): string {
  const address = own ?? ''
  const base = orNull(override)
  if (base === null) return address
  // A complete URL is used unchanged; an origin gets n8n's path.
  return /^https?:\/\/[^/]+\/?$/.test(base) ? base.replace(/\/$/, '') + address.replace(/^https?:\/\/[^/]+/, '') : base
}
