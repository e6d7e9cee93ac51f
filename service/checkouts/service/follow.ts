import { setTimeout as wait } from 'node:timers/promises'
import type { AnsweredDelivery } from '../../deliveries/model.ts'
import { accountOf, type Caller } from '../../kit/caller.ts'
import { Batch } from '../../kit/batch.ts'
import type { Address, Hex } from '../../chain/model.ts'
import type { NetworkName } from '../../chain/networks.ts'
import { deriveId, isId, type Id } from '../../kit/ids.ts'
import type { Sale } from '../../sales/model.ts'
import { paymentRefused } from '../../sales/errors.ts'
import { proofOfOwnCall, type BuyerProof } from '../../sales/service/proof.ts'
import { checkoutMissing, paymentMissing } from '../errors.ts'
import type { Checkout, CheckoutView, Payment, PaymentView } from '../model.ts'
import type { Page } from '../ports.ts'
import { ANSWER_MS, assertShown, isAtRest, pauseBetweenLooks, paymentOf, statusOf } from '../rules/lifecycle.ts'
import type { CheckoutDeps } from './deps.ts'
import type { Showing, Viewer } from './presenter.ts'

/** Read access: payers use the ids that they know, owners see everything that is theirs. */
export function createFollowing({ store, selling, sales, deliveries, clock, showing }: FollowingDeps) {
  const { journal, tokens, method } = selling

  // Every follower polls; the polls of the same moment share one query.
  const looks = new Batch<string, { payment: Payment | null; delivery: AnsweredDelivery | undefined }>({
    largest: 200,
    async run(ids) {
      const [found, delivered] = await Promise.all([sales.findAll(ids), deliveries.bySubject(null, ids)])
      return ids.map((id) => {
        const sale = found.get(id)
        return { payment: sale === undefined ? null : paymentOf(sale), delivery: delivered.get(id) }
      })
    },
  })

  /** A payment with its checkout, in any state; null if there is none. */
  async function boughtBy(id: string): Promise<Bought | null> {
    return await boughtAs(isId('pay', id) ? await journal.findById(id) : null)
  }

  async function boughtAs(sale: Sale | null): Promise<Bought | null> {
    const checkout = sale?.product === 'checkout' ? await store.find(sale.subject) : null
    return sale === null || checkout === null ? null : { sale, payment: paymentOf(sale), checkout }
  }

  async function shown(bought: Bought | null): Promise<Purchased | null> {
    if (bought === null) return null
    const view = await showing.sale(bought, 'buyer')
    return { sale: bought.sale, view, isDone: isDone(bought, view) }
  }

  /** Nothing more is waited for: neither the payment nor the answer, if payers see one. */
  function isDone({ checkout, sale: { state, endedAt } }: Bought, view: PaymentView): boolean {
    if (state !== 'paid') return state === 'failed'
    if (checkout.responseMode !== 'lastNode' || isAtRest(view)) return true
    // A workflow that refuses is tried again for days. One that runs has its own limit.
    return view.delivery?.status !== 'claimed' && clock.now().getTime() - (endedAt?.getTime() ?? 0) > ANSWER_MS
  }

  async function find(checkout: string, id: string): Promise<Bought> {
    const bought = await boughtBy(id)
    if (bought?.checkout.id !== checkout) throw paymentMissing()
    return bought
  }

  function viewerOf({ sale }: Bought, token: string | null): Viewer {
    return tokens.matches(sale.id, sale.tokenHash, token) ? 'buyer' : 'anyone'
  }

  async function looked<T>({ ms = PATIENCE_MS, gone, onStep }: Patience, look: () => Promise<Look<T>>): Promise<T> {
    const began = clock.now().getTime()
    for (;;) {
      const { seen, view, isOver: over } = await look()
      const age = clock.now().getTime() - began
      if (over || age > ms || gone?.aborted === true) return seen
      onStep?.(view, age)
      await wait(pauseBetweenLooks(age), undefined, gone === undefined ? {} : { signal: gone }).catch(() => undefined)
    }
  }

  return {
    /** The offer, for every client with the link; an expired checkout has none. */
    async view(id: string): Promise<CheckoutView> {
      const checkout = await store.find(id)
      return showing.checkout(assertShown(checkout, clock.now()))
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
      const sale = await boughtBy(id)
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

    /** The payment with the workflow's answer; without the answer if that takes too long. */
    async rested({ payment: { id, checkoutId } }: PaymentView, patience: Patience): Promise<PaymentView> {
      const { checkout: at } = await find(checkoutId, id)
      return await looked(patience, async () => {
        const { payment, delivery } = await looks.add(id)
        if (payment === null) throw paymentMissing()
        const view = showing.payment(payment, at, delivery, 'buyer')
        return { seen: view, view, isOver: payment.state === 'settling' || isAtRest(view) }
      })
    },

    /**
     * What the payment of this operation has come to, or its state after so long. Null when there is none. Throws when
     * it has failed. The caller must be the one who made the operation.
     */
    async ended(operation: Id<'op'>, patience: Patience): Promise<Ended | null> {
      const id = deriveId('pay', operation)
      const payment = await looked(patience, async () => {
        const { payment: seen } = await looks.add(id)
        return { seen, view: null, isOver: seen?.state === 'paid' || seen?.state === 'failed' }
      })
      if (payment === null) return null
      if (payment.state === 'failed') throw paymentRefused(payment.reason, { ...payment, product: 'checkout' })
      return { proof: proofOfOwnCall(tokens, id), isPaid: payment.state === 'paid' }
    },

    /** For who made the operation. */
    boughtBy: async (operation: Id<'op'>): Promise<Purchased | null> => shown(await boughtBy(deriveId('pay', operation))),

    /** For the account that signed this authorization. */
    async boughtWith({ network, payer, nonce }: Signed): Promise<Purchased | null> {
      const digest = await method.digestBy(network, payer, nonce)
      return await shown(await boughtAs(digest === null ? null : await journal.find(digest)))
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

interface Bought {
  sale: Sale
  payment: Payment
  checkout: Checkout
}

/** A payment, and the proof that fetches its answer. */
export interface Ended {
  proof: BuyerProof
  isPaid: boolean
}

/** A sale as its buyer sees it. */
export interface Purchased {
  sale: Sale
  view: PaymentView
  /** Nothing more is waited for. */
  isDone: boolean
}

/** How long a client waits, and how it hears of it. */
export interface Patience {
  /** 25 s when absent. */
  ms?: number
  /** Ends the waiting. */
  gone?: AbortSignal
  /** Called at each look. The view is null before there is a payment. */
  onStep?(view: PaymentView | null, ageMs: number): void
}

interface Look<T> {
  seen: T
  view: PaymentView | null
  isOver: boolean
}

/** What names an authorization. */
export interface Signed {
  network: NetworkName
  payer: Address
  nonce: Hex
}

interface FollowingDeps extends CheckoutDeps {
  showing: Showing
}

/** A payment as the owner sees it, with the customer's input. */
export interface Sold extends PaymentView {
  input: Payment['input']
}

export type Following = ReturnType<typeof createFollowing>

const FOLLOWED_MS = 600_000
/** Clients and proxies time out after half a minute or a minute; the status URL has the rest. */
const PATIENCE_MS = 25_000
