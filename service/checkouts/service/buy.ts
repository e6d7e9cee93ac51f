import { accountOf, type Caller } from '../../kit/caller.ts'
import { Departure } from '../../kit/departure.ts'
import { sampleInput } from '../../kit/fields.ts'
import { canonicalHash } from '../../kit/hash.ts'
import { deriveId, type Id } from '../../kit/ids.ts'
import { authorizationUsed } from '../../sales/errors.ts'
import { SIMULATED_SETTLING_MS, type Sale } from '../../sales/model.ts'
import { chosenTokenHash } from '../../sales/service/proof.ts'
import { createSelling } from '../../sales/service/sell.ts'
import type { Presented } from '../../x402/model.ts'
import { checkoutMissing, inTestMode, notInTestMode } from '../errors.ts'
import { ZERO_ADDRESS, type Checkout, type PaymentView, type SimulatedOutcome } from '../model.ts'
import { assertSells, paymentOf, simulatedAs } from '../rules/lifecycle.ts'
import type { Failures } from './failures.ts'
import type { Following } from './follow.ts'
import type { CheckoutDeps } from './deps.ts'
import { createCheckoutProduct, Unsold, valuesOf, type FormInput, type Order } from './product.ts'
import type { Showing } from './presenter.ts'
import type { Watching } from './watch.ts'

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
  /** Waits for the workflow's answer, if payers see it: an agent sends one request and does not poll. */
  waitsForResult?: boolean
}

/** Turns an input and an authorization into a payment. All errors in the request are reported before money moves. */
export function createBuying(deps: BuyingDeps) {
  const { store, selling, clock, showing, following } = deps
  const { journal } = selling
  const { product, preflight, quoteFor } = createCheckoutProduct(deps)
  const sales = createSelling(selling, product)

  async function pay(id: string, purchase: Purchase, operation: Id<'op'>): Promise<PaymentView> {
    const checkout = await store.find(id)
    if (checkout === null) throw checkoutMissing()
    const sale = await unlessUnsold(checkout, () => buy(checkout, purchase, operation))
    const view = await showing.sale({ payment: paymentOf(sale), checkout }, 'buyer')
    return purchase.waitsForResult === true && checkout.responseMode === 'lastNode'
      ? await following.rested(view)
      : view
  }

  async function buy(checkout: Checkout, purchase: Purchase, operation: Id<'op'>): Promise<Sale> {
    const { presented, token, paymentId: payment } = purchase
    if (presented === null && payment === null) return await simulate(checkout, purchase, operation)
    // The payment does not depend on the client's connection: a buyer who disconnects has paid all the same.
    const ask = { operation, presented, token, payment, departure: new Departure(), checkout, order: purchase }
    return (await sales.buy(ask)).sale
  }

  async function simulate(checkout: Checkout, purchase: Purchase, operation: Id<'op'>): Promise<Sale> {
    const id = deriveId('pay', operation)
    const inputHash = canonicalHash(purchase.input)
    const same = (known: Sale): Sale => {
      if (known.subject !== checkout.id || !known.inputHash.equals(inputHash)) throw authorizationUsed()
      return known
    }
    // A repeated request, found by its Idempotency-Key. Nothing is paid here, so the key is proof enough.
    const before = await journal.findById(id)
    if (before !== null) return same(before)
    assertSells(checkout, clock.now())
    if (!checkout.testMode) throw notInTestMode()
    const input = valuesOf(checkout, purchase)
    const quote = quoteFor(checkout, purchase)
    await preflight(checkout)
    const now = clock.now()
    const { outcome = 'paid', token } = purchase
    const sale: Sale = {
      id,
      product: 'checkout',
      subject: checkout.id,
      ...checkout.owner,
      handover: 'none',
      amount: quote.price,
      network: quote.network,
      recipient: quote.recipient,
      payer: ZERO_ADDRESS,
      simulated: true,
      digest: null,
      request: null,
      inputHash,
      bodyHash: null,
      tokenHash: chosenTokenHash(token),
      identifier: null,
      resource: null,
      details: { input, outcome },
      leaseUntil: null,
      createdAt: now,
      ...simulatedAs(outcome, id, now),
    }
    const resumeAt = sale.state === 'claimed' ? new Date(now.getTime() + SIMULATED_SETTLING_MS) : null
    if (await journal.simulated(sale, resumeAt)) return sale
    // The same request was repeated at the same time or after a lost answer.
    const twin = await journal.findById(id)
    if (twin === null) throw new Error('a simulated payment was not found')
    return same(twin)
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
      return showing.offer(checkout)
    },
  }
}

interface BuyingDeps extends CheckoutDeps {
  failures: Failures
  showing: Showing
  watching: Watching
  following: Pick<Following, 'rested'>
}
