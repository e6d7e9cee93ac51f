import { ESCROW, NETWORKS } from '../../chain/networks.ts'
import { captureDeadlineOf } from '../../x402/escrow.ts'
import type { Requirements } from '../../x402/model.ts'
import type { AnsweredDelivery } from '../../deliveries/model.ts'
import { proofOf, requirementsOfOffer } from '../../sales/service/door.ts'
import { toolNameOf } from '../../sales/model.ts'
import { sentenceOf } from '../../x402/reasons.ts'
import { deriveId } from '../../kit/ids.ts'
import { toWire } from '../../kit/money.ts'
import { escrowUnavailable, inTestMode } from '../errors.ts'
import {
  isLate,
  type Checkout,
  type CheckoutView,
  type EscrowView,
  type Payment,
  type PaymentView,
  type Quote,
  type Signable,
} from '../model.ts'
import type { Offer } from '../../sales/model.ts'
import { sentenceOfWork } from '../rules/capture.ts'
import { redirectOf, statusOf } from '../rules/lifecycle.ts'
import { offerOf, quoteOf, toQuoteId, workMsOf } from '../rules/quote.ts'
import type { CheckoutDeps } from './deps.ts'

export interface Showing {
  addressOf(checkout: Pick<Checkout, 'id'>): string
  checkout(checkout: Checkout): CheckoutView
  /** The caller passes the delivery, so that a list can load all deliveries at once. */
  payment(payment: Payment, checkout: Checkout, delivery: AnsweredDelivery | undefined, viewer: Viewer): PaymentView
  /** The price and terms at a quote. Null where they cannot be paid. */
  offerAt(checkout: Checkout, quote: Quote, captureDeadline: number): Offer | null
  /** The price and terms for an agent that has not paid yet. */
  offer(checkout: Checkout): QuotedOffer
  /** A single payment with its delivery. */
  sale(sale: { payment: Payment; checkout: Checkout }, viewer: Viewer): Promise<PaymentView>
}

/** What a payer does where this service could neither capture the money nor give it back. */
const RECLAIM =
  'Your money waits in the contract: take it back from the paying wallet with the call `reclaim`, which nobody can prevent.'

/** `anyone` knows the payment's id and sees its state, but not the answer, the redirect or the token. */
export type Viewer = 'buyer' | 'owner' | 'anyone'

export interface QuotedOffer extends Offer {
  expires: Date
}

/** Builds the payer's views. */
export function createShowing({
  deliveries,
  selling: { method, tokens, dialects },
  receiptOf,
  clock,
  quoteKey,
  addresses,
}: CheckoutDeps): Showing {
  const addressOf = ({ id }: Pick<Checkout, 'id'>): string => `${addresses.pay}/${id}`
  const { offer, offerAt } = createOffering({ method, clock, addressOf })

  function checkout(of: Checkout): CheckoutView {
    const now = clock.now()
    const network = NETWORKS[of.network]
    const quote = quoteOf(of, now)
    const offer = of.testMode ? null : offerAt(of, quote, captureDeadlineOf(workMsOf(of), now))
    const terms = offer === null ? null : requirementsOfOffer(offer)
    const status = statusOf(of, now)
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
        fields: of.fields,
        redirectUrl: of.redirectUrl,
        responseMode: of.responseMode,
        capture: of.capture,
        runSeconds: isLate(of.capture) ? of.runSeconds : null,
        explorer: network.explorer,
      },
      available: status === 'active' && (of.testMode || (offer !== null && method.serves(of.network))),
      quote: { quoteId: toQuoteId(of.id, quote, quoteKey), expiresAt: quote.expiresAt.toISOString() },
      paymentRequirements: terms === null ? null : signableOf(terms),
      prepared: terms?.escrow === undefined ? null : (method.escrow?.prepare(terms.escrow, now) ?? null),
      trackRecord: null,
    }
  }

  function payment(of: Payment, at: Checkout, delivery: AnsweredDelivery | undefined, viewer: Viewer): PaymentView {
    const transaction = of.simulated || of.txHash === null ? null : `${NETWORKS[of.network].explorer}/tx/${of.txHash}`
    const token = viewer === 'buyer' ? tokens.of(of.id) : null
    const { state, txHash, network, payer, paidAt, createdAt } = of
    // Without proof of the purchase, a viewer gets nothing to prove it to others.
    const success = state === 'paid' && viewer !== 'anyone'
    const receipt = { success, txHash, network, payer, resource: addressOf(at), paidAt: paidAt ?? createdAt }
    return {
      payment: {
        id: of.id,
        checkoutId: of.checkoutId,
        status: of.state,
        txHash: of.txHash,
        amount: toWire(of.amount),
        refunded: toWire(of.refunded),
        currency: 'USDC',
        network: of.network,
        payer: of.payer,
        explorerUrl: transaction,
        reason: reasonOf(of, viewer),
        statusUrl: `${addressOf(at)}/payments/${of.id}${token === null ? '' : `?token=${token}`}`,
        testMode: of.simulated,
        capture: of.capture,
        deadline: of.deadline?.toISOString() ?? null,
        escrow: escrowOf(of),
        createdAt: of.createdAt.toISOString(),
        paidAt: of.paidAt?.toISOString() ?? null,
        redirectUrl: viewer === 'anyone' ? null : redirectOf(at, of),
        token,
        receiptUrl: token === null ? null : receiptOf(of.id),
        ...proofOf(receipt, of, { dialects, receipts: addresses.receipts }),
      },
      delivery: isDelivered(of) ? deliveryOf(of, at, delivery, viewer) : null,
    }
  }

  return {
    addressOf,
    offerAt,
    offer,
    checkout,
    payment,
    async sale({ payment: sold, checkout: at }, viewer) {
      const delivered = await deliveries.bySubject(null, isDelivered(sold) ? [sold.id] : [])
      return payment(sold, at, delivered.get(sold.id), viewer)
    },
  }
}

/** The price and terms, also where the money waits in the escrow. */
function createOffering({ method, clock, addressOf }: OfferingDeps): Pick<Showing, 'offer' | 'offerAt'> {
  function offer(of: Checkout): QuotedOffer {
    const now = clock.now()
    const quote = quoteOf(of, now)
    const offered = offerAt(of, quote, captureDeadlineOf(workMsOf(of), now))
    if (offered === null) throw of.recipient === null ? inTestMode() : escrowUnavailable()
    return { ...offered, expires: quote.expiresAt }
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
  return {
    id: deriveId('dlv', of.id),
    status: delivery?.state ?? 'pending',
    attempts: delivery?.attempts ?? 0,
    lastStatus: viewer === 'anyone' ? null : (delivery?.lastStatus ?? null),
    lastError: viewer !== 'anyone' && of.simulated ? (delivery?.lastError ?? null) : null,
    nextAttemptAt: viewer === 'anyone' ? null : (delivery?.nextAttemptAt?.toISOString() ?? null),
    history: viewer !== 'anyone' && of.simulated ? historyOf(delivery) : null,
    answer: shows ? ((of.result?.status === 'succeeded' ? of.result.answer : null) ?? answered) : null,
  }
}

function historyOf(delivery: AnsweredDelivery | undefined) {
  return (delivery?.history ?? []).map(({ at, status, error }) => ({ at: at.toISOString(), status, error }))
}
