import type { Attempted } from '../../deliveries/model.ts'
import { accountOf, type Caller } from '../../kit/caller.ts'
import { toJsonSchema } from '../../kit/fields.ts'
import { deriveId, newId } from '../../kit/ids.ts'
import type { Owner } from '../../kit/owner.ts'
import type { ToolOffer } from '../../sales/model.ts'
import type { Checkout, CheckoutView, PaymentView, Terms } from '../model.ts'
import { FAILED_STATUS } from '../rules/capture.ts'
import { HELD, newCheckout } from '../rules/lifecycle.ts'
import type { CheckoutDeps } from './deps.ts'
import { createBuying } from './buy.ts'
import { createCapturing, type Report } from './capture.ts'
import { createPaymentEvents } from './payment-events.ts'
import { createFollowing } from './follow.ts'
import { createLife } from './lifecycle.ts'
import { createPurchases } from './purchases.ts'
import { createShowing } from './presenter.ts'
import { createWatching } from './watch.ts'

/** Prices on workflows, and their sales. */
export function createCheckouts(deps: CheckoutDeps) {
  const events = createPaymentEvents(deps)
  const showing = createShowing(deps)
  const watching = createWatching(deps)
  const capturing = createCapturing(deps)
  const { looks, named, find, ...purchases } = createPurchases({ ...deps, showing })
  return {
    ...createLife(deps),
    ...createBuying({ ...deps, events, showing, watching, purchases }),
    ...createFollowing({ ...deps, showing, purchases: { looks, named, find } }),
    ...purchases,
    addressOf: (id: string): string => `${deps.addresses.pay}/${id}`,

    /** What buyers would see of these terms. Nothing is stored. */
    async preview(caller: Caller, wanted: Terms): Promise<CheckoutView> {
      const owner = accountOf(caller)
      const terms = { ...wanted, recipient: wanted.recipient ?? (await deps.walletAddress(owner)) }
      const now = deps.clock.now()
      return showing.checkout(newCheckout(deriveId('chk', newId('op', now)), owner, terms, now))
    },

    /** The owner's checkouts that sell until the owner ends them, as tools for models; the oldest first. */
    listTools: (owner: Owner, limit: number) => deps.store.listOffered(owner, limit, deps.clock.now()),

    /** By id. Those that do not sell any more are missing. */
    async toolOffers(owner: Owner, ids: readonly string[]): Promise<ReadonlyMap<string, ToolOffer>> {
      const offered = ids.length === 0 ? [] : await deps.store.findOffered(owner, ids, deps.clock.now())
      return new Map(offered.map((checkout) => [checkout.id, toolOfferOf(checkout)]))
    },

    /** Called after each attempt at a delivery to this checkout's callback. It is a hint that may be lost. */
    async attempted(target: string, attempt: Attempted): Promise<void> {
      const isHeld = attempt.headers[HELD_HEADER] === HELD[HELD_HEADER]
      // A 410 to a held order says that this order has failed, and not that the workflow is gone.
      if (!isHeld || attempt.status !== FAILED_STATUS) await watching.attempted(target, attempt)
      if (isHeld) await capturing.ended(attempt.subject)
    },
    deliveryFailed: capturing.deliveryFailed,
    deliveryEnded: capturing.ended,
    mayRedeliver: capturing.mayRedeliver,
    /** The seller reports how the work that a payment bought has ended. */
    async report(caller: Caller, payment: string, report: Report): Promise<PaymentView> {
      const { id, subject } = await capturing.report(caller, payment, report)
      return await showing.sale(await find(subject, id), 'owner')
    },
    tellPaused: watching.tell,

    /** Ends what ends by time, including what a dead process left behind. */
    sweepers: {
      leases: (now: Date): Promise<void> => deps.store.expireLeases(now),
      probes: watching.probe,
      held: (): Promise<void> => capturing.sweep(),
    },
  }
}

/** A checkout as a tool: its form is the input. */
export function toolOfferOf({
  product,
  price,
  fields,
  testMode,
}: Pick<Checkout, 'product' | 'price' | 'fields' | 'testMode'>): ToolOffer {
  return { ...product, input: toJsonSchema(fields), price, testMode }
}

const HELD_HEADER = 'coinslot-capture'

export type Checkouts = ReturnType<typeof createCheckouts>
