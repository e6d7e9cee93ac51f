import { NETWORKS } from '../../chain/networks.ts'
import { FAILS_FIRST, type DeliveryState, type NewDelivery } from '../../deliveries/model.ts'
import { invalid } from '../../kit/errors.ts'
import { deriveId } from '../../kit/ids.ts'
import { toWire } from '../../kit/money.ts'
import type { Environment } from '../../kit/owner.ts'
import { simulatedHash, type Sale } from '../../sales/model.ts'
import type { Reason } from '../../x402/reasons.ts'
import { checkoutMissing, workflowUnavailable } from '../errors.ts'
import {
  ZERO_ADDRESS,
  type Checkout,
  type Payment,
  type PaymentState,
  type PaymentView,
  type SimulatedOutcome,
  type Status,
  type Terms,
} from '../model.ts'

/** What it is now: a temporary one ends by itself, whoever comes to write it down. */
export function statusOf(checkout: Pick<Checkout, 'state' | 'leasedUntil'>, now: Date): Status {
  if (checkout.leasedUntil !== null && checkout.leasedUntil <= now) return 'expired'
  return checkout.state
}

/** Nothing is sold by one that has expired or whose workflow is gone. */
export function assertSells(checkout: Checkout | null, now: Date): asserts checkout is Checkout {
  const status = checkout === null ? 'expired' : statusOf(checkout, now)
  if (status === 'expired') throw checkoutMissing()
  if (status === 'paused') throw workflowUnavailable()
}

/** What has expired is not shown either; what is paused is, as not available. */
export function assertShown(checkout: Checkout | null, now: Date): Checkout {
  if (checkout === null || statusOf(checkout, now) === 'expired') throw checkoutMissing()
  return checkout
}

/** What an owner may not want, beyond what a schema can say. */
export function assertTerms(terms: Terms, environment: Environment): void {
  const { network, testMode, recipient } = terms
  if (environment === 'sandbox' && NETWORKS[network].live && !testMode) {
    throw invalid({ network: 'must be base-sepolia, or testMode be on: with a sandbox key no real money moves' })
  }
  if (recipient === null && !testMode) {
    throw invalid({ recipient: 'is required: your wallet has no address to be paid at' })
  }
  if (recipient === ZERO_ADDRESS) throw invalid({ recipient: 'must not be the zero address' })
}

/**
 * Which of those that stand for the same place goes on: the one of the same lifetime, whatever became of it, else the
 * temporary one that an activation makes persistent while it lives. So a customer's link survives.
 */
export function successor(there: readonly Checkout[], terms: Terms, now: Date): Checkout | null {
  const same = there.find(({ lifetime }) => lifetime === terms.lifetime)
  if (same !== undefined) return same
  if (terms.lifetime === 'temporary') return null
  return there.find((checkout) => statusOf(checkout, now) !== 'expired') ?? null
}

/** In force from now on. A workflow that registers itself is there: a pause ends. */
export function renewed(checkout: Checkout, terms: Terms, now: Date): Checkout {
  return {
    ...checkout,
    ...terms,
    state: 'active',
    leasedUntil: terms.lifetime === 'temporary' ? leaseEnd(now) : null,
    pausedAt: null,
    expiredAt: null,
    updatedAt: now,
  }
}

export function leaseEnd(now: Date): Date {
  return new Date(now.getTime() + LEASE_MS)
}

const LEASE_MS = 180_000

/** How often in a row the workflow says that there is nothing before nothing is sold any more. */
export const MISSING_MAX = 3

/** Statuses by which a server says that the workflow is not there, rather than that something went wrong. */
export function isGone(status: number): boolean {
  return status === 404 || status === 410
}

/** What its owner's endpoints receive when it is paused. */
export function pauseOf(checkout: Pick<Checkout, 'id' | 'product' | 'callbackUrl' | 'source'>, now: Date) {
  const { id, product, callbackUrl, source } = checkout
  return { checkoutId: id, product: product.name, callbackUrl, source, pausedAt: now.toISOString() }
}

/** A workflow that is there says so in JSON; a proxy's or a login's page is no answer. */
export function isSensible(status: number, body: Buffer): boolean {
  if (status < 200 || status > 299) return false
  try {
    const said: unknown = JSON.parse(body.toString('utf8'))
    return typeof said === 'object' && said !== null
  } catch {
    return false
  }
}

/** Anything else than "nothing here" and "broken": also a workflow that refuses an empty body is there. */
export function isThere(status: number): boolean {
  return status < 500 && !isGone(status)
}

/** When a paused one is asked again, by how long it has been so. */
export function nextProbe(pausedAt: Date, now: Date): Date {
  const wait = Math.min(Math.max((now.getTime() - pausedAt.getTime()) / 4, 30_000), 3_600_000)
  return new Date(now.getTime() + wait)
}

/** A payment of test mode as its outcome begins. What fails does so for the reason that a chain would give. */
export function simulatedAs(
  outcome: SimulatedOutcome,
  id: string,
  now: Date,
): Pick<Sale, 'state' | 'reason' | 'txHash' | 'endedAt'> {
  switch (outcome) {
    case 'paid':
    case 'delivery_failed':
      return { state: 'paid', reason: null, txHash: simulatedHash(id), endedAt: now }
    case 'slow':
      return { state: 'claimed', reason: null, txHash: null, endedAt: null }
    case 'declined':
    case 'insufficient_funds':
      return { state: 'failed', reason: REFUSALS[outcome], txHash: null, endedAt: now }
  }
}

const REFUSALS = {
  declined: 'invalid_exact_evm_transaction_failed',
  insufficient_funds: 'invalid_exact_evm_insufficient_balance',
} as const satisfies Partial<Record<SimulatedOutcome, Reason>>

/** A sale as a checkout calls it. */
export function paymentOf(sale: Sale): Payment {
  const { amount, network, recipient, payer, simulated, txHash, reason, createdAt } = sale
  if (sale.userId === null) throw new Error('a checkout belongs to somebody')
  const state = STATES[sale.state]
  return {
    id: sale.id as Payment['id'],
    checkoutId: sale.subject as Payment['checkoutId'],
    owner: { userId: sale.userId, environment: sale.environment },
    state,
    amount,
    network,
    recipient,
    payer,
    simulated,
    txHash,
    reason,
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

/** What the workflow gets: the specification's output data, and in `metadata` what names the payment and its receipt. */
export function deliveryOf(
  payment: Payment,
  checkout: Checkout,
  { paidAt, receiptUrl, failsFirst = false }: { paidAt: Date; receiptUrl: string; failsFirst?: boolean },
): NewDelivery {
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
    },
  }
  return {
    id: deriveId('dlv', payment.id),
    owner: payment.owner,
    subject: payment.id,
    to: { target: payment.checkoutId },
    body: JSON.stringify(body),
    ...(payment.simulated ? { headers: { 'coinslot-test': 'true', ...(failsFirst ? FAILS_FIRST : {}) } } : {}),
    ...(checkout.responseMode === 'lastNode' ? { waitMs: 180_000, keepBytes: 65_536 } : {}),
    onUnconfirmed: checkout.onUnconfirmed,
  }
}

/** Nothing more comes by itself. */
export function isAtRest({ payment, delivery }: PaymentView): boolean {
  return payment.status === 'failed' || (payment.status === 'paid' && delivery !== null && RESTING.has(delivery.status))
}

const RESTING: ReadonlySet<string> = new Set<DeliveryState>(['delivered', 'unconfirmed', 'stopped', 'exhausted'])

/** Who follows a payment wants to see it move; after a while it is a matter of minutes. */
export function pauseBetweenLooks(ageMs: number): number {
  if (ageMs < 20_000) return 200
  return ageMs < 120_000 ? 1_000 : 3_000
}

/** Where the customer goes from here, with what it takes to find the payment. */
export function redirectOf(checkout: Pick<Checkout, 'redirectUrl'>, payment: Payment): string | null {
  if (checkout.redirectUrl === null || payment.state !== 'paid') return null
  const url = new URL(checkout.redirectUrl)
  url.searchParams.set('checkout_id', payment.checkoutId)
  url.searchParams.set('payment_id', payment.id)
  return url.href
}
