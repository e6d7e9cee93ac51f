import { ZERO_ADDRESS } from '../../kit/address.ts'
import { NETWORKS } from '../../chain/networks.ts'
import { FAILS_FIRST, FAILS_ON_ERROR, type DeliveryState, type NewDelivery } from '../../deliveries/model.ts'
import { assertVersion, invalid } from '../../kit/errors.ts'
import { deriveId } from '../../kit/ids.ts'
import { toWire } from '../../kit/money.ts'
import type { Environment } from '../../kit/owner.ts'
import { assertPlans } from '../../passes/model.ts'
import { rightOf, type Sale } from '../../sales/model.ts'
import {
  checkoutEnded,
  checkoutMissing,
  checkoutOfRequest,
  checkoutOfWorkflow,
  progressTooFast,
  progressTooLong,
  workflowUnavailable,
} from '../errors.ts'
import { assertCapture, captureOf, type CaptureLimits } from './capture.ts'
import { assertEmbedOrigins } from './embedding.ts'
import { planIn } from './plans.ts'
import { assertAfter } from './after.ts'
import { assertChat, withChatForm } from './chat.ts'
import { assertPricing, isPlain, linesOf, linesWith, withListedPrice } from './price.ts'
import { versioned } from './versions.ts'
import {
  type ChatContext,
  type Checkout,
  type OnError,
  type Payment,
  type PaymentState,
  type Progress,
  type ProgressLine,
  type Status,
  type Terms,
} from '../model.ts'
import type { PaymentView } from '../views.ts'

/** The current status: a temporary checkout ends by time, whether or not that has been stored yet. */
export function statusOf(checkout: Pick<Checkout, 'state' | 'leasedUntil'>, now: Date): Status {
  if (checkout.leasedUntil !== null && checkout.leasedUntil <= now) return 'expired'
  return checkout.state
}

/** A checkout that has expired or whose workflow is gone sells nothing. */
export function assertSells(checkout: Checkout | null, now: Date): asserts checkout is Checkout {
  const status = checkout === null ? 'expired' : statusOf(checkout, now)
  if (status === 'expired') throw checkoutMissing()
  if (status === 'paused') throw workflowUnavailable()
}

/** An expired checkout is not shown; a paused one is shown as unavailable. */
export function assertShown(checkout: Checkout | null, now: Date): Checkout {
  if (checkout === null || statusOf(checkout, now) === 'expired') throw checkoutMissing()
  return checkout
}

/** Checks terms beyond what the schema can express. */
export function assertTerms(terms: Terms, environment: Environment, limits: CaptureLimits): void {
  const { network, testMode, recipient } = terms
  assertAfter(terms)
  assertPricing(terms)
  assertCapture(terms, limits)
  assertPlans(terms.plans)
  assertChat(terms)
  if (environment === 'sandbox' && NETWORKS[network].live && !testMode) {
    throw invalid({ network: 'must be base-sepolia unless testMode is true: a sandbox key never moves real money' })
  }
  if (recipient === null && !testMode) {
    throw invalid({ recipient: 'is required: your wallet has no address to receive payments' })
  }
  assertEmbedOrigins(terms.embedOrigins, environment)
  if (recipient === ZERO_ADDRESS) throw invalid({ recipient: 'must not be the zero address' })
}

/**
 * Which existing checkout of a source is reused: the one of the same lifetime, in any state; otherwise the active
 * temporary one, which an activation makes persistent. So a customer's link survives.
 */
export function successor(there: readonly Checkout[], terms: Terms, now: Date): Checkout | null {
  const same = there.find(({ lifetime }) => lifetime === terms.lifetime)
  if (same !== undefined) return same
  if (terms.lifetime === 'temporary') return null
  return there.find((checkout) => statusOf(checkout, now) !== 'expired') ?? null
}

/** Applies new terms. A workflow that registers itself is running, so a pause ends; so does one of an edited checkout. */
export function renewed(checkout: Checkout, terms: Terms, now: Date): Checkout {
  return versioned(checkout, {
    ...checkout,
    ...completed(terms),
    state: 'active',
    leasedUntil: terms.lifetime === 'temporary' ? leaseEnd(now) : null,
    pausedAt: null,
    expiredAt: null,
    updatedAt: now,
  })
}

/** Whether its owner may edit it, in the version that the owner has seen. A node sets everything but the sites, a request all. */
export function assertEditable(
  checkout: Checkout,
  { version, isOfSites, isOfRequest }: { version: number | null; isOfSites: boolean; isOfRequest: boolean },
  now: Date,
): void {
  if (statusOf(checkout, now) === 'expired') throw checkoutEnded()
  if (isOfRequest) throw checkoutOfRequest()
  if (checkout.source !== null && !isOfSites) throw checkoutOfWorkflow()
  assertVersion('checkout', { from: version, now: checkout.version })
}

/** A checkout that nobody has seen yet. */
export function newCheckout(id: Checkout['id'], owner: Checkout['owner'], terms: Terms, now: Date): Checkout {
  const life = { state: 'active', leasedUntil: null, pausedAt: null, expiredAt: null } as const
  const listed = completed(terms)
  return renewed({ ...listed, ...life, id, owner, version: 1, createdAt: now, updatedAt: now }, listed, now)
}

/** With what follows from the terms. */
function completed<T extends Terms>(terms: T): T {
  return withChatForm(withListedPrice(terms))
}

export function leaseEnd(now: Date): Date {
  return new Date(now.getTime() + LEASE_MS)
}

const LEASE_MS = 180_000

/** How often in a row the workflow must be reported missing before the checkout is paused. */
export const MISSING_MAX = 3

/**
 * A workflow that answers checks with server errors for this long sells nothing: every buyer would be refused, and its owner
 * would not hear of it. Errors that are further apart have nothing to do with each other.
 */
export const FAILING_MS = 120_000
export const FAILING_APART_MS = 1_800_000

/** Statuses that mean the workflow is missing, as opposed to an error. */
export function isGone(status: number): boolean {
  return status === 404 || status === 410
}

/** The event data of a pause for the owner's endpoints. */
export function pauseOf(checkout: Pick<Checkout, 'id' | 'product' | 'callbackUrl' | 'source'>, now: Date) {
  const { id, product, callbackUrl, source } = checkout
  return { checkoutId: id, product: product.name, callbackUrl, source, pausedAt: now.toISOString() }
}

/** A workflow answers in JSON; an HTML page of a proxy or a login is not its answer. */
export function isSensible(status: number, body: Buffer): boolean {
  if (status < 200 || status > 299) return false
  try {
    const said: unknown = JSON.parse(body.toString('utf8'))
    return typeof said === 'object' && said !== null
  } catch {
    return false
  }
}

/** Any status except "missing" and server errors: a workflow that refuses an empty body is running too. */
export function isThere(status: number): boolean {
  return status < 500 && !isGone(status)
}

/** When to probe a paused checkout again; the interval grows with the length of the pause. */
export function nextProbe(pausedAt: Date, now: Date): Date {
  const wait = Math.min(Math.max((now.getTime() - pausedAt.getTime()) / 4, 30_000), 3_600_000)
  return new Date(now.getTime() + wait)
}

/** A sale as the checkout's payment. */
export function paymentOf(sale: Sale): Payment {
  const { amount, refunded, network, recipient, payer, simulated, txHash, reason, createdAt } = sale
  if (sale.userId === null) throw new Error('the sale of a checkout has no owner')
  const state = STATES[sale.state]
  return {
    id: sale.id as Payment['id'],
    checkoutId: sale.subject as Payment['checkoutId'],
    owner: { userId: sale.userId, environment: sale.environment },
    state,
    amount,
    lines: linesOf(sale),
    refunded,
    network,
    recipient,
    payer,
    simulated,
    txHash,
    reason,
    capture: captureOf(sale),
    method: sale.method,
    escrow: sale.escrow,
    deadline: sale.state === 'held' ? sale.leaseUntil : null,
    result: sale.result,
    right: rightOf(sale),
    plan: planIn(sale),
    pass: null,
    progress: [],
    requests: [],
    refunds: [],
    orderAddress: null,
    createdAt,
    input: sale.details['input'] as Payment['input'],
    paidAt: state === 'paid' ? sale.endedAt : null,
  }
}

const STATES = {
  claimed: 'created',
  released: 'created',
  held: 'created',
  settling: 'settling',
  paid: 'paid',
  failed: 'failed',
  refunded: 'paid',
} as const satisfies Record<Sale['state'], PaymentState>

/**
 * The body for the workflow: the specified output data, and in `metadata` the payment and its receipt. For a held payment
 * it has no transaction yet, and says until when the workflow's outcome must be known.
 */
export function deliveryOf(
  payment: Payment,
  checkout: Checkout,
  { paidAt, receiptUrl, failsFirst = false, chat = null }: DeliveryContext,
): NewDelivery {
  const { deadline } = payment
  const answers = checkout.responseMode === 'lastNode'
  const waitMs = deadline === null ? ANSWER_MS : Math.min(ANSWER_MS, deadline.getTime() - paidAt.getTime())
  const headers = {
    ...(payment.simulated ? { ...SIMULATED, ...(failsFirst ? FAILS_FIRST : {}) } : {}),
    ...(deadline === null ? {} : HELD),
    ...(onErrorOf(checkout) === 'fail' ? FAILS_ON_ERROR : {}),
  }
  const body = {
    payment: {
      txHash: payment.txHash,
      amount: toWire(payment.amount),
      currency: 'USDC',
      payer: payment.payer,
      network: payment.network,
      timestamp: Math.floor(paidAt.getTime() / 1000),
    },
    input: payment.input,
    metadata: {
      checkoutId: payment.checkoutId,
      receivedAt: paidAt.toISOString(),
      paymentId: payment.id,
      test: payment.simulated,
      receiptUrl,
      // A node that was installed before there were other prices refuses a member that it does not know.
      ...(checkout.pricing.kind === 'fixed' && isPlain(payment.lines)
        ? {}
        : { lines: linesWith(payment.lines, toWire) }),
      ...(deadline === null ? {} : { capture: payment.capture, deadline: deadline.toISOString() }),
      ...(payment.right === null ? {} : { free: payment.right.kind }),
      ...(payment.plan === null ? {} : { plan: payment.plan.id }),
      ...(chat === null ? {} : { chat }),
    },
  }
  return {
    id: deriveId('dlv', payment.id),
    owner: payment.owner,
    subject: payment.id,
    to: { target: payment.checkoutId },
    body: JSON.stringify(body),
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    ...(answers ? { waitMs, keepBytes: 65_536 } : {}),
    // A second run of a held payment could end after it was given up.
    onUnconfirmed: deadline === null ? checkout.onUnconfirmed : 'hold',
  }
}

interface DeliveryContext {
  paidAt: Date
  receiptUrl: string
  failsFirst?: boolean
  /** What was said before, where it is a turn of a chat. */
  chat?: ChatContext | null
}

/**
 * A workflow of n8n that is switched off or overloaded answers like one that has failed, and claims an order before it works
 * on it. Any other receiver whose answer is waited for means what it says.
 */
export function onErrorOf({
  onError,
  responseMode,
  source,
}: Pick<Checkout, 'onError' | 'responseMode' | 'source'>): OnError {
  return onError ?? (responseMode === 'lastNode' && source === null ? 'fail' : 'retry')
}

/** A workflow whose answer the payer sees has this long for it. */
const ANSWER_MS = 180_000
/** From the payment to the answer, with the time until the workflow is called. */
export const ANSWERED_MS = ANSWER_MS + 20_000

/** Marks the deliveries of held payments: the end of one decides whether it is charged. */
export const HELD = { 'coinslot-capture': 'onSuccess' } as const

/** Marks the deliveries of simulated payments. */
export const SIMULATED = { 'coinslot-test': 'true' } as const

/** No further change comes without a request. */
export function isAtRest({ payment, delivery }: Rests): boolean {
  return (
    payment.status === 'failed' || (payment.status === 'paid' && (delivery === null || RESTING.has(delivery.status)))
  )
}

/** The part of a payment's view that says whether it changes. */
export interface Rests {
  payment: Pick<PaymentView['payment'], 'status'>
  delivery: Pick<NonNullable<PaymentView['delivery']>, 'status'> | null
}

const RESTING: ReadonlySet<string> = new Set<DeliveryState>(['delivered', 'unconfirmed', 'stopped', 'exhausted'])

/** A buyer who follows a payment wants quick updates; after a while a slower pace is enough. */
export function pauseBetweenLooks(ageMs: number): number {
  if (ageMs < 20_000) return 200
  return ageMs < 120_000 ? 1_000 : 3_000
}

/** Where the customer continues, with the ids of the checkout and the payment. */
export function redirectOf(checkout: Pick<Checkout, 'redirectUrl'>, payment: Payment): string | null {
  if (checkout.redirectUrl === null || payment.state !== 'paid') return null
  const url = new URL(checkout.redirectUrl)
  url.searchParams.set('checkout_id', payment.checkoutId)
  url.searchParams.set('payment_id', payment.id)
  return url.href
}

/** The progress with one more line. Throws where a workflow writes too many. */
export function withLine({ lines, written }: Progress, line: ProgressLine): Progress {
  if (written >= LINES_MAX) throw progressTooLong(LINES_MAX)
  const since = Date.parse(line.at) - 1_000
  if (lines.filter(({ at }) => Date.parse(at) > since).length >= A_SECOND_MAX) throw progressTooFast(A_SECOND_MAX)
  return { lines: [...lines, line].slice(-SHOWN_MAX), written: written + 1 }
}

/** Whether the workflow of this payment works, as far as anyone knows. Its progress is shown so long. */
export function isWorking({ result }: Pick<Payment, 'result'>, view: Rests): boolean {
  return result === null && view.delivery !== null && !isAtRest(view)
}

export const NO_PROGRESS: Progress = { lines: [], written: 0 }
/** How many of them are stored and shown. */
const SHOWN_MAX = 20
const LINES_MAX = 500
const A_SECOND_MAX = 5
