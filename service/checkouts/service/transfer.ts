import type { Address, Authorization, SignedAuthorization } from '../../chain/model.ts'
import { NETWORKS, type Network, type NetworkName } from '../../chain/networks.ts'
import { invalid } from '../../kit/errors.ts'
import type { Id } from '../../kit/ids.ts'
import type { Usdc } from '../../kit/money.ts'
import { requirementsOfOffer } from '../../sales/service/door.ts'
import { presentedAs } from '../../x402/payload.ts'
import type { RequirementsV2 } from '../../x402/model.ts'
import { checkoutMissing, transfersUnavailable } from '../errors.ts'
import type { Checkout } from '../model.ts'
import { assertSells } from '../rules/lifecycle.ts'
import { assertCosts } from '../rules/price.ts'
import { fromQuoteId, quoteOf, toQuoteId, workMsOf, type PricedChoice } from '../rules/quote.ts'
import { transferEnd } from '../rules/requests.ts'
import { captureDeadlineOf } from '../../x402/escrow.ts'
import type { PaymentView } from '../views.ts'
import type { CheckoutDeps } from './deps.ts'
import { valuesOf, type Chosen, type Order, type Purchase, type WithCoupon } from './product.ts'
import type { Showing } from './presenter.ts'
import { keepUploaded } from './uploads.ts'

/**
 * Orders that are paid from an address of this service, to which the buyer has sent the money by a plain transfer. What
 * is bought, refused and delivered is the same as for every other payer.
 */
export function createTransferBuying(deps: TransferBuyingDeps) {
  const { store, clock, quoteKey, showing, pay, shownWith, withCoupon, priced, takesTransfers, files } = deps

  /** The requirements of a quote; the money is paid by a transfer, so it cannot wait in the escrow. */
  function requirementsAt(checkout: Checkout, quote: ReturnType<typeof fromQuoteId>): RequirementsV2 {
    const offer = showing.offerAt(checkout, quote, captureDeadlineOf(workMsOf(checkout), clock.now()))
    if (offer === null || offer.escrow !== undefined) throw transfersUnavailable()
    return requirementsOfOffer(offer).v2
  }

  return {
    /**
     * What such an order costs. The price is promised until then, or until the order ends by itself, and is good for this
     * choice alone. Refused where it ends before money can have arrived.
     */
    async transferTerms(id: string, chosen: Chosen, { until, earliest }: Times): Promise<TransferTerms> {
      const checkout = await store.find(id)
      const now = clock.now()
      assertSells(checkout, now)
      if (!takesTransfers(checkout)) throw transfersUnavailable()
      if (chosen.choice.plan !== undefined)
        throw invalid({ 'choice.plan': 'is paid with a wallet, to which it belongs' })
      const { coupon } = await withCoupon(checkout, chosen)
      if (coupon !== null && coupon.perCustomer !== null) {
        throw invalid({ 'choice.coupon': 'is counted for each wallet: pay with a wallet, or without the code' })
      }
      const named = (field: string): string => `input.${field}`
      const input = valuesOf(checkout, { ...chosen, named })
      const deal = await priced(checkout, chosen, { input, named })
      assertCosts(deal.lines)
      const endsAt = transferEnd(checkout, deal, earliest)
      const quote = { ...quoteOf(checkout, deal, now), expiresAt: endsAt ?? until }
      const { maxTimeoutSeconds: seconds } = requirementsAt(checkout, quote)
      await keepUploaded(files.customers, checkout, { input, until, named })
      const { owner, network } = checkout
      return { owner, network, amount: quote.price, quoteId: toQuoteId(checkout.id, quote, quoteKey), seconds, endsAt }
    },

    /** Buys it. The same operation and signature again is the same payment. */
    async payByTransfer(id: string, order: TransferOrder, operation: Id<'op'>): Promise<PaymentView> {
      const { quoteId, sign, ...bought } = order
      const checkout = await shownWith(id, quoteId)
      if (checkout === null) throw checkoutMissing()
      const quote = fromQuoteId(checkout.id, quoteId, quoteKey, clock.now())
      const accepted = requirementsAt(checkout, quote)
      const { signature, ...authorization } = sign(NETWORKS[quote.network], {
        to: accepted.payTo.toLowerCase() as Address,
        value: BigInt(accepted.amount),
      })
      const written = Object.fromEntries(Object.entries(authorization).map(([name, value]) => [name, String(value)]))
      const payload = { signature, authorization: written }
      const presented = presentedAs('transfer', { x402Version: 2, accepted, payload })
      const named = (field: string): string => `input.${field}`
      const fixed = { named, from: null, token: null, paymentId: null, onPage: true, byTransfer: true }
      return await pay(id, { ...bought, ...fixed, presented, quoteId }, operation)
    },
  }
}

export interface TransferTerms {
  owner: Checkout['owner']
  network: NetworkName
  amount: Usdc
  quoteId: string
  /** How long the authorization of the payment is valid. */
  seconds: number
  /** Its code or its request ends then, and nothing is sold by it any more. Null where neither ends. */
  endsAt: Date | null
}

interface Times {
  /** The price is promised until then. */
  until: Date
  /** An order that ends before is refused. */
  earliest: Date
}

export interface TransferOrder extends Pick<Purchase, 'input' | 'choice' | 'receipt'> {
  quoteId: string
  sign(network: Network, terms: Pick<Authorization, 'to' | 'value'>): SignedAuthorization
}

interface TransferBuyingDeps extends Pick<CheckoutDeps, 'store' | 'clock' | 'quoteKey' | 'takesTransfers' | 'files'> {
  showing: Pick<Showing, 'offerAt'>
  pay(id: string, purchase: Purchase, operation: Id<'op'>): Promise<PaymentView>
  shownWith(id: string, quoteId: string | null): Promise<Checkout | null>
  withCoupon<T extends Chosen>(checkout: Checkout, chosen: T): Promise<T & WithCoupon>
  priced(checkout: Checkout, chosen: Chosen, entered: Pick<Order, 'input' | 'named'>): Promise<PricedChoice>
}
