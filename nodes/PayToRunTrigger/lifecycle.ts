import { NodeOperationError, type IDataObject, type IHookFunctions, type IWebhookFunctions } from 'n8n-workflow'
import { advice, ask, type HttpResult } from '../shared/transport.ts'
import { fingerprint, PAY_TO_RUN, withNetwork, type Trigger } from './checkout.ts'

/** What n8n stores about the checkout that the service keeps for this node. */
export interface Registration {
  checkoutId: string
  secret: string
  formUrl: string
  lifetime: string
  /** The fingerprint of the parameters that the checkout was made from. */
  fingerprint: string
}

export function recall(node: IHookFunctions | IWebhookFunctions): Registration | undefined {
  // A copy, because n8n returns the stored record itself and `forget` empties it.
  const data: unknown = { ...node.getWorkflowStaticData('node') }
  return typeof (data as Partial<Registration>).checkoutId === 'string' ? (data as Registration) : undefined
}

/**
 * Whether the checkout exists, was made from these parameters, and accepts payments. While the service is unreachable
 * the stored registration counts, because n8n would delete the webhook after a throw.
 */
export async function checkExists(hook: IHookFunctions, { read }: Trigger = PAY_TO_RUN): Promise<boolean> {
  const kept = recall(hook)
  if (kept?.fingerprint !== fingerprint(read(hook))) return false
  const answer = await ask(hook, { method: 'GET', path: `/checkouts/${kept.checkoutId}` })
  if (!isCheckoutAnswer(answer)) return !(answer.reached && answer.status === 404)
  return answer.body.checkout['status'] === 'active'
}

/** The service returns the same checkout for the same node, so creating it twice results in one link. */
export async function create(hook: IHookFunctions, { read, labels }: Trigger = PAY_TO_RUN): Promise<boolean> {
  const checkout = read(hook)
  const body = await withNetwork(hook, checkout)
  const answer = await ask(hook, { method: 'POST', path: '/checkouts', body })
  if (!isCheckoutAnswer(answer)) throw new NodeOperationError(hook.getNode(), advice(answer, labels))
  const { id, url } = answer.body.checkout
  const { secret } = answer.body
  if (!isText(id) || !isText(url) || !isSecret(secret)) {
    // Without the secret the node cannot distinguish a genuine delivery from a forged one.
    throw new NodeOperationError(
      hook.getNode(),
      `Coinslot at ${answer.address} created a checkout but returned no signing secret. Update the service or this package so that their versions match.`,
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

/** The service's current signing secret; undefined if it was fetched a moment ago or cannot be fetched. */
export async function renewSecret(
  webhook: IWebhookFunctions,
  nowMs: number,
  { read }: Trigger = PAY_TO_RUN,
): Promise<string | undefined> {
  const data = webhook.getWorkflowStaticData('node')
  const askedAt = typeof data['askedAt'] === 'number' ? data['askedAt'] : 0
  // A test listener ends before its secret can rotate.
  if (webhook.getMode() === 'manual' || nowMs - askedAt < ASK_AGAIN_MS) return undefined
  data['askedAt'] = nowMs
  const answer = await readWithSecret(webhook, data['checkoutId'] as string, read)
  if (!isCheckoutAnswer(answer) || answer.body.checkout['id'] !== data['checkoutId']) return undefined
  const { secret } = answer.body
  if (!isSecret(secret)) return undefined
  data['secret'] = secret
  return secret
}

/** A read: anyone can send a delivery with a wrong signature, and must not open again what the seller has closed. */
async function readWithSecret(webhook: IWebhookFunctions, id: string, read: Trigger['read']): Promise<HttpResult> {
  const path = `/checkouts/${id}`
  const found = await ask(webhook, { method: 'GET', path, query: { secret: true }, timeoutMs: READ_MS })
  const isWithout = isCheckoutAnswer(found) && found.body.secret === undefined
  if (!isWithout || found.body.checkout['status'] !== 'active') return found
  // A service of an earlier version shows the secret only to who registers the checkout.
  const body = await withNetwork(webhook, read(webhook))
  return await ask(webhook, { method: 'POST', path: '/checkouts', body, timeoutMs: READ_MS })
}

/**
 * Removes the local registration in any case. A checkout that the service could not expire charges no customer; see the
 * README.
 */
export async function remove(hook: IHookFunctions): Promise<boolean> {
  const kept = recall(hook)
  if (kept === undefined) return true
  forget(hook)
  const path = `/checkouts/${kept.checkoutId}`
  if (kept.lifetime === 'temporary') {
    // Publishing while listening made the checkout persistent, and then it must not expire. A service of an earlier version
    // does not know the condition of the deletion below, so the checkout is read first; without an answer it is left, because
    // a temporary one expires by itself.
    const answer = await ask(hook, { method: 'GET', path })
    if (!isCheckoutAnswer(answer)) return warnUnexpired(hook, kept, answer)
    if (answer.body.checkout['lifetime'] !== 'temporary') return true
  }
  // Publishing again removes the checkout and registers it again at once; its link must keep working in between.
  const query = kept.lifetime === 'temporary' ? 'lifetime=temporary' : `graceSeconds=${String(GRACE_SECONDS)}`
  return warnUnexpired(hook, kept, await ask(hook, { method: 'DELETE', path: `${path}?${query}` }))
}

function warnUnexpired(hook: IHookFunctions, { checkoutId }: Registration, answer: HttpResult): true {
  if (!answer.reached || (answer.status >= 300 && answer.status !== 404)) {
    hook.logger.warn(`Checkout ${checkoutId} could not be expired. ${advice(answer)}`)
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
/** The service waits fifteen seconds for the answer to a delivery. */
const READ_MS = 3_000
const GRACE_SECONDS = 5
