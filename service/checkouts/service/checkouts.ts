import type { Attempted } from '../../deliveries/model.ts'
import type { Caller } from '../../kit/caller.ts'
import type { PaymentView } from '../model.ts'
import { HELD } from '../rules/lifecycle.ts'
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

    /** Called after each attempt at a delivery to this checkout's callback. It is a hint that may be lost. */
    async attempted(target: string, attempt: Attempted): Promise<void> {
      await watching.attempted(target, attempt)
      if (attempt.headers[HELD_HEADER] === HELD[HELD_HEADER]) await capturing.ended(attempt.subject)
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

const HELD_HEADER = 'coinslot-capture'

export type Checkouts = ReturnType<typeof createCheckouts>
