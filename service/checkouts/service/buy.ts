import { accountOf, type Caller } from '../../kit/caller.ts'
import { Departure } from '../../kit/departure.ts'
import { sampleInput } from '../../kit/fields.ts'
import { isId, type Id } from '../../kit/ids.ts'
import { deliveryErrors } from '../../sales/errors.ts'
import { wasPaid, type Sale } from '../../sales/model.ts'
import type { PurchaseRequest, Sold } from '../../sales/service/deps.ts'
import { createSelling } from '../../sales/service/sell.ts'
import { checkoutMissing, inTestMode } from '../errors.ts'
import { isLate, type Checkout, type PaymentView } from '../model.ts'
import { isCapturedLate, whyUnpaid } from '../rules/capture.ts'
import { assertSells, paymentOf } from '../rules/lifecycle.ts'
import { fromOrder, orderLink, toOrder } from '../rules/order.ts'
import { versionQuoted } from '../rules/quote.ts'
import type { PaymentEvents } from './payment-events.ts'
import type { CheckoutDeps } from './deps.ts'
import { createCheckoutProduct, Unsold, valuesOf, type FormInput, type Order, type Purchase } from './product.ts'
import type { Showing } from './presenter.ts'
import type { Patience, Purchases } from './purchases.ts'
import { createSimulation } from './simulate.ts'
import type { Watching } from './watch.ts'

/** Turns an input and an authorization into a payment. All errors in the request are reported before money moves. */
export function createBuying(deps: BuyingDeps) {
  const { store, selling, clock, showing, purchases } = deps
  const { product, preflight, quoteFor } = createCheckoutProduct(deps)
  const sales = createSelling(selling, product)
  const simulate = createSimulation({ ...deps, preflight, quoteFor })
  const statusUrl = ({ id, subject }: Sale): string => `${deps.addresses.pay}/${subject}/payments/${id}`
  const errors = deliveryErrors({ statusUrl, tokens: selling.tokens })

  async function pay(id: string, sent: Purchase, sentOperation: Id<'op'>): Promise<PaymentView> {
    const checkout = await shownWith(id, sent.quoteId)
    if (checkout === null) throw checkoutMissing()
    const [purchase, operation] = ordered(checkout, sent, sentOperation)
    const sale = await unlessUnsold(checkout, () => buy(checkout, purchase, operation))
    return await shownToBuyer(checkout, sale, purchase.waits ?? null)
  }

  /** As its quote was shown. An old quote is refused later: what was bought with it is found all the same. */
  async function shownWith(id: string, quoteId: string | null): Promise<Checkout | null> {
    return isId('chk', id) ? await store.find(id, versionQuoted(id, quoteId, deps.quoteKey)) : null
  }

  /** Where the page of an order pays, the order says what is bought, and names the payment. */
  function ordered(checkout: Checkout, purchase: Purchase, operation: Id<'op'>): [Purchase, Id<'op'>] {
    const { signedOrder } = purchase
    if (signedOrder === undefined) return [purchase, operation]
    const { input, until, operation: first } = fromOrder(checkout.id, signedOrder, deps.orderKey)
    return [{ ...purchase, input, until }, first]
  }

  async function shownToBuyer(checkout: Checkout, sale: Sale, patience: Patience | null): Promise<PaymentView> {
    const view = await showing.sale({ payment: paymentOf(sale), checkout }, 'buyer')
    const follows = checkout.responseMode === 'lastNode' || isLate(checkout.capture)
    return patience !== null && follows ? await purchases.rested(view, patience) : view
  }

  async function buy(checkout: Checkout, purchase: Purchase, operation: Id<'op'>): Promise<Sale> {
    const { presented, token, paymentId: payment } = purchase
    if (presented === null && payment === null) return await simulate(checkout, purchase, operation)
    // The payment does not depend on the client's connection: a buyer who disconnects has paid all the same.
    const ask = { operation, presented, token, payment, departure: new Departure(), checkout, order: purchase }
    return (await sales.buy(ask)).sale
  }

  /** Reports why the checkout stopped selling between the check and the claim. */
  async function unlessUnsold<T>(checkout: Checkout, act: () => Promise<T>): Promise<T> {
    try {
      return await act()
    } catch (error) {
      if (error instanceof Unsold) assertSells(await store.find(checkout.id), clock.now())
      throw error
    }
  }

  return {
    pay,

    /** For a client that waits: the paid sale, with the workflow's answer if payers see it. */
    async sell(id: string, input: FormInput, request: PurchaseRequest, patience: Patience): Promise<Sold<PaymentView>> {
      const checkout = await store.find(id)
      if (checkout === null) throw checkoutMissing()
      const order: Order = { input, named: (field) => field, quoteId: null }
      const ask = { ...request, departure: new Departure(), checkout, order }
      const sold = await unlessUnsold(checkout, () => sales.buy(ask))
      const { sale } = sold
      // What is charged after the success is waited for first.
      if (sale.state === 'failed') throw whyUnpaid(sale)
      if (!wasPaid(sale) && !isCapturedLate(sale)) throw errors.pending(sale)
      const value = await shownToBuyer(checkout, sale, patience)
      const ended = wasPaid(sale) ? sale : ((await selling.journal.findById(sale.id)) ?? sale)
      if (ended.state === 'failed') throw whyUnpaid(ended)
      if (!wasPaid(ended)) throw errors.pending(sale)
      return { ...sold, sale: ended, value }
    },

    /** The owner tests the effects of a payment; in test mode every visitor may. */
    async testPayment(caller: Caller, id: string, input: FormInput | null, operation: Id<'op'>): Promise<PaymentView> {
      const checkout = await store.findOwn(accountOf(caller), id)
      if (checkout === null) throw checkoutMissing()
      assertSells(checkout, clock.now())
      const given = input ?? sampleInput(checkout.fields)
      const named = (field: string): string => `input.${field}`
      const purchase: Purchase = { input: given, named, presented: null, quoteId: null, token: null, paymentId: null }
      const sale = await unlessUnsold(checkout, () => simulate(checkout, purchase, operation))
      return await showing.sale({ payment: paymentOf(sale), checkout }, 'buyer')
    },

    /** For an agent without a payment: the faults of its input, otherwise the price and terms. */
    async offer(id: string, input: FormInput) {
      const checkout = await store.find(id)
      assertSells(checkout, clock.now())
      if (checkout.testMode) throw inTestMode()
      valuesOf(checkout, { input, named: (field) => field })
      return { ...showing.offer(checkout), refund: (await selling.refundTerms?.(checkout.owner)) ?? null }
    },

    /** The page where a person pays for this operation and this input. Null where its address would be too long. */
    async orderPage(id: string, input: FormInput, operation: Id<'op'>): Promise<string | null> {
      const checkout = await store.find(id)
      assertSells(checkout, clock.now())
      valuesOf(checkout, { input, named: (field) => field })
      const order = toOrder(checkout.id, { operation, input }, { key: deps.orderKey, now: clock.now() })
      return orderLink(showing.addressOf(checkout), order)
    },
  }
}

interface BuyingDeps extends CheckoutDeps {
  events: PaymentEvents
  showing: Showing
  watching: Watching
  purchases: Pick<Purchases, 'rested'>
}
