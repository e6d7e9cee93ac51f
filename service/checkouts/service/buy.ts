import { ZERO_ADDRESS } from '../../kit/address.ts'
import { accountOf, type Caller } from '../../kit/caller.ts'
import { Departure } from '../../kit/departure.ts'
import { sampleInput } from '../../kit/fields.ts'
import { DomainError, invalid } from '../../kit/errors.ts'
import { isId, type Id } from '../../kit/ids.ts'
import { deliveryErrors } from '../../sales/errors.ts'
import type { Claim } from '../../passes/model.ts'
import { noRunLeft } from '../../passes/errors.ts'
import { wasPaid, type AccountFor, type Right, type Sale } from '../../sales/model.ts'
import type { PurchaseRequest, Sold } from '../../sales/service/deps.ts'
import { createSelling, type Selling } from '../../sales/service/sell.ts'
import { checkoutMissing, inTestMode } from '../errors.ts'
import { isLate, type Checkout } from '../model.ts'
import type { PaymentView, QuoteView } from '../views.ts'
import { isCapturedLate, whyUnpaid } from '../rules/capture.ts'
import { assertSells, paymentOf } from '../rules/lifecycle.ts'
import { placeOf } from '../rules/plans.ts'
import { fromOrder, orderLink, toOrder } from '../rules/order.ts'
import { assertCosts, assertListed, planOf, priceOf } from '../rules/price.ts'
import { versionQuoted, type PricedChoice } from '../rules/quote.ts'
import type { PaymentEvents } from './payment-events.ts'
import type { CheckoutDeps } from './deps.ts'
import {
  couponFor,
  createCheckoutProduct,
  hashOf,
  Unsold,
  valuesOf,
  type CheckoutAsk,
  type Chosen,
  type FormInput,
  type Order,
  type Purchase,
  type WithCoupon,
} from './product.ts'
import type { Showing } from './presenter.ts'
import type { Patience, Purchases } from './purchases.ts'
import { createSimulation } from './simulate.ts'
import { createTransferBuying } from './transfer.ts'
import type { Watching } from './watch.ts'

/** Turns an input and an authorization into a payment. All errors in the request are reported before money moves. */
export function createBuying(deps: BuyingDeps) {
  const { store, selling, clock, showing, purchases } = deps
  const { product, preflight, dealFor } = createCheckoutProduct(deps)
  const sales = createSelling(selling, product)
  const { useRight, takeFree } = createFreeBuying(deps, sales)
  const { withCoupon, priced } = createPricing(deps)
  const simulate = createSimulation({ ...deps, preflight, dealFor })

  async function pay(id: string, sent: Purchase, sentOperation: Id<'op'>): Promise<PaymentView> {
    // A pass and a trial have no price: what is for sale now says where they are good.
    const checkout = await shownWith(id, sent.claim === undefined ? sent.quoteId : null)
    if (checkout === null) throw checkoutMissing()
    const [ordering, operation] = ordered(checkout, sent, sentOperation)
    const purchase = await withCoupon(checkout, ordering)
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
    const { input, choice, until, operation: first } = fromOrder(checkout.id, signedOrder, deps.orderKey)
    return [{ ...purchase, input, choice, until }, first]
  }

  async function shownToBuyer(checkout: Checkout, sale: Sale, patience: Patience | null): Promise<PaymentView> {
    const view = await showing.sale({ payment: paymentOf(sale), checkout }, 'buyer')
    const follows = checkout.responseMode === 'lastNode' || isLate(checkout.capture)
    return patience !== null && follows ? await purchases.rested(view, patience) : view
  }

  async function buy(checkout: Checkout, purchase: Purchase & WithCoupon, operation: Id<'op'>): Promise<Sale> {
    const { presented, token, paymentId: payment, claim, free = false } = purchase
    if (claim !== undefined) return await useRight(checkout, purchase, { claim, operation })
    if (free) return await takeFree(checkout, purchase, operation)
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
    ...createQuoting(deps, priced),
    ...createTransferBuying({ ...deps, pay, shownWith, withCoupon, priced }),
    ...createWaitedBuying(deps, { sales, withCoupon, unlessUnsold, shownToBuyer }),

    /** The operation of the run that a request with this pass buys. Null where the pass is not good here: buying says why. */
    async passOperation(id: string, pass: string, operation: Id<'op'>): Promise<Id<'op'> | null> {
      const checkout = await shownWith(id, null)
      if (checkout === null) return null
      const place = placeOf(checkout, showing.addressOf(checkout))
      const found = deps.passes.find(place, { pass }, { inputHash: Buffer.alloc(0), operation })
      return await found.then(
        (run) => run.operation,
        (error: unknown) => {
          if (error instanceof DomainError) return null
          throw error
        },
      )
    },

    /** The owner tests the effects of a payment; in test mode every visitor may. */
    async testPayment(caller: Caller, id: string, input: FormInput | null, operation: Id<'op'>): Promise<PaymentView> {
      const checkout = await store.findOwn(accountOf(caller), id)
      if (checkout === null) throw checkoutMissing()
      assertSells(checkout, clock.now())
      const given = input ?? sampleInput(checkout.fields)
      const order = { input: given, choice: {}, from: null, coupon: null, named: inForm, quoteId: null }
      const purchase = { ...order, presented: null, token: null, paymentId: null }
      const sale = await unlessUnsold(checkout, () => simulate(checkout, purchase, operation))
      return await showing.sale({ payment: paymentOf(sale), checkout }, 'buyer')
    },
  }
}

/** The name of a form's field in a body beside other things. */
function inForm(field: string): string {
  return `input.${field}`
}

/** For clients that wait: the paid sale, with the workflow's answer if payers see it. */
function createWaitedBuying({ store, selling, addresses }: BuyingDeps, { sales, ...buying }: WaitedBuying) {
  const statusUrl = ({ id, subject }: Sale): string => `${addresses.pay}/${subject}/payments/${id}`
  const errors = deliveryErrors({ statusUrl, tokens: selling.tokens })

  async function orderOf<T>(id: string, chosen: Chosen, request: T) {
    const checkout = await store.find(id)
    if (checkout === null) throw checkoutMissing()
    const order: Order = { ...(await buying.withCoupon(checkout, chosen)), named: (field) => field, quoteId: null }
    return { ...request, departure: new Departure(), checkout, order }
  }

  async function waited(sold: Sold<never>, checkout: Checkout, patience: Patience): Promise<Sold<PaymentView>> {
    const { sale } = sold
    // What is charged after the success is waited for first.
    if (sale.state === 'failed') throw whyUnpaid(sale)
    if (!wasPaid(sale) && !isCapturedLate(sale)) throw errors.pending(sale)
    const value = await buying.shownToBuyer(checkout, sale, patience)
    const ended = wasPaid(sale) ? sale : ((await selling.journal.findById(sale.id)) ?? sale)
    if (ended.state === 'failed') throw whyUnpaid(ended)
    if (!wasPaid(ended)) throw errors.pending(sale)
    return { ...sold, sale: ended, value }
  }

  return {
    async sell(id: string, chosen: Chosen, request: PurchaseRequest, patience: Patience): Promise<Sold<PaymentView>> {
      const ask = await orderOf(id, chosen, request)
      return await waited(await buying.unlessUnsold(ask.checkout, () => sales.buy(ask)), ask.checkout, patience)
    },

    /** To an account of this server. Null where the seller is paid outside of it. */
    async sellToAccount(
      id: string,
      chosen: Chosen,
      { operation, accountFor }: { operation: Id<'op'>; accountFor: AccountFor },
      patience: Patience,
    ): Promise<Sold<PaymentView> | null> {
      const ask = await orderOf(id, chosen, { operation, presented: null, token: null, payment: null })
      const sold = await buying.unlessUnsold(ask.checkout, () => sales.buyFromAccount(ask, accountFor))
      return sold === null ? null : await waited(sold, ask.checkout, patience)
    },
  }
}

interface WaitedBuying {
  sales: Pick<Selling<CheckoutAsk, never>, 'buy' | 'buyFromAccount'>
  withCoupon: ReturnType<typeof createPricing>['withCoupon']
  unlessUnsold<T>(checkout: Checkout, act: () => Promise<T>): Promise<T>
  shownToBuyer(checkout: Checkout, sale: Sale, patience: Patience): Promise<PaymentView>
}

/** What a choice costs, for those who have not paid. */
function createQuoting(deps: BuyingDeps, priced: Priced) {
  const { store, selling, clock, showing } = deps
  return {
    /** For an agent without a payment: the faults of its input, otherwise the price and terms. */
    async offer(id: string, chosen: Chosen) {
      const checkout = await store.find(id)
      assertSells(checkout, clock.now())
      if (checkout.testMode) throw inTestMode(showing.addressOf(checkout))
      const named = (field: string): string => field
      const deal = await priced(checkout, chosen, { input: valuesOf(checkout, { ...chosen, named }), named })
      assertCosts(deal.lines)
      const plan = planOf(checkout, chosen.choice.plan)
      return { ...showing.offer(checkout, deal, plan), refund: (await selling.refundTerms?.(checkout.owner)) ?? null }
    },

    /** What a choice costs. Of the input only the field that decides the price is read: the form may be half filled. */
    async quote(id: string, chosen: Chosen): Promise<QuoteView> {
      const checkout = await store.find(id)
      assertSells(checkout, clock.now())
      return showing.quote(checkout, await priced(checkout, chosen, { input: chosen.input, named: inForm }))
    },

    /** The page where a person pays for this operation and this input. Null where its address would be too long. */
    async orderPage(id: string, chosen: Chosen, operation: Id<'op'>): Promise<string | null> {
      const checkout = await store.find(id)
      assertSells(checkout, clock.now())
      const named = (field: string): string => field
      await priced(checkout, chosen, { input: valuesOf(checkout, { ...chosen, named }), named })
      const { input, choice } = chosen
      const order = toOrder(checkout.id, { operation, input, choice }, { key: deps.orderKey, now: clock.now() })
      return orderLink(showing.addressOf(checkout), order)
    },
  }
}

/** What buyers get who have a right to it. */
function createFreeBuying(
  { showing, passes }: BuyingDeps,
  sales: Pick<Selling<CheckoutAsk, never>, 'buyFree' | 'boughtFree' | 'ranFree'>,
) {
  /** A pass or a trial takes the place of the payment. */
  async function useRight(
    checkout: Checkout,
    purchase: Purchase & WithCoupon,
    { claim, operation }: Claimed,
  ): Promise<Sale> {
    // What a pass or a trial pays for is one run as it is listed.
    const chosen = Object.entries(purchase.choice).find(([, value]) => value !== undefined)
    if (chosen !== undefined) throw invalid({ [`choice.${chosen[0]}`]: 'must be absent with a pass or a proof' })
    const place = placeOf(checkout, showing.addressOf(checkout))
    const asked = { inputHash: hashOf(purchase), operation }
    const past = passes.past(place, claim, asked)
    const before = past === null ? null : await sales.boughtFree(freeOrder(checkout, purchase, past))
    if (before !== null) return before.sale
    const { right, operation: own } = await passes.find(place, claim, asked)
    if (right !== null) return await sellFree(checkout, purchase, { right, operation: own })
    const run = await sales.ranFree(freeOrder(checkout, purchase, own))
    if (run === null) throw noRunLeft(place.trialRuns)
    return run.sale
  }

  /** Sells for nothing to a buyer who has a right to it. The operation names the request: the same finds its sale. */
  async function sellFree(
    checkout: Checkout,
    purchase: Purchase & WithCoupon,
    { right, operation }: { right: Right; operation: Id<'op'> },
  ): Promise<Sale> {
    return (await sales.buyFree(freeOrder(checkout, purchase, operation), right)).sale
  }

  /** A code for the whole price takes the place of the payment. The token that the buyer chose proves who it was. */
  async function takeFree(checkout: Checkout, purchase: Purchase & WithCoupon, operation: Id<'op'>): Promise<Sale> {
    const { coupon } = purchase
    const right = { kind: 'coupon', id: coupon?.id ?? null, payer: ZERO_ADDRESS, simulated: checkout.testMode } as const
    return await sellFree(checkout, purchase, { right, operation })
  }

  return { useRight, takeFree }
}

function freeOrder(checkout: Checkout, order: Purchase & WithCoupon, operation: Id<'op'>): CheckoutAsk {
  const { token } = order
  return { operation, presented: null, token, payment: null, departure: new Departure(), checkout, order }
}

/** What choices cost now. */
function createPricing({ coupons, clock }: Pick<CheckoutDeps, 'coupons' | 'clock'>) {
  /** Looked up once for a request. Whether it may be used is decided with the other terms, in their order. */
  async function withCoupon<T extends Chosen>(checkout: Checkout, chosen: T): Promise<T & WithCoupon> {
    const { choice, from } = chosen
    if (!checkout.coupons || choice.coupon === undefined) return { ...chosen, coupon: null }
    return { ...chosen, coupon: await coupons.look(checkout.owner, choice.coupon, { from, checkoutId: checkout.id }) }
  }

  /** What a choice costs at this moment. */
  async function priced(
    checkout: Checkout,
    chosen: Chosen,
    { input, named }: Pick<Order, 'input' | 'named'>,
  ): Promise<PricedChoice> {
    if (planOf(checkout, chosen.choice.plan) !== null) assertListed(checkout, input, named)
    const coupon = couponFor(checkout, await withCoupon(checkout, chosen), clock.now())
    return {
      lines: priceOf(checkout, input, chosen.choice, coupon),
      plan: chosen.choice.plan ?? null,
      until: coupon?.until ?? null,
    }
  }

  return { withCoupon, priced }
}

type Priced = ReturnType<typeof createPricing>['priced']

interface Claimed {
  claim: Claim
  operation: Id<'op'>
}

interface BuyingDeps extends CheckoutDeps {
  events: PaymentEvents
  showing: Showing
  watching: Watching
  purchases: Pick<Purchases, 'rested'>
}
