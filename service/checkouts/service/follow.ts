import { setTimeout as wait } from 'node:timers/promises'
import { accountOf, type Caller } from '../../kit/caller.ts'
import { checkoutMissing } from '../errors.ts'
import type { CheckoutView, Payment, PaymentView } from '../model.ts'
import type { Page } from '../ports.ts'
import { assertShown, isAtRest, pauseBetweenLooks, paymentOf, statusOf } from '../rules/lifecycle.ts'
import type { CheckoutDeps } from './deps.ts'
import type { Showing, Viewer } from './presenter.ts'
import type { Bought, Purchases } from './purchases.ts'

/** Read access: payers use the ids that they know, owners see everything that is theirs. */
export function createFollowing({
  store,
  selling,
  sales,
  deliveries,
  disputes,
  clock,
  showing,
  purchases,
}: FollowingDeps) {
  const { tokens } = selling
  const { looks, find, named } = purchases

  function viewerOf({ sale }: Bought, token: string | null): Viewer {
    return tokens.matches(sale.id, sale.tokenHash, token) ? 'buyer' : 'anyone'
  }

  return {
    /** The offer, for every client with the link; an expired checkout has none. */
    async view(id: string): Promise<CheckoutView> {
      const checkout = await store.find(id)
      const view = showing.checkout(assertShown(checkout, clock.now()))
      return { ...view, trackRecord: await disputes.trackRecord(view.checkout.id) }
    },

    /** For a payment whose checkout may have expired meanwhile. */
    async viewOrNull(id: string): Promise<CheckoutView | null> {
      const checkout = await store.find(id)
      return checkout === null || statusOf(checkout, clock.now()) === 'expired' ? null : showing.checkout(checkout)
    },

    async payment(checkout: string, id: string, token: string | null): Promise<PaymentView> {
      const sale = await find(checkout, id)
      return await showing.sale(sale, viewerOf(sale, token))
    },

    /** For the buyer, in any state of the checkout; null for other viewers. */
    async receipt(id: string, token: string | null): Promise<{ view: CheckoutView; payment: PaymentView } | null> {
      const sale = await named(id)
      if (sale === null || viewerOf(sale, token) !== 'buyer') return null
      return { view: showing.checkout(sale.checkout), payment: await showing.sale(sale, 'buyer') }
    },

    /** Yields each state from now on, until no change is expected or the reader disconnects. */
    async follow(
      checkout: string,
      id: string,
      token: string | null,
    ): Promise<(gone: AbortSignal) => AsyncIterable<PaymentView>> {
      const sale = await find(checkout, id)
      const { checkout: at } = sale
      const viewer = viewerOf(sale, token)
      return async function* (gone) {
        const began = clock.now().getTime()
        let last = ''
        while (!gone.aborted) {
          const { payment, delivery } = await looks.add(id)
          if (payment === null) return
          const view = showing.payment(payment, at, delivery, viewer)
          const said = JSON.stringify(view)
          if (said !== last) yield view
          last = said
          if (isAtRest(view)) return
          const age = clock.now().getTime() - began
          // A browser that still follows reconnects by itself.
          if (age > FOLLOWED_MS) return
          await wait(pauseBetweenLooks(age), undefined, { signal: gone }).catch(() => undefined)
        }
      }
    },

    days: (caller: Caller, since: Date) => store.days(accountOf(caller), since),

    async sales(caller: Caller, checkout: string, page: Page): Promise<{ sales: Sold[]; total: number }> {
      const owner = accountOf(caller)
      const at = await store.findOwn(owner, checkout)
      if (at === null) throw checkoutMissing()
      const listed = await sales.list(owner, at.id, page)
      const delivered = await deliveries.bySubject(
        owner,
        listed.sales.map(({ id }) => id),
      )
      const shown = listed.sales.map(paymentOf).map((payment) => ({
        ...showing.payment(payment, at, delivered.get(payment.id), 'owner'),
        input: payment.input,
      }))
      return { sales: shown, total: listed.total }
    },
  }
}

/** A payment as the owner sees it, with the customer's input. */
export interface Sold extends PaymentView {
  input: Payment['input']
}

const FOLLOWED_MS = 600_000

interface FollowingDeps extends CheckoutDeps {
  showing: Showing
  purchases: Pick<Purchases, 'looks' | 'find' | 'named'>
}
