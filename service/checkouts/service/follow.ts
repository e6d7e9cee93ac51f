import { setTimeout as wait } from 'node:timers/promises'
import { accountOf, type Caller } from '../../kit/caller.ts'
import type { Span } from '../../kit/clock.ts'
import type { Content } from '../../files/model.ts'
import { checkoutMissing, notPaidYet, paymentMissing } from '../errors.ts'
import type { Checkout, Payment } from '../model.ts'
import type { CheckoutView, PaymentView, RequestView } from '../views.ts'
import type { Page } from '../stores.ts'
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
  files,
  brands,
  disputes,
  clock,
  showing,
  purchases,
}: FollowingDeps) {
  const { tokens } = selling

  const { looks, find, named } = purchases

  async function withRefunds(bought: Bought): Promise<Bought> {
    const [payment = bought.payment] = await purchases.withRefunds([bought.payment])
    return { ...bought, payment }
  }

  function viewerOf({ sale }: Bought, token: string | null): Viewer {
    return tokens.matches(sale.id, sale.tokenHash, token) ? 'buyer' : 'anyone'
  }

  async function withBrand({ owner }: Pick<Checkout, 'owner'>, view: CheckoutView): Promise<CheckoutView> {
    return { ...view, brand: await brands.shown(owner) }
  }

  return {
    /** The offer, for every client with the link; an expired checkout has none. */
    async view(id: string): Promise<CheckoutView> {
      const checkout = assertShown(await store.find(id), clock.now())
      const [trackRecord, brand] = await Promise.all([disputes.trackRecord(checkout.id), brands.shown(checkout.owner)])
      return { ...showing.checkout(checkout), trackRecord, brand }
    },

    /** For a payment whose checkout may have expired meanwhile. */
    async viewOrNull(id: string): Promise<CheckoutView | null> {
      const checkout = await store.find(id)
      if (checkout === null || statusOf(checkout, clock.now()) === 'expired') return null
      return await withBrand(checkout, showing.checkout(checkout))
    },

    async payment(checkout: string, id: string, token: string | null): Promise<PaymentView> {
      const sale = await find(checkout, id)
      const viewer = viewerOf(sale, token)
      return await showing.sale(viewer === 'anyone' ? sale : await withRefunds(sale), viewer)
    },

    /** The file that this payment bought, for its buyer, in any state of the checkout. */
    async file(checkout: string, id: string, token: string | null): Promise<Content> {
      const bought = await find(checkout, id)
      const { after } = bought.checkout
      if (viewerOf(bought, token) !== 'buyer' || after.kind !== 'file') throw paymentMissing()
      if (bought.payment.state !== 'paid') throw notPaidYet()
      return await files.content(after.fileId)
    },

    /** For the buyer, in any state of the checkout; null for other viewers. */
    async receipt(id: string, token: string | null): Promise<{ view: CheckoutView; payment: PaymentView } | null> {
      const sale = await named(id)
      if (sale === null || viewerOf(sale, token) !== 'buyer') return null
      const view = await withBrand(sale.checkout, showing.checkout(sale.checkout))
      return { view, payment: await showing.sale(await withRefunds(sale), 'buyer') }
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
          if (isAtRest(view) && !view.requests.some(isOpen)) return
          const age = clock.now().getTime() - began
          // A browser that still follows reconnects by itself.
          if (age > FOLLOWED_MS) return
          await wait(pauseBetweenLooks(age), undefined, { signal: gone }).catch(() => undefined)
        }
      }
    },

    conversion: (caller: Caller, span: Span) => store.conversion(accountOf(caller), span),

    async sales(caller: Caller, checkout: string, page: Page): Promise<{ sales: Sold[]; total: number }> {
      const owner = accountOf(caller)
      const at = await store.findOwn(owner, checkout)
      if (at === null) throw checkoutMissing()
      const listed = await sales.list(owner, at.id, page)
      const delivered = await deliveries.bySubject(
        owner,
        listed.sales.map(({ id }) => id),
      )
      const payments = await showing.withDetails(listed.sales.map(paymentOf))
      const shown = payments.map((payment) => ({
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

/** Its end is shown where it is followed. */
function isOpen({ status }: RequestView): boolean {
  return status === 'open' || status === 'paying'
}

const FOLLOWED_MS = 600_000

interface FollowingDeps extends CheckoutDeps {
  showing: Showing
  purchases: Pick<Purchases, 'looks' | 'find' | 'named' | 'withRefunds'>
}
