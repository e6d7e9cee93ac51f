import type { CheckoutParts } from './service/parts.ts'
import { createBuying } from './service/buy.ts'
import { createFailures } from './service/failures.ts'
import { createFollowing } from './service/follow.ts'
import { createLife } from './service/life.ts'
import { createShowing } from './service/show.ts'
import { createWatching } from './service/watch.ts'

/** A price on a workflow, and what is sold by it. */
export function createCheckouts(parts: CheckoutParts) {
  const failures = createFailures(parts)
  const showing = createShowing(parts)
  const watching = createWatching(parts)
  const following = createFollowing({ ...parts, showing })
  return {
    ...createLife(parts),
    ...createBuying({ ...parts, failures, showing, watching, following }),
    ...following,

    /** After each attempt at a delivery to this checkout's callback. */
    attempted: watching.attempted,
    tellPaused: watching.tell,

    /** Ends what ends by itself, also what a process left that is gone. */
    sweepers: {
      leases: (now: Date): Promise<void> => parts.store.expireLeases(now),
      probes: watching.probe,
    },
  }
}

export type Checkouts = ReturnType<typeof createCheckouts>
