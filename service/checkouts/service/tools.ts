import type { Owner } from '../../kit/owner.ts'
import type { ToolOffer } from '../../sales/model.ts'
import type { Checkout } from '../model.ts'
import { inputSchemaOf, priceInWords } from '../rules/choice.ts'
import { assertShown } from '../rules/lifecycle.ts'
import type { CheckoutDeps } from './deps.ts'

/** Checkouts as tools for models. */
export function createCheckoutTools({ store, clock, answersKeptMs }: CheckoutDeps) {
  return {
    /**
     * The owner's checkouts that sell until the owner ends them. `former` ones have ended or are paused, and
     * are there for those who have paid, as long as answers are stored.
     */
    async listTools(owner: Owner, limit: number) {
      const now = clock.now()
      const since = new Date(answersKeptMs === null ? 0 : now.getTime() - answersKeptMs)
      const [offered, former] = await Promise.all([
        store.listOffered(owner, limit, now),
        store.listFormer(owner, limit, { now, since }),
      ])
      return [...offered, ...former.map((checkout) => ({ ...checkout, former: true }))]
    },

    /** The tool at the checkout's own address. */
    async tool(id: string): Promise<ToolOffer> {
      return toolOfferOf(assertShown(await store.find(id), clock.now()))
    },

    /** By id. Those that do not sell any more are missing. */
    async toolOffers(owner: Owner, ids: readonly string[]): Promise<ReadonlyMap<string, ToolOffer>> {
      const offered = ids.length === 0 ? [] : await store.findOffered(owner, ids, clock.now())
      return new Map(offered.map((checkout) => [checkout.id, toolOfferOf(checkout)]))
    },
  }
}

/** A checkout as a tool: its form is the input. */
function toolOfferOf(checkout: Checkout): ToolOffer {
  const { product, testMode } = checkout
  return { ...product, input: inputSchemaOf(checkout), price: priceInWords(checkout), testMode }
}
