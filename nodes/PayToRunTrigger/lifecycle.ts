import { NodeOperationError, type IDataObject, type IHookFunctions, type IWebhookFunctions } from 'n8n-workflow'
import { advice, ask, type HttpResult } from '../shared/transport.ts'
import { fingerprint, LABELS, readCheckout, withNetwork } from './checkout.ts'

/** What is remembered of the checkout that the service keeps for this node. */
export interface Registration {
  checkoutId: string
  secret: string
  formUrl: string
  lifetime: string
  /** Of the parameters that it was made from. */
  fingerprint: string
}

export function recall(node: IHookFunctions | IWebhookFunctions): Registration | undefined {
  // A copy: what n8n hands out is the record itself, and forgetting empties it.
  const data: unknown = { ...node.getWorkflowStaticData('node') }
  return typeof (data as Partial<Registration>).checkoutId === 'string' ? (data as Registration) : undefined
}

/**
 * Whether the checkout is there, made from these very parameters, and taking payments. While the service cannot be
 * asked, what is remembered holds: n8n would take a throw for a reason to delete it.
 */
export async function checkExists(hook: IHookFunctions): Promise<boolean> {
  const kept = recall(hook)
  if (kept?.fingerprint !== fingerprint(readCheckout(hook))) return false
  const answer = await ask(hook, { method: 'GET', path: `/checkouts/${kept.checkoutId}` })
  if (!isCheckoutAnswer(answer)) return !(answer.reached && answer.status === 404)
  return answer.body.checkout['status'] === 'active'
}

/** The service gives the same node the same checkout back, so that making it twice leaves one and the same link. */
export async function create(hook: IHookFunctions): Promise<boolean> {
  const checkout = readCheckout(hook)
  const body = await withNetwork(hook, checkout)
  const answer = await ask(hook, { method: 'POST', path: '/checkouts', body })
  if (!isCheckoutAnswer(answer)) throw new NodeOperationError(hook.getNode(), advice(answer, LABELS))
  const { id, url } = answer.body.checkout
  const { secret } = answer.body
  if (!isText(id) || !isText(url) || !isSecret(secret)) {
    // Without its secret no delivery could be told from a forged one.
    throw new NodeOperationError(
      hook.getNode(),
      `Coinslot at ${answer.address} made a checkout but did not say by which secret it signs. Update the service or this package so that they fit.`,
    )
  }
  const kept: Registration = {
    checkoutId: id,
    secret,
    formUrl: url,
    lifetime: checkout.lifetime,
    fingerprint: fingerprint(checkout),
  }
  Object.assign(hook.getWorkflowStaticData('node'), kept)
  return true
}

/** The secret that the service signs by today; undefined where it was asked a moment ago, or cannot be. */
export async function renewSecret(webhook: IWebhookFunctions, nowMs: number): Promise<string | undefined> {
  const data = webhook.getWorkflowStaticData('node')
  const askedAt = typeof data['askedAt'] === 'number' ? data['askedAt'] : 0
  // A test listener does not live long enough for its secret to rotate.
  if (webhook.getMode() === 'manual' || nowMs - askedAt < ASK_AGAIN_MS) return undefined
  data['askedAt'] = nowMs
  const answer = await ask(webhook, {
    method: 'POST',
    path: '/checkouts',
    body: await withNetwork(webhook, readCheckout(webhook)),
    timeoutMs: 5_000,
  })
  if (!isCheckoutAnswer(answer) || answer.body.checkout['id'] !== data['checkoutId']) return undefined
  const { secret } = answer.body
  if (!isSecret(secret)) return undefined
  data['secret'] = secret
  return secret
}

/** Forgets the checkout here in any case; one that could not be expired at the service charges nobody, see README. */
export async function remove(hook: IHookFunctions): Promise<boolean> {
  const kept = recall(hook)
  if (kept === undefined) return true
  forget(hook)
  const path = `/checkouts/${kept.checkoutId}`
  if (kept.lifetime === 'temporary') {
    // Publishing while listening made it the lasting one: then the end of listening is not its end.
    const answer = await ask(hook, { method: 'GET', path })
    if (isCheckoutAnswer(answer) && answer.body.checkout['lifetime'] !== 'temporary') return true
  }
  // Publishing again removes the checkout and registers it again at once: its link must keep working in between.
  const grace = kept.lifetime === 'temporary' ? '' : `?graceSeconds=${String(GRACE_SECONDS)}`
  const answer = await ask(hook, { method: 'DELETE', path: path + grace })
  if (!answer.reached || (answer.status >= 300 && answer.status !== 404)) {
    hook.logger.warn(`Checkout ${kept.checkoutId} could not be expired. ${advice(answer)}`)
  }
  return true
}

function forget(hook: IHookFunctions): void {
  const data = hook.getWorkflowStaticData('node')
  for (const name of Object.keys(data)) Reflect.deleteProperty(data, name)
}

interface CheckoutAnswer {
  reached: true
  status: number
  address: string
  body: { checkout: IDataObject; secret?: unknown }
}

function isCheckoutAnswer(answer: HttpResult): answer is HttpResult & CheckoutAnswer {
  return (
    answer.reached &&
    answer.status >= 200 &&
    answer.status < 300 &&
    typeof answer.body['checkout'] === 'object' &&
    answer.body['checkout'] !== null
  )
}

function isSecret(value: unknown): value is string {
  return isText(value) && value.startsWith('whsec_')
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

const ASK_AGAIN_MS = 60_000
const GRACE_SECONDS = 5
