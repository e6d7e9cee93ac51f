import type { Address } from '../../chain/model.ts'
import type { Clock } from '../../kit/clock.ts'
import { invalid } from '../../kit/errors.ts'
import { Recent } from '../../kit/recent.ts'
import type { Filter, Listed, Page } from '../model.ts'
import type { CatalogueStore } from '../ports.ts'
import { queriesOf } from '../rules/entry.ts'

/** Finds what is for sale. */
export function createCatalogue(
  store: Pick<CatalogueStore, 'list' | 'total' | 'search' | 'ofMerchant'>,
  { clock }: { clock: Clock },
) {
  const totals = new Recent<string, number>(TOTALS_MAX, { clock, forMs: TOTALS_MS })

  /** Counting reads every entry, so the total may be a second old. */
  async function totalOf(filter: Filter): Promise<number> {
    const key = JSON.stringify(filter)
    const known = totals.get(key)
    if (known !== undefined) return known
    const total = await store.total(filter)
    totals.put(key, total)
    return total
  }

  return {
    async list(filter: Filter, page: Page): Promise<{ entries: readonly Listed[]; total: number }> {
      const [entries, total] = await Promise.all([store.list(filter, page), totalOf(filter)])
      return { entries, total }
    },
    ofMerchant: (payTo: Address, page: Page) => store.ofMerchant(payTo, page),

    /** The entries with all words. Where there are none, the entries with any of them. */
    async search(
      text: string,
      filter: Filter,
      { limit, cursor }: { limit: number; cursor: string | null },
    ): Promise<{ entries: readonly Listed[]; cursor: string | null; partial: boolean }> {
      const queries = queriesOf(text)
      if (queries === null) throw invalid({ query: 'must contain a word' })
      const { offset, any } = cursor === null ? { offset: 0, any: false } : positionIn(cursor)
      // One more than is shown, to know whether there is a next page.
      const page = { limit: limit + 1, offset, most: COMPARED_MAX }
      let isAny = any
      let found = await store.search(any ? queries.any : queries.all, filter, page)
      if (found.length === 0 && offset === 0 && !any) {
        isAny = true
        found = await store.search(queries.any, filter, page)
      }
      const next = offset + limit
      const isMore = found.length > limit
      return {
        entries: found.slice(0, limit),
        cursor: isMore ? cursorAt({ offset: next, any: isAny }) : null,
        partial: isMore || next >= COMPARED_MAX,
      }
    },
  }
}

const TOTALS_MAX = 1_000
const TOTALS_MS = 1_000

export type Catalogue = ReturnType<typeof createCatalogue>

/** Of more entries than this with the same words, only those that rank highest are compared. */
const COMPARED_MAX = 200

interface Position {
  offset: number
  any: boolean
}

function cursorAt({ offset, any }: Position): string {
  return Buffer.from(`${any ? 'any' : 'all'} ${String(offset)}`).toString('base64url')
}

function positionIn(cursor: string): Position {
  const [, words, offset] = /^(any|all) (\d{1,3})$/.exec(Buffer.from(cursor, 'base64url').toString('utf8')) ?? []
  if (words === undefined) throw invalid({ cursor: 'must be the cursor of an earlier answer' })
  return { offset: Number(offset), any: words === 'any' }
}
