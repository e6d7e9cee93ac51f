import { invalid } from '../../kit/errors.ts'
import { readInput } from '../../kit/fields.ts'
import { canonicalHash } from '../../kit/hash.ts'
import { deriveId, isId } from '../../kit/ids.ts'
import type { Statements } from '../../kit/transaction.ts'
import { authorizationUsed } from '../../sales/errors.ts'
import type { Sale, SaleHooks } from '../../sales/model.ts'
import type { PurchaseRequest, Product } from '../../sales/service/deps.ts'
import {
  badProof,
  escrowUnavailable,
  inTestMode,
  payerDefaulted,
  quoteExpired,
  workflowUnavailable,
} from '../errors.ts'
import type { Checkout, Payment, Quote, SimulatedOutcome } from '../model.ts'
import { DEFAULTED_MS, holdOf, isCapturedLate, isDefault } from '../rules/capture.ts'
import { assertSells, deliveryOf, isSensible, paymentOf } from '../rules/lifecycle.ts'
import { assertOrderOpen } from '../rules/order.ts'
import { assertQuoted, fromQuoteId, quoteOf, workMsOf } from '../rules/quote.ts'
import { versionOf } from '../rules/versions.ts'
import { requirementsOfOffer } from '../../sales/service/door.ts'
import { acceptedDeadline, captureDeadlineOf } from '../../x402/escrow.ts'
import type { Presented } from '../../x402/model.ts'
import type { PaymentEvents } from './payment-events.ts'
import type { CheckoutDeps } from './deps.ts'
import type { Showing } from './presenter.ts'
import type { Patience } from './purchases.ts'
import type { Watching } from './watch.ts'

export type FormInput = Readonly<Record<string, unknown>>

/** The buyer's input and quote, with the field names of the request. */
export interface Order {
  input: FormInput
  /** The name of a field in the request: `input.site`, or just `site`. */
  named: (field: string) => string
  /** The quoted price; the current one when null. */
  quoteId: string | null
  /** No new payment begins after it. Absent where nothing limits the time. */
  until?: Date
}

/** A payment, and the input it is for. */
export interface Purchase extends Order {
  /** Null to simulate. */
  presented: Presented | null
  /** The outcome of a simulated payment; `paid` when absent. */
  outcome?: SimulatedOutcome
  /** The token of the payment, or a token that the buyer chooses for a new one. */
  token: string | null
  /** An existing payment: its id, or the nonce of its authorization. */
  paymentId: string | null
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
  const { store, clock, quoteKey, showing, watching, events, callbacks } = deps

  /** The quoted price, in test mode as with money; without a quote the current one. */
  function quoteFor(checkout: Checkout, { quoteId, until }: Order): Quote {
    const now = clock.now()
    if (until !== undefined) assertOrderOpen({ until }, now)
    return quoteId === null ? quoteOf(checkout, now) : fromQuoteId(checkout.id, quoteId, quoteKey, now)
  }

  /** Checks that the workflow responds, if the owner wants that: no money is taken for a dead one. */
  async function preflight(checkout: Checkout): Promise<void> {
    if (!checkout.preflight) return
    const answer = await callbacks.ask(checkout.callbackUrl)
    if (answer !== null && isSensible(answer.status, answer.body)) return
    await watching.attempted(checkout.id, { status: answer?.status ?? null })
    throw workflowUnavailable()
  }

  /** A seller who works before being paid does so for no wallet that left finished work unpaid. */
  async function assertTrusted({ network }: Checkout, presented: Presented | null): Promise<void> {
    const payer = presented?.authorization?.from
    if (payer === undefined) return
    const until = await store.defaultedUntil(payer, network, clock.now())
    if (until !== null) throw payerDefaulted(until)
  }

  const product: Product<CheckoutAsk, never> = {
    name: 'checkout',
    idOf: (operation) => deriveId('pay', operation),
    isId: (id) => isId('pay', id),

    terms({ checkout, order, presented }) {
      const now = clock.now()
      assertSells(checkout, now)
      if (checkout.testMode) throw inTestMode()
      const details = { input: valuesOf(checkout, order), version: checkout.version, ...holdOf(checkout) }
      const quote = quoteFor(checkout, order)
      assertQuoted(quote, checkout.owner.environment)
      const { price: amount, network, recipient } = quote
      const mostMs = workMsOf(checkout)
      // The deadline that the payer signed. With another one than was offered, the signature does not fit.
      const deadline = acceptedDeadline(presented, mostMs, now) ?? captureDeadlineOf(mostMs, now)
      const offer = showing.offerAt(checkout, quote, deadline)
      // The quote was made in test mode without a recipient, so it cannot be paid.
      if (recipient === null) throw quoteExpired()
      if (offer === null) throw escrowUnavailable()
      const about = { subject: checkout.id, ...checkout.owner, inputHash: canonicalHash(order.input), details }
      const requirements = requirementsOfOffer(offer)
      const terms = { ...about, amount, network, recipient, requirements, note: null }
      if (offer.escrow !== undefined) {
        const captureBy = new Date(offer.escrow.captureDeadline * 1_000).toISOString()
        return { ...terms, workMs: 0, escrow: { captureBy, workMs: mostMs } }
      }
      const { workMs = 0 } = offer
      return { ...terms, workMs, holds: workMs > 0 }
    },

    isHere: (sale, { checkout }) => sale.subject === checkout.id,
    assertSame(sale, { checkout, order }) {
      if (sale.subject !== checkout.id || !sale.inputHash.equals(canonicalHash(order.input))) throw authorizationUsed()
    },
    badProof,

    async enter({ checkout, presented }) {
      if (checkout.capture === 'onSuccess') await assertTrusted(checkout, presented)
      await preflight(checkout)
      return () => undefined
    },
    refused: ({ checkout, presented }, terms, refusal) => events.refused(checkout, { ...refusal, presented, terms }),
    delivery: null,
  }
  return { product, preflight, quoteFor }
}

interface ProductDeps extends Pick<CheckoutDeps, 'store' | 'clock' | 'quoteKey' | 'callbacks'> {
  showing: Pick<Showing, 'offerAt'>
  watching: Pick<Watching, 'attempted'>
  events: Pick<PaymentEvents, 'refused'>
}

export function valuesOf({ fields }: Checkout, { input, named }: Pick<Order, 'input' | 'named'>): Payment['input'] {
  const read = readInput(fields, input)
  if ('values' in read) return read.values
  throw invalid(Object.fromEntries(Object.entries(read.faults).map(([field, fault]) => [named(field), fault])))
}

/** What a payment writes in addition to the sale: the delivery to the workflow, or the event of its failure. */
export function checkoutHooks({ store, deliveries, events, receiptOf, clock }: HookDeps): SaleHooks {
  return {
    async claimed(inside, sale) {
      if (!(await store.holdOpen(inside, sale.subject, sale.createdAt))) throw new Unsold()
    },

    held: deliver,

    /** A workflow that has not started must not start any more. */
    givenUp: stop,

    async paid(inside, sale) {
      // What is charged after the success was delivered before.
      if (!isCapturedLate(sale)) await deliver(inside, sale)
      await events.completed(inside, paymentOf(sale))
    },

    async failed(inside, sale) {
      if (isDefault(sale)) {
        const { payer, network } = sale
        await store.addDefault(inside, { payer, network, until: new Date(clock.now().getTime() + DEFAULTED_MS) })
      }
      if (isCapturedLate(sale)) await stop(inside, sale)
      await events.failed(inside, paymentOf(sale))
    },
  }

  async function stop(inside: Statements, sale: Sale): Promise<void> {
    await deliveries.stop(inside, deriveId('dlv', paymentOf(sale).id), 'payment_failed')
  }

  async function deliver(inside: Statements, sale: Sale): Promise<void> {
    const checkout = await checkoutOf(inside, sale)
    const failsFirst = sale.details['outcome'] === ('delivery_failed' satisfies SimulatedOutcome)
    const about = { paidAt: sale.endedAt ?? sale.createdAt, receiptUrl: receiptOf(sale.id), failsFirst }
    await deliveries.write(inside, deliveryOf(paymentOf(sale), checkout, about))
  }

  async function checkoutOf(inside: Statements, sale: Sale): Promise<Checkout> {
    const checkout = await store.findInside(inside, sale.subject, versionOf(sale))
    if (checkout === null) throw new Error('the checkout of a sale was not found')
    return checkout
  }
}

interface HookDeps extends Pick<CheckoutDeps, 'store' | 'deliveries' | 'receiptOf' | 'clock'> {
  events: Pick<PaymentEvents, 'completed' | 'failed'>
}

/** The checkout stopped selling. Thrown inside the claim, so that the authorization is not kept. */
export class Unsold extends Error {}
