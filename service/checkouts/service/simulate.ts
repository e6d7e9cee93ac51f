import { deriveId, type Id } from '../../kit/ids.ts'
import { simulatedSale } from '../../methods/simulated/begin.ts'
import { simulatedAs } from '../../methods/simulated/outcome.ts'
import { nextStep } from '../../methods/simulated/settle.ts'
import { authorizationUsed } from '../../sales/errors.ts'
import type { Sale } from '../../sales/model.ts'
import { assertFirst, chosenTokenHash } from '../../sales/service/proof.ts'
import { notInTestMode } from '../errors.ts'
import { isLate, type Checkout } from '../model.ts'
import { assertSells } from '../rules/lifecycle.ts'
import { assertCosts } from '../rules/price.ts'
import type { CheckoutDeps } from './deps.ts'
import {
  assertReachable,
  detailsOf,
  hashOf,
  type createCheckoutProduct,
  type Purchase,
  type WithCoupon,
} from './product.ts'

/** In test mode: a sale that ends as its buyer wants, without money. */
export function createSimulation({ selling: { journal, tokens }, clock, preflight, dealFor }: SimulationDeps) {
  return async function simulate(
    checkout: Checkout,
    purchase: Purchase & WithCoupon,
    operation: Id<'op'>,
  ): Promise<Sale> {
    const id = deriveId('pay', operation)
    const inputHash = hashOf(purchase)
    const same = (known: Sale): Sale => {
      if (known.subject !== checkout.id || !known.inputHash.equals(inputHash)) throw authorizationUsed()
      // An order's link may be known to others than who was first to pay it.
      assertFirst(tokens, known, purchase.token)
      return known
    }
    // A repeated request, found by its Idempotency-Key. Nothing is paid here, so the key is proof enough where its
    // client chose no token.
    const before = await journal.findById(id)
    if (before !== null) return same(before)
    assertSells(checkout, clock.now())
    if (!checkout.testMode) throw notInTestMode()
    assertReachable(checkout)
    const deal = dealFor(checkout, purchase)
    const { quote } = deal
    assertCosts(deal.lines)
    await preflight(checkout, purchase)
    const now = clock.now()
    const { outcome = 'paid', token } = purchase
    const holds = isLate(checkout.capture)
    const sale = simulatedSale({
      id,
      product: 'checkout',
      subject: checkout.id,
      ...checkout.owner,
      handover: 'none',
      amount: quote.price,
      network: quote.network,
      recipient: quote.recipient,
      inputHash,
      tokenHash: chosenTokenHash(token),
      details: { ...detailsOf(deal, checkout, purchase), outcome },
      createdAt: now,
      ...simulatedAs(outcome, id, { now, holds }),
      leaseUntil: holds ? new Date(now.getTime() + checkout.runSeconds * 1_000) : null,
    })
    const resumeAt = sale.endedAt === null ? nextStep(now) : null
    if (await journal.simulated(sale, resumeAt)) return sale
    // The same request was repeated at the same time or after a lost answer.
    const twin = await journal.findById(id)
    if (twin === null) throw new Error('a simulated payment was not found')
    return same(twin)
  }
}

interface SimulationDeps
  extends
    Pick<CheckoutDeps, 'selling' | 'clock'>,
    Pick<ReturnType<typeof createCheckoutProduct>, 'preflight' | 'dealFor'> {}
