import { setTimeout as wait } from 'node:timers/promises'
import type { AnsweredDelivery } from '../../deliveries/model.ts'
import { Batch } from '../../kit/batch.ts'
import { deriveId, isId, relatedId, type Id } from '../../kit/ids.ts'
import { wasPaid, type Sale } from '../../sales/model.ts'
import { proofOfOwnCall, type BuyerProof } from '../../sales/service/proof.ts'
import { paymentMissing } from '../errors.ts'
import { isLate, type Checkout, type Payment } from '../model.ts'
import type { PaymentView } from '../views.ts'
import { whyUnpaid } from '../rules/capture.ts'
import { ANSWERED_MS, isAtRest, pauseBetweenLooks, paymentOf } from '../rules/lifecycle.ts'
import { versionOf } from '../rules/versions.ts'
import type { CheckoutDeps } from './deps.ts'
import type { Showing } from './presenter.ts'

/** Purchases under way, for the clients that wait for them or come back for them. */
export function createPurchases({ store, selling, sales, refunds, deliveries, clock, showing }: PurchaseDeps) {
  const { journal, tokens } = selling

  // Every follower polls; the polls of the same moment share one query.
  const looks = new Batch<string, { payment: Payment | null; delivery: AnsweredDelivery | undefined }>({
    largest: 200,
    async run(ids) {
      const [found, delivered] = await Promise.all([sales.findAll(ids), deliveries.bySubject(null, ids)])
      const payments = await showing.withDetails(await withRefunds([...found.values()].map(paymentOf)))
      const byId = new Map<string, Payment>(payments.map((payment) => [payment.id, payment]))
      return ids.map((id) => ({ payment: byId.get(id) ?? null, delivery: delivered.get(id) }))
    },
  })

  async function withRefunds(payments: readonly Payment[]): Promise<Payment[]> {
    const shown = await refunds.shown(payments.filter(({ state }) => state === 'paid'))
    return payments.map((payment) => ({ ...payment, refunds: shown.get(payment.id) ?? [] }))
  }

  /** A payment with its checkout, in any state; null if there is none. */
  async function named(id: string): Promise<Bought | null> {
    return await boughtAs(isId('pay', id) ? await journal.findById(id) : null)
  }

  async function boughtAs(sale: Sale | null): Promise<Bought | null> {
    const checkout = sale?.product === 'checkout' ? await store.find(sale.subject, versionOf(sale)) : null
    return sale === null || checkout === null ? null : { sale, payment: paymentOf(sale), checkout }
  }

  async function find(checkout: string, id: string): Promise<Bought> {
    const bought = await named(id)
    if (bought?.checkout.id !== checkout) throw paymentMissing()
    return bought
  }

  async function shown(bought: Bought | null): Promise<Purchased | null> {
    if (bought === null) return null
    const view = await showing.sale(bought, 'buyer')
    return { sale: bought.sale, view, isDone: isDone(bought, view) }
  }

  function isDone({ checkout, sale }: Bought, view: PaymentView): boolean {
    const { state, endedAt } = sale
    if (!wasPaid(sale)) return state === 'failed'
    if (checkout.responseMode !== 'lastNode' || isAtRest(view)) return true
    // A workflow that refuses is tried again for days. One that runs has its own limit.
    return view.delivery?.status !== 'claimed' && clock.now().getTime() - (endedAt?.getTime() ?? 0) > ANSWERED_MS
  }

  async function looked<T>({ ms = PATIENCE_MS, gone, onStep }: Patience, look: () => Promise<Look<T>>): Promise<T> {
    const began = clock.now().getTime()
    for (;;) {
      const { seen, view, isOver } = await look()
      const age = clock.now().getTime() - began
      if (isOver || age >= ms || gone?.aborted === true) return seen
      onStep?.(view, age)
      await wait(pauseBetweenLooks(age), undefined, gone === undefined ? {} : { signal: gone }).catch(() => undefined)
    }
  }

  return {
    looks,
    withRefunds,
    named,
    find,

    /** The payment with the workflow's answer; without the answer if that takes too long. */
    async rested({ payment: { id, checkoutId } }: PaymentView, patience: Patience): Promise<PaymentView> {
      const { checkout: at } = await find(checkoutId, id)
      return await looked(patience, async () => {
        const { payment, delivery } = await looks.add(id)
        if (payment === null) throw paymentMissing()
        const view = showing.payment(payment, at, delivery, 'buyer')
        // A settlement may take long. One that follows the success of the work was preceded by its answer.
        const settles = payment.state === 'settling' && !isLate(payment.capture)
        return { seen: view, view, isOver: settles || isAtRest(view) }
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
      if (payment.state === 'failed') throw whyUnpaid({ ...payment, product: 'checkout' })
      return { proof: proofOfOwnCall(tokens, id), isPaid: payment.state === 'paid' }
    },

    /**
     * The operation of a call that a client repeats without a state: the first one of this session and this request
     * whose answer was not handed over. Null after too many.
     */
    async unanswered(session: Id<'op'>, request: string): Promise<Id<'op'> | null> {
      const operations = Array.from({ length: REPEATED_MAX }, (_, at) => relatedId(session, `${request} ${String(at)}`))
      const found = await sales.findAll(operations.map((operation) => deriveId('pay', operation)))
      const isOpen = (operation: Id<'op'>): boolean => {
        const sale = found.get(deriveId('pay', operation))
        return sale === undefined || (sale.handover === 'none' && sale.state !== 'failed')
      }
      return operations.find(isOpen) ?? null
    },

    /** The answer was handed over, so the same call buys again. */
    async answered({ payment, delivery }: PaymentView): Promise<void> {
      const { checkout } = await find(payment.checkoutId, payment.id)
      const isWhole = checkout.responseMode !== 'lastNode' || isAtRest({ payment, delivery })
      if (isWhole) await journal.handedOver(payment.id)
    },

    /** For the client that made the operation. */
    boughtBy: async (operation: Id<'op'>): Promise<Purchased | null> => shown(await named(deriveId('pay', operation))),

    /** For the account that bought it. Null where it was not bought at a checkout. */
    purchased: async (sale: Sale | null): Promise<Purchased | null> => shown(await boughtAs(sale)),
  }
}

export type Purchases = ReturnType<typeof createPurchases>

export interface Bought {
  sale: Sale
  payment: Payment
  checkout: Checkout
}

/** A payment, and the proof that fetches its answer. */
interface Ended {
  proof: BuyerProof
  isPaid: boolean
}

/** A sale as its buyer sees it. */
export interface Purchased {
  sale: Sale
  view: PaymentView
  /** Nothing more is waited for: neither the payment nor the answer, if payers see one. */
  isDone: boolean
}

/** How long a client waits, and how it hears of it. */
export interface Patience {
  /** `PATIENCE_MS` when absent. */
  ms?: number
  /** Ends the waiting. */
  gone?: AbortSignal
  /** Called at each look. The view is null before there is a payment. */
  onStep?(view: PaymentView | null, ageMs: number): void
}

/** Clients and proxies time out after half a minute or a minute; the status URL has the rest. */
const PATIENCE_MS = 25_000

/** How often a person can pay for the same call in one session. */
const REPEATED_MAX = 20

interface Look<T> {
  seen: T
  view: PaymentView | null
  isOver: boolean
}

interface PurchaseDeps extends CheckoutDeps {
  showing: Showing
}
