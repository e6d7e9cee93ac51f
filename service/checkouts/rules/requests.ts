import { invalid } from '../../kit/errors.ts'
import { deriveId, type Id } from '../../kit/ids.ts'
import { toWire, type Usdc } from '../../kit/money.ts'
import type { AnsweredDelivery, NewDelivery } from '../../deliveries/model.ts'
import { isGoingBack, type Sale } from '../../sales/model.ts'
import { answerAwaited, requestsFull, requestTooShort, requestUnasked, tooManyRequests } from '../errors.ts'
import type { Checkout, Payment, PaymentRequest, RequestStatus, Terms } from '../model.ts'
import type { RequestView } from '../views.ts'
import { newCheckout } from './lifecycle.ts'
import type { PricedChoice } from './quote.ts'

/** What a seller asks a buyer for, beyond what was paid. */
export interface Wanted {
  amount: Usdc
  note: string
  expiresInSeconds: number
  callbackUrl: string | null
  /** The work stops until the request has ended. */
  waits: boolean
}

/** The current status: an open request ends by time, whether or not that has been stored yet. */
export function requestStatus({ endedAs, saleId, expiresAt }: StatusColumns, now: Date): RequestStatus {
  if (endedAs !== null) return endedAs
  if (saleId !== null) return 'paying'
  return expiresAt <= now ? 'expired' : 'open'
}

type StatusColumns = Pick<PaymentRequest, 'endedAs' | 'saleId' | 'expiresAt'>

/** A buyer is asked for more only within an order that has begun and was not given up or returned. */
export function assertAskable(order: Order): void {
  const { state } = order
  const hasBegun = state === 'held' || state === 'settling' || state === 'paid'
  if (!hasBegun || isOrderOver(order)) throw requestUnasked()
}

/**
 * A workflow that waits gives its receiver's answer before its work has ended, and such an answer counts as the end of the work
 * where the buyer is shown it.
 */
export function assertMayWait(
  { responseMode }: Pick<Checkout, 'responseMode'>,
  delivery: Pick<AnsweredDelivery, 'state'> | undefined,
): void {
  if (responseMode === 'lastNode' && (delivery?.state === 'pending' || delivery?.state === 'claimed'))
    throw answerAwaited()
}

/** Nothing more is paid within an order that has failed, was given up or goes back as a whole. */
function isOrderOver({ state, result, amount, refunded }: Order | EndedOrder): boolean {
  return state === 'failed' || state === 'refunded' || result?.status === 'failed' || isGoingBack({ amount, refunded })
}

type Order = Pick<Sale, 'state' | 'result' | 'amount' | 'refunded'>
type EndedOrder = Pick<Payment, 'state' | 'result' | 'amount' | 'refunded'>

/** The requests as they are now. Once their order is over, those that nobody has paid have expired. */
export function requestsWithin(
  order: Order | EndedOrder,
  requests: readonly PaymentRequest[],
): readonly PaymentRequest[] {
  if (!isOrderOver(order)) return requests
  return requests.map((one) => (one.endedAs === null && one.saleId === null ? { ...one, endedAs: 'expired' } : one))
}

/** Throws where the buyer of one payment is asked too often. */
export function assertRequestRoom(before: readonly PaymentRequest[], now: Date): void {
  if (before.length >= REQUESTS_MAX) throw requestsFull(REQUESTS_MAX)
  const open = before.filter((one) => ['open', 'paying'].includes(requestStatus(one, now)))
  if (open.length >= OPEN_MAX) throw tooManyRequests(OPEN_MAX)
}

const OPEN_MAX = 3
const REQUESTS_MAX = 20

/** The request of this operation, and the checkout at which it is paid: on the same network, to the same recipient. */
export function newRequest(
  { sale, checkout }: { sale: Sale; checkout: Checkout },
  { amount, note, expiresInSeconds, callbackUrl }: Omit<Wanted, 'waits'>,
  operation: Id<'op'>,
  now: Date,
): { request: PaymentRequest; place: Checkout } {
  const expiresAt = new Date(now.getTime() + expiresInSeconds * 1_000)
  const { owner } = checkout
  const terms: Terms = {
    ...ONCE,
    // What was ordered, and what the further amount is for.
    product: { name: checkout.product.name, description: note },
    after: { kind: 'text', text: note },
    price: amount,
    network: sale.network,
    recipient: sale.recipient,
    testMode: sale.simulated,
    notify: checkout.notify,
  }
  const place = { ...newCheckout(deriveId('chk', operation), owner, terms, now), leasedUntil: expiresAt }
  const ends = { saleId: null, endedAs: null, endedAt: null } as const
  const about = { paymentId: sale.id, checkoutId: place.id, owner, amount, note, callbackUrl }
  return { request: { id: deriveId('prq', operation), ...about, ...ends, expiresAt, createdAt: now }, place }
}

/** The terms that every further amount has. */
const ONCE = {
  callbackUrl: null,
  picture: null,
  pricing: { kind: 'fixed' },
  coupons: false,
  fields: [],
  redirectUrl: null,
  lifetime: 'temporary',
  responseMode: 'immediately',
  preflight: false,
  onUnconfirmed: 'hold',
  onError: null,
  capture: 'onPayment',
  runSeconds: 180,
  refundOnFailure: false,
  embedOrigins: [],
  trialRuns: 0,
  trialsPerDay: 50,
  plans: [],
  chat: null,
  source: null,
} as const satisfies Partial<Terms>

/** Only such a checkout can be one of a request. What is sold at any other one looks for none. */
export function mayBeRequested({ lifetime, source, after }: Pick<Terms, 'lifetime' | 'source' | 'after'>): boolean {
  return lifetime === 'temporary' && source === null && after.kind === 'text'
}

/**
 * When an order by transfer ends by itself: with its code, or with the request that it pays. Null where neither ends. The
 * buyer pays the network for a transfer, so an order that ends before the earliest time is refused.
 */
export function transferEnd(
  checkout: Pick<Checkout, 'lifetime' | 'source' | 'after' | 'leasedUntil'>,
  { until: codeEnds }: Pick<PricedChoice, 'until'>,
  earliest: Date,
): Date | null {
  if (codeEnds !== null && codeEnds < earliest) {
    throw invalid({
      'choice.coupon': 'ends within the hour, before a transfer may arrive: pay with a wallet, or without the code',
    })
  }
  // The lease of any other temporary checkout is renewed.
  const requestEnds = mayBeRequested(checkout) ? checkout.leasedUntil : null
  if (requestEnds !== null && requestEnds < earliest) throw requestTooShort()
  if (codeEnds === null || requestEnds === null) return codeEnds ?? requestEnds
  return codeEnds < requestEnds ? codeEnds : requestEnds
}

/** As the buyer and the owner see it. */
export function requestView(request: PaymentRequest, url: string, now: Date): RequestView {
  const { id, amount, note, saleId, expiresAt } = request
  return {
    id,
    status: requestStatus(request, now),
    amount: toWire(amount),
    currency: 'USDC',
    note,
    url,
    paymentId: saleId,
    expiresAt: expiresAt.toISOString(),
  }
}

/** The step of a workflow that asked: the parameter `step` of the address that it gave. Null where it named none. */
export function stepOf({ callbackUrl }: Pick<PaymentRequest, 'callbackUrl'>): string | null {
  const step = callbackUrl === null ? '' : (new URL(callbackUrl).searchParams.get('step') ?? '')
  return step === '' ? null : step.slice(0, STEP_MAX)
}

const STEP_MAX = 100

/** What the seller's address is sent at the end of a request. Null where none was given. */
export function requestDelivery({ id, owner, callbackUrl, ...request }: PaymentRequest): NewDelivery | null {
  if (callbackUrl === null) return null
  const { amount, note, paymentId, saleId, endedAs, endedAt } = request
  const body = {
    request: {
      id,
      status: endedAs,
      amount: toWire(amount),
      currency: 'USDC',
      note,
      paymentId,
      furtherPaymentId: saleId,
      endedAt: endedAt?.toISOString() ?? null,
    },
  }
  return { id: deriveId('dlv', id), owner, subject: id, to: { url: callbackUrl }, body: JSON.stringify(body) }
}
