import type { Coupon } from '../../coupons/model.ts'
import { assertUsable, type CouponUses } from '../../coupons/service.ts'
import { invalid } from '../../kit/errors.ts'
import { readInput } from '../../kit/fields.ts'
import { deriveId, isId } from '../../kit/ids.ts'
import type { Statements } from '../../kit/transaction.ts'
import { authorizationUsed } from '../../sales/errors.ts'
import { isFree, isReal, type ReceiptTo, type Sale, type SaleHooks } from '../../sales/model.ts'
import type { PurchaseRequest, Product } from '../../sales/service/deps.ts'
import { badProof, escrowUnavailable, inTestMode, quoteExpired, requestClosed, workflowUnavailable } from '../errors.ts'
import type { SimulatedOutcome } from '../../methods/simulated/outcome.ts'
import type { Claim, Plan } from '../../passes/model.ts'
import type { PassHooks } from '../../passes/service/rights.ts'
import { isLate, type Checkout, type Choice, type Lines, type Payment, type Quote } from '../model.ts'
import { holdOf, isCapturedLate } from '../rules/capture.ts'
import { purchaseHash } from '../rules/choice.ts'
import { assertSells, deliveryOf, isSensible, paymentOf } from '../rules/lifecycle.ts'
import { callsWorkflow } from '../rules/after.ts'
import { assertOrderOpen } from '../rules/order.ts'
import { assertCosts, assertFree, assertListed, planOf, priceOf, toStoredLines } from '../rules/price.ts'
import { assertQuoted, fromQuoteId, linesAt, quoteOf, workMsOf } from '../rules/quote.ts'
import { emailIn, ledgerHoldOf, planDetails, planIn } from '../rules/plans.ts'
import { mayBeRequested, requestDelivery } from '../rules/requests.ts'
import { createChatHooks } from './chat.ts'
import { versionOf } from '../rules/versions.ts'
import { requirementsOfOffer } from '../../sales/service/door.ts'
import { acceptedDeadline, captureDeadlineOf } from '../../x402/escrow.ts'
import type { Presented } from '../../x402/model.ts'
import type { FilePort, ReceiptPort } from '../ports.ts'
import type { PaymentEvents } from './payment-events.ts'
import type { CheckoutDeps } from './deps.ts'
import { failedWorkOf } from './capture.ts'
import { noticeOf } from './notices.ts'
import type { Showing } from './presenter.ts'
import type { Patience } from './purchases.ts'
import { assertUploaded, takesFiles, sellUploaded } from './uploads.ts'
import type { Watching } from './watch.ts'

export type FormInput = Readonly<Record<string, unknown>>

/** What a buyer wants. */
export interface Chosen {
  input: FormInput
  choice: Choice
  /** Who names the code of a coupon, to bound guesses. Null where the code is known to be right. */
  from: string | null
}

/** The coupon with the code that was chosen; null where there is none. */
export interface WithCoupon {
  coupon: Coupon | null
}

/** The buyer's wish and quote, with the field names of the request. */
export interface Order extends Chosen, WithCoupon {
  /** The name of a field in the request: `input.site`, or just `site`. */
  named: (field: string) => string
  /** The quoted price; the current one when null. */
  quoteId: string | null
  /** No new payment begins after it. Absent where nothing limits the time. */
  until?: Date
  /** Where the receipt is mailed to. Absent where the buyer entered no address. */
  receipt?: ReceiptTo | undefined
  /** Bought on the payment page, whose openings are counted. */
  onPage?: boolean
  /** Paid from the address that was given out for this order, with its quote. */
  byTransfer?: boolean
}

/** A payment, and the input it is for. */
export interface Purchase extends Omit<Order, keyof WithCoupon> {
  /** Null to simulate. */
  presented: Presented | null
  /** The outcome of a simulated payment; `paid` when absent. */
  outcome?: SimulatedOutcome
  /** The token of the payment, or a token that the buyer chooses for a new one. */
  token: string | null
  /** An existing payment: its id, or the nonce of its authorization. */
  paymentId: string | null
  /** A right to a run, in place of a payment. */
  claim?: Claim | undefined
  /** What a code makes free is taken. */
  free?: boolean
  /** A signed order, whose input and operation replace those of the request. */
  signedOrder?: string
  /** Waits for the workflow's answer, if payers see it: an agent sends one request and does not poll. */
  waits?: Patience
}

export interface CheckoutAsk extends PurchaseRequest {
  checkout: Checkout
  order: Order
}

/** A checkout delivers nothing itself: its payment starts the delivery to the workflow. */
export function createCheckoutProduct(deps: ProductDeps) {
  const { clock, quoteKey, showing, watching, events, callbacks, files } = deps

  /** What is bought for which price, in test mode as with money: the quoted price, or else the current one. */
  function dealFor(checkout: Checkout, order: Order): Deal {
    const input = valuesOf(checkout, order)
    const { quoteId, until, choice } = order
    const now = clock.now()
    if (until !== undefined) assertOrderOpen({ until }, now)
    const coupon = couponFor(checkout, order, now)
    const plan = planOf(checkout, choice.plan)
    if (plan !== null) assertListed(checkout, input, order.named)
    if (quoteId === null) {
      const lines = priceOf(checkout, input, choice, coupon)
      const priced = { lines, plan: plan?.id ?? null, until: coupon?.until ?? null }
      return { input, plan, coupon, lines, quote: quoteOf(checkout, priced, now) }
    }
    const quote = fromQuoteId(checkout.id, quoteId, quoteKey, now)
    return { input, plan, coupon, lines: linesAt(quote, checkout, { input, choice, coupon }), quote }
  }

  /**
   * Checks that what was uploaded is there, and that the workflow responds, if the owner wants that: no money is taken
   * for nothing.
   */
  async function preflight(checkout: Checkout, order: Order): Promise<void> {
    // Only here the input is read before the claim reads it.
    if (takesFiles(checkout)) {
      await assertUploaded(files.customers, checkout, valuesOf(checkout, order), order.named)
    }
    if (!checkout.preflight || checkout.callbackUrl === null) return
    const answer = await callbacks.ask(checkout.callbackUrl, checkout.id)
    const isFine = answer !== null && isSensible(answer.status, answer.body)
    await watching.checked(checkout.id, { status: answer?.status ?? null, isSensible: isFine })
    if (!isFine) throw workflowUnavailable()
  }

  /** What a code makes free, with the lines that say so. */
  function givenAway(checkout: Checkout, order: Order): Sale['details'] {
    const deal = dealFor(checkout, order)
    assertQuoted(deal.quote, checkout, false)
    assertFree(deal.lines, order.choice, deal.coupon)
    return detailsOf(deal, checkout, order)
  }

  /** What is sold for money now. */
  function soldFor(checkout: Checkout, order: Order) {
    assertSells(checkout, clock.now())
    if (checkout.testMode) throw inTestMode(showing.addressOf(checkout))
    assertReachable(checkout)
    const deal = dealFor(checkout, order)
    const { quote } = deal
    assertCosts(deal.lines)
    assertQuoted(quote, checkout, order.byTransfer === true)
    const { price: amount, network, recipient } = quote
    // The quote was made in test mode without a recipient, so it cannot be paid.
    if (recipient === null) throw quoteExpired()
    const about = { subject: checkout.id, ...checkout.owner, inputHash: hashOf(order) }
    return { quote, sold: { ...about, details: detailsOf(deal, checkout, order), amount, network, recipient } }
  }

  const product: Product<CheckoutAsk, never> = {
    name: 'checkout',
    idOf: (operation) => deriveId('pay', operation),
    isId: (id) => isId('pay', id),

    terms({ checkout, order, presented }) {
      const now = clock.now()
      const { quote, sold } = soldFor(checkout, order)
      const mostMs = workMsOf(checkout)
      // The deadline that the payer signed. With another one than was offered, the signature does not fit.
      const deadline = acceptedDeadline(presented, mostMs, now) ?? captureDeadlineOf(mostMs, now)
      const offer = showing.offerAt(checkout, quote, deadline)
      if (offer === null) throw escrowUnavailable()
      const listed = String(priceOf(checkout, {}, {}, null).total)
      const terms = { ...sold, requirements: { ...requirementsOfOffer(offer), listed }, note: null }
      if (offer.escrow !== undefined) {
        const captureBy = new Date(offer.escrow.captureDeadline * 1_000).toISOString()
        return { ...terms, workMs: 0, escrow: { captureBy, workMs: mostMs } }
      }
      const { workMs = 0 } = offer
      return { ...terms, workMs, holds: workMs > 0 }
    },

    accountTerms({ checkout, order }) {
      const { sold } = soldFor(checkout, order)
      const details = { ...sold.details, ...ledgerHoldOf(checkout) }
      return { ...sold, details, resource: showing.addressOf(checkout), ...workOf(checkout) }
    },

    freeTerms({ checkout, order }, { kind, id }) {
      assertSells(checkout, clock.now())
      assertReachable(checkout)
      const { network, recipient } = checkout
      const bought = kind === 'coupon' ? givenAway(checkout, order) : ranFor(checkout, order)
      const details = { ...bought, right: { kind, id }, ...ledgerHoldOf(checkout) }
      const about = { subject: checkout.id, ...checkout.owner, inputHash: hashOf(order), details }
      return { ...about, network, recipient, resource: showing.addressOf(checkout), ...workOf(checkout) }
    },

    isHere: (sale, { checkout }) => sale.subject === checkout.id,
    assertSame(sale, { checkout, order }) {
      if (sale.subject !== checkout.id || !sale.inputHash.equals(hashOf(order))) throw authorizationUsed()
    },
    badProof,

    async enter({ checkout, order }) {
      await preflight(checkout, order)
      return () => undefined
    },
    refused: ({ checkout, presented }, terms, refusal) => events.refused(checkout, { ...refusal, presented, terms }),
    delivery: null,
  }
  return { product, preflight, dealFor }
}

interface ProductDeps extends Pick<CheckoutDeps, 'clock' | 'quoteKey' | 'callbacks' | 'files'> {
  showing: Pick<Showing, 'offerAt' | 'addressOf'>
  watching: Pick<Watching, 'checked'>
  events: Pick<PaymentEvents, 'refused'>
}

/** A buyer of an earlier version was promised a workflow that was taken away since. */
export function assertReachable(checkout: Checkout): void {
  if (callsWorkflow(checkout) && checkout.callbackUrl === null) throw quoteExpired()
}

/** What is bought: the input with its defaults, and how its price came about. */
export interface Deal extends WithCoupon {
  input: Payment['input']
  plan: Plan | null
  lines: Lines
  quote: Quote
}

/** Whether its work decides that it is charged, and how long that may take. */
function workOf(checkout: Checkout) {
  const holds = isLate(checkout.capture)
  return { workMs: holds ? workMsOf(checkout) : 0, holds }
}

export function hashOf({ input, choice }: Pick<Chosen, 'input' | 'choice'>): Buffer {
  return purchaseHash(input, choice)
}

/** What a sale stores about its purchase. */
export function detailsOf(
  { input, plan, lines, coupon }: Deal,
  checkout: Checkout,
  order: Pick<Order, 'receipt' | 'onPage'>,
): Sale['details'] {
  const used = coupon === null ? {} : { coupon: coupon.id }
  const requested = mayBeRequested(checkout) ? { request: true } : {}
  const bought = { input, version: checkout.version, lines: toStoredLines(lines), ...requested }
  return { ...bought, ...used, ...planDetails(plan), ...holdOf(checkout), ...toldDetails(checkout, order) }
}

/** A run as it is listed, for which nothing is charged. */
function ranFor(checkout: Checkout, order: Order): Sale['details'] {
  const input = valuesOf(checkout, order)
  assertListed(checkout, input, order.named)
  return { input, version: checkout.version, ...toldDetails(checkout, order) }
}

/** Who is mailed about it, and whether it was bought on the page. It is no part of what names the request: otherwise it is the same purchase. */
function toldDetails({ notify }: Checkout, order: Pick<Order, 'receipt' | 'onPage'>): Sale['details'] {
  const { receipt, onPage = false } = order
  const told = { ...(receipt === undefined ? {} : { receipt }), ...(notify.sale ? { notify: true } : {}) }
  return onPage ? { ...told, onPage } : told
}

/** The coupon that a purchase uses now; null where none was chosen. */
export function couponFor(
  { id, coupons, testMode, owner, network }: Checkout,
  { choice, coupon }: Pick<Order, 'choice' | 'coupon'>,
  now: Date,
): Coupon | null {
  if (!coupons || choice.coupon === undefined) return null
  return assertUsable(coupon, { checkoutId: id, test: isTest({ ...owner, network, simulated: testMode }), now })
}

/** Whether a use of a code is counted apart from those that are worth something. */
function isTest(sale: Parameters<typeof isReal>[0]): boolean {
  return sale.simulated || !isReal(sale)
}

export function valuesOf({ fields }: Checkout, { input, named }: Pick<Order, 'input' | 'named'>): Payment['input'] {
  const read = readInput(fields, input)
  if ('values' in read) return read.values
  throw invalid(Object.fromEntries(Object.entries(read.faults).map(([field, fault]) => [named(field), fault])))
}

/** What a payment writes in addition to the sale: the delivery to the workflow, or the event of its failure. */
export function checkoutHooks({
  store,
  coupons,
  deliveries,
  files,
  events,
  receiptOf,
  clock,
  passes,
  receipts,
  announce,
}: HookDeps): SaleHooks {
  const chats = createChatHooks({ store, passes })
  return {
    async claimed(inside, sale) {
      const checkout = await store.holdOpen(inside, sale.subject, versionOf(sale), sale.createdAt)
      if (checkout === null) throw new Unsold()
      const { after } = checkout
      if (isRequested(sale)) {
        const claim = { checkout: checkout.id, sale: sale.id, now: sale.createdAt }
        const claimed = await store.claimRequest(inside, claim)
        if (claimed === 'taken' || claimed === 'over') throw requestClosed(claimed === 'taken' ? 'paying' : 'expired')
      }
      // A buyer of an earlier version was promised a file that was deleted since.
      if (after.kind === 'file' && !(await files.sold(inside, after.fileId, sale.subject))) throw quoteExpired()
      await sellUploaded(inside, files.customers, { checkout, sale })
      if (isFree(sale)) {
        await passes.take(inside, sale, checkout)
        await chats.begin(inside, sale, checkout)
      }
      const { id: saleId, payer, createdAt: at, details } = sale
      const { coupon: couponId } = details
      const use = { saleId, payer, test: isTest(sale), at }
      if (typeof couponId === 'string') await coupons.claim(inside, { couponId, ...use })
    },

    freed: (inside, sale) => files.customers.free(inside, sale.id),

    held: deliver,

    /** A workflow that has not started must not start any more. */
    givenUp: stop,

    async paid(inside, sale) {
      const plan = planIn(sale)
      // Before the delivery, which names the chat that the plan's pass pays for.
      if (plan !== null) await grant(inside, sale, plan)
      // What is charged after the success was delivered before.
      if (!isCapturedLate(sale)) await deliver(inside, sale)
      await events.completed(inside, paymentOf(sale))
      await receipts.paid(inside, sale)
      if (isRequested(sale)) await payRequest(inside, sale)
      if (sale.details['notify'] === true) await announce(inside, [noticeOf(sale, 'sale')])
    },

    /** In the report's transaction, so that the refund is asked for even if this process ends now. */
    workFailed: (inside, sale) => announce(inside, [failedWorkOf(sale)]),

    async returned(inside, sale) {
      await passes.giveBack(inside, sale)
      if (isFree(sale) && typeof sale.details['coupon'] === 'string') await coupons.release(inside, sale.id)
      await passes.refunded(inside, sale)
    },

    async failed(inside, sale) {
      if (typeof sale.details['coupon'] === 'string') await coupons.release(inside, sale.id)
      if (isCapturedLate(sale)) {
        await stop(inside, sale)
        await announce(inside, [noticeOf(sale, 'failure')])
      }
      if (isFree(sale)) await passes.giveBack(inside, sale)
      if (isRequested(sale)) await store.releaseRequest(inside, sale.id)
      await events.failed(inside, paymentOf(sale))
    },
  }

  async function grant(inside: Statements, sale: Sale, plan: Plan): Promise<void> {
    const checkout = await checkoutOf(inside, sale)
    const pass = await passes.grant(inside, sale, { plan, email: emailIn(checkout, paymentOf(sale).input) })
    await chats.bought(inside, sale, { checkout, pass })
  }

  async function stop(inside: Statements, sale: Sale): Promise<void> {
    await deliveries.stop(inside, deriveId('dlv', paymentOf(sale).id), 'payment_failed')
  }

  /** The seller hears of it in the transaction of the payment. */
  async function payRequest(inside: Statements, sale: Sale): Promise<void> {
    const ended = await store.payRequest(inside, sale.id, sale.endedAt ?? clock.now())
    const delivery = ended === null ? null : requestDelivery(ended)
    if (delivery !== null) await deliveries.write(inside, delivery)
  }

  async function deliver(inside: Statements, sale: Sale): Promise<void> {
    const checkout = await checkoutOf(inside, sale)
    if (!callsWorkflow(checkout)) return
    const failsFirst = sale.details['outcome'] === ('delivery_failed' satisfies SimulatedOutcome)
    const about = { paidAt: sale.endedAt ?? sale.createdAt, receiptUrl: receiptOf(sale.id), failsFirst }
    const chat = await chats.contextOf(inside, sale, checkout)
    await deliveries.write(inside, deliveryOf(paymentOf(sale), checkout, { ...about, chat }))
  }

  async function checkoutOf(inside: Statements, sale: Sale): Promise<Checkout> {
    const checkout = await store.findInside(inside, sale.subject, versionOf(sale))
    if (checkout === null) throw new Error('the checkout of a sale was not found')
    return checkout
  }
}

/** Whether it may be the payment of a request. */
function isRequested({ details }: Pick<Sale, 'details'>): boolean {
  return details['request'] === true
}

interface HookDeps extends Pick<CheckoutDeps, 'announce' | 'store' | 'deliveries' | 'receiptOf' | 'clock'> {
  files: Pick<FilePort, 'sold' | 'customers'>
  coupons: CouponUses
  events: Pick<PaymentEvents, 'completed' | 'failed'>
  passes: PassHooks
  receipts: ReceiptPort
}

/** The checkout stopped selling. Thrown inside the claim, so that the authorization is not kept. */
export class Unsold extends Error {}
