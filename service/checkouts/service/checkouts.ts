import type { CheckoutDeps } from './deps.ts'
import { createBuying } from './buy.ts'
import { createFailures } from './failures.ts'
import { createFollowing } from './follow.ts'
import { createLife } from './lifecycle.ts'
import { createShowing } from './presenter.ts'
import { createWatching } from './watch.ts'

/** A price on a workflow, and what is sold by it. */
export function createCheckouts(deps: CheckoutDeps) {
  const failures = createFailures(deps)
  const showing = createShowing(deps)
  const watching = createWatching(deps)
  const following = createFollowing({ ...deps, showing })
  return {
    ...createLife(deps),
    ...createBuying({ ...deps, failures, showing, watching, following }),
    ...following,

    /** After each attempt at a delivery to this checkout's callback. */
    attempted: watching.attempted,
    tellPaused: watching.tell,

    /** Ends what ends by itself, also what a process left that is gone. */
    sweepers: {
      leases: (now: Date): Promise<void> => deps.store.expireLeases(now),
      probes: watching.probe,
    },
  }
}

export type Checkouts = ReturnType<typeof createCheckouts>
