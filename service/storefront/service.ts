import type { Clock } from '../kit/clock.ts'
import { DomainError } from '../kit/errors.ts'
import type { Environment } from '../kit/owner.ts'
import { Recent } from '../kit/recent.ts'
import type { ToolOffer } from '../sales/model.ts'
import { KINDS, type Assortment, type FoundProduct, type Kind, type Page } from './model.ts'
import type { AccountByHandle, ProductLists } from './ports.ts'
import { pageOf, withToolNames } from './rules.ts'

/** All that an account sells, under its handle. */
export function createStorefront({ accountByHandle, products, clock }: StorefrontDeps) {
  const known = new Recent<string, Promise<Assortment>>(KNOWN_MAX, { clock, forMs: KNOWN_MS })

  /** Requests of the same moment share one reading, however much an account sells. */
  async function open(handle: string, environment: Environment): Promise<Assortment> {
    const name = `${environment} ${handle}`
    const before = known.get(name)
    if (before !== undefined) return await before
    const assortment = read(handle, environment)
    known.put(name, assortment)
    assortment.then(
      ({ byTool }) => {
        known.put(name, assortment, byTool.size + 1)
      },
      () => {
        known.drop(name)
      },
    )
    return await assortment
  }

  async function read(handle: string, environment: Environment): Promise<Assortment> {
    const userId = await accountByHandle(handle)
    if (userId === null) throw storefrontMissing()
    const owner = { userId, environment }
    const lists = await Promise.all(
      KINDS.map(async (kind) =>
        (await products[kind].listTools(owner, LISTED_MAX)).map(({ former = false, ...product }) => {
          return { kind, ...product, former }
        }),
      ),
    )
    return { owner, ...withToolNames(lists.flat()) }
  }

  return {
    /** A page of what is on sale, and the cursor of the next one. Null for a cursor that is none of ours. */
    async page(handle: string, environment: Environment, cursor: string | undefined): Promise<Page | null> {
      const { owner, listed } = await open(handle, environment)
      const found = pageOf(listed, cursor)
      if (found === null) return null
      const { page, next } = found
      const offers = new Map<Kind, ReadonlyMap<string, ToolOffer>>()
      for (const kind of KINDS) {
        const ids = page.filter((one) => one.kind === kind).map(({ id }) => id)
        if (ids.length > 0) offers.set(kind, await products[kind].toolOffers(owner, ids))
      }
      const shown = page.flatMap((product) => {
        const offer = offers.get(product.kind)?.get(product.id)
        return offer === undefined ? [] : [{ product, offer }]
      })
      return { shown, next }
    },

    /** The product whose tool has this name, and whose it is. */
    async find(handle: string, environment: Environment, tool: string): Promise<FoundProduct | null> {
      const { owner, byTool } = await open(handle, environment)
      const product = byTool.get(tool)
      return product === undefined ? null : { ...product, owner }
    },
  }
}

export type Storefront = ReturnType<typeof createStorefront>

interface StorefrontDeps {
  accountByHandle: AccountByHandle
  products: Readonly<Record<Kind, ProductLists>>
  clock: Clock
}

function storefrontMissing(): DomainError {
  return new DomainError(
    'missing',
    'storefront_not_found',
    'Nothing is for sale at this address. Check the handle in it.',
  )
}

/** Of each kind; an account may have no more active checkouts. */
const LISTED_MAX = 1_000
/** A change is seen everywhere after this time. */
const KNOWN_MS = 2_000
/** Names of tools in memory, of which most products have two. */
const KNOWN_MAX = 100_000
