import type { CheckoutDeps } from './service/parts.ts'
import { createBuying } from './service/buy.ts'
import { createFailures } from './service/failures.ts'
import { createFollowing } from './service/follow.ts'
import { createLife } from './service/life.ts'
import { createShowing } from './service/show.ts'
import { createWatching } from './service/watch.ts'

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
