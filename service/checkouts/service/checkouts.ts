import { toJsonSchema } from '../../kit/fields.ts'
import type { Owner } from '../../kit/owner.ts'
import type { ToolOffer } from '../../sales/model.ts'
import type { Checkout } from '../model.ts'
import type { CheckoutDeps } from './deps.ts'
import { createBuying } from './buy.ts'
import { createFailures } from './failures.ts'
import { createFollowing } from './follow.ts'
import { createLife } from './lifecycle.ts'
import { createShowing } from './presenter.ts'
import { createWatching } from './watch.ts'

/** Prices on workflows, and their sales. */
export function createCheckouts(deps: CheckoutDeps) {
  const failures = createFailures(deps)
  const showing = createShowing(deps)
  const watching = createWatching(deps)
  const following = createFollowing({ ...deps, showing })
  return {
    ...createLife(deps),
    ...createBuying({ ...deps, failures, showing, watching, following }),
    ...following,
    addressOf: (id: string): string => `${deps.addresses.pay}/${id}`,

    /** The owner's checkouts that sell until the owner ends them, as tools for models; the oldest first. */
    listTools: (owner: Owner, limit: number) => deps.store.listOffered(owner, limit, deps.clock.now()),

    /** By id. Those that do not sell any more are missing. */
    async toolOffers(owner: Owner, ids: readonly string[]): Promise<ReadonlyMap<string, ToolOffer>> {
      const offered = ids.length === 0 ? [] : await deps.store.findOffered(owner, ids, deps.clock.now())
      return new Map(offered.map((checkout) => [checkout.id, toolOfferOf(checkout)]))
    },

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

/** A checkout as a tool: its form is the input. */
export function toolOfferOf({
  product,
  price,
  fields,
  testMode,
}: Pick<Checkout, 'product' | 'price' | 'fields' | 'testMode'>): ToolOffer {
  return { ...product, input: toJsonSchema(fields), price, testMode }
}

export type Checkouts = ReturnType<typeof createCheckouts>
