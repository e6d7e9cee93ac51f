import type { IWebhookFunctions } from 'n8n-workflow'
import { advice, ask, isObject, type HttpResult } from '../shared/transport.ts'
import type { Registration } from './lifecycle.ts'

/** Why a payment would not run the workflow, as the node answers it with 410: the service then pauses the checkout and tells its owner. */
interface Fault {
  code: string
  reason: string
}

/**
 * Checks before a customer pays whether the node could claim the delivery: not with a revoked API key, nor for a checkout
 * of another account. `named` is the checkout that the service is about to sell; older services do not name it.
 */
export async function findFault(
  webhook: IWebhookFunctions,
  kept: Registration,
  { named, nowMs }: { named?: string | undefined; nowMs: number },
): Promise<Fault | undefined> {
  if (named !== undefined && named !== kept.checkoutId) {
    const reason = `This workflow belongs to the checkout ${kept.checkoutId}, and not to ${named}. Expire ${named}, or publish its own workflow again.`
    return { code: 'other_checkout', reason }
  }
  // A test listener has just registered with this credential.
  if (webhook.getMode() === 'manual') return undefined
  const key = JSON.stringify([kept.checkoutId, webhook.getNode().credentials?.['coinslotApi']?.id])
  const known = remembered.get(key)
  if (known !== undefined && nowMs - known.askedAt < ASK_AGAIN_MS) return faultIn(await known.look)
  if (remembered.size >= REMEMBERED_MAX) remembered.clear()
  const isRecent = known !== undefined && nowMs - known.askedAt < RECENT_MS
  const look = askService(webhook, kept, isRecent ? known.look : undefined)
  remembered.set(key, { look, askedAt: nowMs })
  const found = faultIn(await look)
  // Publishing again revives an expired checkout at once.
  if (found?.code === EXPIRED) remembered.delete(key)
  return found
}

function faultIn(look: Look): Fault | undefined {
  return look === STRANGER ? undefined : look
}

/**
 * Only a refusal is a fault, or a checkout that has expired: a service that is slow or down now is asked again when the delivery
 * comes. A refusal that is not the service's own may be a proxy's while the service starts: it counts when the next look
 * finds it too.
 */
async function askService(
  webhook: IWebhookFunctions,
  { checkoutId }: Registration,
  before: Promise<Look> | undefined,
): Promise<Look> {
  const answer = await ask(webhook, { method: 'GET', path: `/checkouts/${checkoutId}`, timeoutMs: TIMEOUT_MS })
  if (isExpired(answer)) {
    const reason = `The checkout ${checkoutId} has expired. Publish this workflow again: customers keep the same link.`
    return { code: EXPIRED, reason }
  }
  const isRefused = answer.reached ? REFUSALS.has(answer.status) : answer.address === ''
  if (!isRefused) return undefined
  const isStranger = answer.reached && answer.body['code'] === undefined
  if (isStranger && (await before) === undefined) return STRANGER
  const isMissing = answer.reached && answer.status === 404 && !isStranger
  const reason = isMissing
    ? `The account of the credential has no checkout ${checkoutId}. Publish this workflow again to get a new one, or choose the credential of the account that it was published with.`
    : advice(answer)
  webhook.logger.error(`Checkout ${checkoutId} cannot be paid for: customers see that it is not available. ${reason}`)
  if (isMissing) return { code: 'checkout_not_found', reason }
  // Anybody may ask, and the address may be one within the author's network: only the log names it.
  const said = isStranger
    ? 'There is no Coinslot service at the address in the credential. Check it there: the log of n8n names it.'
    : reason
  return { code: 'credential_refused', reason: said }
}

function isExpired(answer: HttpResult): boolean {
  const checkout = answer.reached && answer.status === 200 ? answer.body['checkout'] : undefined
  return isObject(checkout) && checkout['status'] === 'expired'
}

/** Something answered that is not the service. */
const STRANGER = 'stranger'
type Look = Fault | typeof STRANGER | undefined

const EXPIRED = 'checkout_expired'
/** 400: the key is one of the other environment. */
const REFUSALS: ReadonlySet<number> = new Set([400, 401, 403, 404])
/** The service waits eight seconds for the node's answer. */
const TIMEOUT_MS = 3_000
const ASK_AGAIN_MS = 60_000
/** Two of a proxy's refusals further apart are two outages. */
const RECENT_MS = 300_000
const REMEMBERED_MAX = 1_000
/**
 * In memory: n8n stores the static data as a whole after each request, so writing there while the workflow is published
 * again would bring the old registration back.
 */
const remembered = new Map<string, { look: Promise<Look>; askedAt: number }>()
