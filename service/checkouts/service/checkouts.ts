import type { CheckoutDeps } from './deps.ts'
import { createBuying } from './buy.ts'
import { createFailures } from './failures.ts'
import { createFollowing } from './follow.ts'
import { createLife } from './lifecycle.ts'
import { createPurchases } from './purchases.ts'
import { createShowing } from './presenter.ts'
import { createWatching } from './watch.ts'

/** Prices on workflows, and their sales. */
export function createCheckouts(deps: CheckoutDeps) {
  const failures = createFailures(deps)
  const showing = createShowing(deps)
  const watching = createWatching(deps)
  const { looks, named, find, ...purchases } = createPurchases({ ...deps, showing })
  return {
    ...createLife(deps),
    ...createBuying({ ...deps, failures, showing, watching, purchases }),
    ...createFollowing({ ...deps, showing, purchases: { looks, named, find } }),
    ...purchases,
    addressOf: (id: string): string => `${deps.addresses.pay}/${id}`,

    /** Called after each attempt at a delivery to this checkout's callback. */
    attempted: watching.attempted,
    tellPaused: watching.tell,

    /** Ends what ends by time, including what a dead process left behind. */
    sweepers: {
      leases: (now: Date): Promise<void> => deps.store.expireLeases(now),
      probes: watching.probe,
    },
  }
}

export type Checkouts = ReturnType<typeof createCheckouts>
