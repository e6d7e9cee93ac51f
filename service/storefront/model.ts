import type { Owner } from '../kit/owner.ts'
import type { ToolOffer } from '../sales/model.ts'

/** What an account sells, in the order of its lists. */
export const KINDS = ['checkout', 'asset', 'route'] as const
export type Kind = (typeof KINDS)[number]

/** Something on sale: `id` is unique within its kind, and never changes. */
export interface Product {
  kind: Kind
  id: string
  /** As its seller calls it. */
  name: string
  /** Of an asset, by which the marketplace knows it. */
  slug?: string
  /** Not for sale now, and in no list. Who has paid for it calls it again for the answer. */
  former?: boolean
}

/** A product with the name of its tool, which no other one has. */
export interface Listed extends Product {
  tool: string
}

/** All that an account has on sale in one environment. */
export interface Assortment {
  owner: Owner
  /** In the order of `KINDS`, and by id. */
  listed: readonly Listed[]
  /** By the names of tools, also those that a product would have if others had the same name. */
  byTool: ReadonlyMap<string, Listed>
}

/** A product and its owner. */
export type FoundProduct = Listed & { owner: Owner }

/** A part of what is on sale, with all that a client is shown of it. */
export interface Page {
  shown: readonly { product: Listed; offer: ToolOffer }[]
  /** The cursor of the next page; null on the last one. */
  next: string | null
}
