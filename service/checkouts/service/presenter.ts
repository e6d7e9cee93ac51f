import { renderSVG } from 'uqr'
import { ESCROW, NETWORKS, transactionUrl } from '../../chain/networks.ts'
import { captureDeadlineOf } from '../../x402/escrow.ts'
import type { Requirements } from '../../x402/model.ts'
import type { AnsweredDelivery } from '../../deliveries/model.ts'
import { proofOf, requirementsOfOffer } from '../../sales/service/door.ts'
import { toolNameOf } from '../../sales/model.ts'
import { sentenceOf } from '../../x402/reasons.ts'
import { deriveId } from '../../kit/ids.ts'
import { planWith, runsLeftOf, statusOf as passStatusOf, type Pass, type Plan } from '../../passes/model.ts'
import { toWire, ZERO } from '../../kit/money.ts'
import { escrowUnavailable, inTestMode } from '../errors.ts'
import { isLate, type Checkout, type Payment, type Quote } from '../model.ts'
import {
  RECLAIM,
  type CheckoutView,
  type EscrowView,
  type PassView,
  type PaymentView,
  type QuoteView,
  type Signable,
} from '../views.ts'
import type { Offer } from '../../sales/model.ts'
import { sentenceOfWork } from '../rules/capture.ts'
import { callsWorkflow, promiseOf, resultOf } from '../rules/after.ts'
import { isWorking, redirectOf, statusOf } from '../rules/lifecycle.ts'
import { linesWith, priceOf, withAmounts } from '../rules/price.ts'
import { requestsWithin, requestView } from '../rules/requests.ts'
import { offerOf, quoteOf, toQuoteId, workMsOf, type PricedChoice } from '../rules/quote.ts'
import type { FilePort } from '../ports.ts'
import type { CheckoutDeps } from './deps.ts'

export interface Showing {
  addressOf(checkout: Pick<Checkout, 'id'>): string
  checkout(checkout: Checkout): CheckoutView
  /** What a purchase costs, and what to sign for it. */
  quote(checkout: Checkout, priced: PricedChoice): QuoteView
  /** The caller passes the delivery, so that a list can load all deliveries at once. */
  payment(payment: Payment, checkout: Checkout, delivery: AnsweredDelivery | undefined, viewer: Viewer): PaymentView
  /** The price and terms at a quote. Null where they cannot be paid. */
  offerAt(checkout: Checkout, quote: Quote, captureDeadline: number): Offer | null
  /** The price and terms for an agent that has not paid yet. */
  offer(checkout: Checkout, priced: PricedChoice, plan?: Plan | null): Offer
  /** The payments with the passes that they have bought or used, the progress of their work, and further requests. */
  withDetails(payments: readonly Payment[]): Promise<Payment[]>
  /** A single payment with its delivery. */
  sale(sale: { payment: Payment; checkout: Checkout }, viewer: Viewer): Promise<PaymentView>
}

/** `anyone` knows the payment's id and sees its state, but not the answer, the redirect or the token. */
export type Viewer = 'buyer' | 'owner' | 'anyone'

/** Builds the payer's views. */
export function createShowing({
  deliveries,
  files,
  selling: { method, tokens, dialects },
  receiptOf,
  clock,
  quoteKey,
  addresses,
  passes,
  store,
  takesTransfers,
  orderAddresses,
}: CheckoutDeps): Showing {
  const addressOf = ({ id }: Pick<Checkout, 'id'>): string => `${addresses.pay}/${id}`
  const { passOf, withDetails } = createDetails({ passes, store, clock, orderAddresses })
  const { offer, offerAt } = createOffering({ method, clock, addressOf })

  const { checkout, quote } = createOfferShowing({
    method,
    clock,
    files,
    quoteKey,
    addressOf,
    offerAt,
    takesTransfers,
  })

  function payment(of: Payment, at: Checkout, delivery: AnsweredDelivery | undefined, viewer: Viewer): PaymentView {
    const token = viewer === 'buyer' ? tokens.of(of.id) : null
    const { state, txHash, network, payer, paidAt, createdAt } = of
    // Without proof of the purchase, a viewer gets nothing to prove it to others.
    const success = state === 'paid' && viewer !== 'anyone' && of.right === null
    const receipt = { success, txHash, network, payer, resource: addressOf(at), paidAt: paidAt ?? createdAt }
    return {
      payment: {
        id: of.id,
        checkoutId: of.checkoutId,
        status: of.state,
        txHash: of.txHash,
        amount: toWire(of.amount),
        lines: linesWith(of.lines, toWire),
        refunded: toWire(of.refunded),
        refunds: viewer === 'anyone' ? [] : [...of.refunds],
        collect: viewer === 'buyer' ? collectOf(of) : null,
        currency: 'USDC',
        network: of.network,
        payer: of.payer,
        explorerUrl: transactionUrl(of.network, of.txHash),
        reason: reasonOf(of, viewer),
        statusUrl: `${addressOf(at)}/payments/${of.id}${token === null ? '' : `?token=${token}`}`,
        testMode: of.simulated,
        capture: of.capture,
        deadline: of.deadline?.toISOString() ?? null,
        escrow: escrowOf(of),
        free: of.right?.kind ?? null,
        pass: of.pass === null || viewer === 'anyone' ? null : passOf(of.pass, of, viewer),
        createdAt: of.createdAt.toISOString(),
        paidAt: of.paidAt?.toISOString() ?? null,
        redirectUrl: viewer === 'anyone' ? null : redirectOf(at, of),
        token,
        receiptUrl: token === null ? null : receiptOf(of.id),
        ...proofOf(receipt, of, { dialects, receipts: addresses.receipts }),
      },
      result:
        viewer === 'anyone'
          ? null
          : resultOf(of, at, token === null ? null : `${addressOf(at)}/payments/${of.id}/file?token=${token}`),
      requests:
        viewer === 'anyone'
          ? []
          : of.requests.map((one) => requestView(one, addressOf({ id: one.checkoutId }), clock.now())),
      delivery: isDelivered(of) && callsWorkflow(at) ? deliveryOf(of, at, delivery, viewer) : null,
    }
  }

  /** The refund of an order that was paid by a transfer is at its address, where its buyer says where it goes. */
  function collectOf({ orderAddress }: Payment): PaymentView['payment']['collect'] {
    return orderAddress === null ? null : { addressId: orderAddress, token: tokens.of(orderAddress) }
  }

  return {
    addressOf,
    offerAt,
    offer,
    checkout,
    quote,
    payment,
    withDetails,
    async sale({ payment: bought, checkout: at }, viewer) {
      const [sold = bought] = await withDetails([bought])
      const delivered = await deliveries.bySubject(null, isDelivered(sold) ? [sold.id] : [])
      return payment(sold, at, delivered.get(sold.id), viewer)
    },
  }
}

/** What everyone sees of a checkout, and of a price at it. */
function createOfferShowing(deps: OfferShowingDeps) {
  const { method, clock, files, quoteKey, addressOf, offerAt, takesTransfers } = deps

  function checkout(of: Checkout): CheckoutView {
    const network = NETWORKS[of.network]
    const status = statusOf(of, clock.now())
    const quoted = quote(of, { lines: priceOf(of, {}, {}, null), plan: null, until: null })
    const url = addressOf(of)
    return {
      checkout: {
        id: of.id,
        url,
        x402Url: url,
        mcp: { url: `${url}/mcp`, tool: toolNameOf(of.product.name) },
        status,
        lifetime: of.lifetime,
        testMode: of.testMode,
        product: of.product,
        price: toWire(of.price),
        pricing: withAmounts(of.pricing, toWire),
        coupons: of.coupons,
        currency: 'USDC',
        network: network.name,
        chainId: network.chainId,
        recipient: of.recipient,
        asset: {
          address: network.usdc.checksummed,
          name: network.usdc.name,
          version: network.usdc.version,
          decimals: 6,
        },
        after: promiseOf(of),
        picture: pictureOf(of, files),
        fields: of.fields,
        redirectUrl: of.redirectUrl,
        responseMode: of.responseMode,
        capture: of.capture,
        runSeconds: isLate(of.capture) ? of.runSeconds : null,
        trialRuns: of.trialRuns,
        plans: of.plans.map((plan) => planWith(plan, toWire)),
        chat: of.chat,
        transfers: takesTransfers(of),
        explorer: network.explorer,
      },
      ...quoted,
      available:
        status === 'active' && (of.testMode || (quoted.paymentRequirements !== null && method.serves(of.network))),
      trackRecord: null,
      brand: null,
    }
  }

  function quote(of: Checkout, priced: PricedChoice): QuoteView {
    const now = clock.now()
    const { lines } = priced
    const quoted = quoteOf(of, priced, now)
    const isPayable = !of.testMode && lines.total > ZERO
    const offer = !isPayable ? null : offerAt(of, quoted, captureDeadlineOf(workMsOf(of), now))
    const terms = offer === null ? null : requirementsOfOffer(offer)
    return {
      quote: { quoteId: toQuoteId(of.id, quoted, quoteKey), expiresAt: quoted.expiresAt.toISOString() },
      total: toWire(lines.total),
      lines: linesWith(lines, toWire),
      paymentRequirements: terms === null ? null : signableOf(terms),
      prepared: terms?.escrow === undefined ? null : (method.escrow?.prepare(terms.escrow, now) ?? null),
    }
  }

  return { checkout, quote }
}

interface OfferShowingDeps
  extends OfferingDeps, Pick<CheckoutDeps, 'files' | 'quoteKey' | 'takesTransfers'>, Pick<Showing, 'offerAt'> {}

/** What belongs to payments and is stored beside them. */
function createDetails({
  passes,
  store,
  clock,
  orderAddresses,
}: Pick<CheckoutDeps, 'passes' | 'store' | 'clock' | 'orderAddresses'>) {
  function passOf(pass: Pass, { plan }: Payment, viewer: Viewer): PassView {
    const { id, planId, planName, runs, until } = pass
    // The runs that were bought are not given away with the receipt of one of them.
    const token = viewer === 'buyer' && plan !== null ? passes.tokenOf(pass) : null
    const left = { runs, runsLeft: runsLeftOf(pass), until: until?.toISOString() ?? null }
    return { id, plan: { id: planId, name: planName }, status: passStatusOf(pass, clock.now()), ...left, token }
  }

  async function withDetails(payments: readonly Payment[]): Promise<Payment[]> {
    const working = payments.filter(({ state, result }) => state !== 'failed' && result === null)
    const returning = payments.filter(({ refunded, simulated }) => refunded > ZERO && !simulated)
    const [found, progress, asked, addresses] = await Promise.all([
      passes.ofPayments(payments),
      store.progressOf(working.map(({ id }) => id)),
      store.requestsOf(payments.map(({ id }) => id)),
      orderAddresses(returning.map(({ payer }) => payer)),
    ])
    return payments.map((one) => ({
      ...one,
      pass: found.get(one.id) ?? null,
      progress: progress.get(one.id) ?? [],
      requests: requestsWithin(one, asked.get(one.id) ?? []),
      orderAddress: addresses.get(one.payer) ?? null,
    }))
  }

  return { passOf, withDetails }
}

/** The price and terms, also where the money waits in the escrow. */
function createOffering({ method, clock, addressOf }: OfferingDeps): Pick<Showing, 'offer' | 'offerAt'> {
  function offer(of: Checkout, priced: PricedChoice, plan: Plan | null = null): Offer {
    const now = clock.now()
    const quote = quoteOf(of, priced, now)
    const offered = offerAt(of, quote, captureDeadlineOf(workMsOf(of), now))
    if (offered === null) throw of.recipient === null ? inTestMode(addressOf(of)) : escrowUnavailable()
    // What agents can pay for ahead, each at an address of its own.
    const plans = of.plans.map((each) => ({ ...planWith(each, toWire), url: planUrl(addressOf(of), each.id) }))
    const address = plan === null ? offered.address : planUrl(offered.address, plan.id)
    const more = { expires: quote.expiresAt.toISOString(), ...(plans.length === 0 ? {} : { plans }) }
    return { ...offered, address, memo: offered.name, more }
  }

  function offerAt(of: Checkout, quote: Quote, captureDeadline: number): Offer | null {
    const operator = of.capture === 'escrow' ? (method.escrow?.operator() ?? null) : null
    return offerOf(of, quote, {
      address: addressOf(of),
      escrow: operator === null ? null : { operator, captureDeadline },
    })
  }

  return { offer, offerAt }
}

interface OfferingDeps extends Pick<CheckoutDeps, 'clock'>, Pick<CheckoutDeps['selling'], 'method'> {
  addressOf: Showing['addressOf']
}

/** Where an agent buys the plan: the 402 has its price. */
function planUrl(page: string, plan: string): string {
  return `${page}?plan=${plan}`
}

function pictureOf({ picture }: Checkout, files: Pick<FilePort, 'addressOf'>): CheckoutView['checkout']['picture'] {
  if (picture === null) return null
  const { fileId, width, height } = picture
  return { url: files.addressOf(fileId), width, height }
}

/** What is charged after the success is delivered before it is paid. */
function isDelivered({ state, capture }: Payment): boolean {
  return state === 'paid' || isLate(capture)
}

function signableOf({ v1, v2, escrow }: Requirements): Signable {
  return escrow === undefined ? { v1, v2 } : { v1: null, v2: escrow }
}

function escrowOf({ escrow, state, result }: Payment): EscrowView | null {
  if (escrow === null) return null
  const { captureBy, authorizedTx, voidedTx } = escrow
  const held = { contract: ESCROW.address, captureBy, authorizedTx, voidedTx }
  if (state === 'paid') return { ...held, state: 'captured' }
  if (state === 'failed') return { ...held, state: escrow.end ?? 'none' }
  if (authorizedTx === null) return { ...held, state: 'authorizing' }
  if (state === 'created') return { ...held, state: 'waiting' }
  return { ...held, state: result?.status === 'failed' ? 'voiding' : 'capturing' }
}

/** The seller's own explanation is for the buyer alone. */
function reasonOf({ reason, result, escrow }: Payment, viewer: Viewer): PaymentView['payment']['reason'] {
  if (reason === null) return null
  const explained = viewer !== 'anyone' && result?.status === 'failed' ? result.answer : null
  const sentence = sentenceOfWork(reason, explained) ?? sentenceOf(reason)
  return { code: reason, sentence: escrow?.end === 'reclaimable' ? `${sentence} ${RECLAIM}` : sentence }
}

function deliveryOf(of: Payment, at: Checkout, delivery: AnsweredDelivery | undefined, viewer: Viewer) {
  // Nobody sees what was not paid, although it may have been made already.
  const shows = viewer !== 'anyone' && of.state === 'paid'
  const answered = at.responseMode === 'lastNode' && delivery?.state === 'delivered' ? delivery.answer : null
  const status = delivery?.state ?? 'pending'
  const works = viewer !== 'anyone' && isWorking(of, { payment: { status: of.state }, delivery: { status } })
  return {
    id: deriveId('dlv', of.id),
    status,
    attempts: delivery?.attempts ?? 0,
    lastStatus: viewer === 'anyone' ? null : (delivery?.lastStatus ?? null),
    lastError: viewer !== 'anyone' && of.simulated ? (delivery?.lastError ?? null) : null,
    nextAttemptAt: viewer === 'anyone' ? null : (delivery?.nextAttemptAt?.toISOString() ?? null),
    history: viewer !== 'anyone' && of.simulated ? historyOf(delivery) : null,
    answer: shows ? ((of.result?.status === 'succeeded' ? of.result.answer : null) ?? answered) : null,
    failure: viewer !== 'anyone' && of.result?.status === 'failed' ? of.result.answer : null,
    progress: works ? [...of.progress] : [],
  }
}

function historyOf(delivery: AnsweredDelivery | undefined) {
  return (delivery?.history ?? []).map(({ at, status, error }) => ({ at: at.toISOString(), status, error }))
}

/** A text as a picture, in SVG. The quiet zone that readers need around it is four modules wide. */
export function qrOf(text: string): string {
  return renderSVG(text, { border: 4, ecc: 'M' })
}
