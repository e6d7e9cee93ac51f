import type { Id } from '../../../kit/ids.ts'
import type { Statements } from '../../../kit/transaction.ts'
import type { Listing, Summary } from '../../model/asset.ts'
import { conditionsOf, filterOf, type Found, type Scope } from './conditions.ts'
import { SUMMARY, TABLES, toSummary, type SummaryRow } from './rows.ts'
import { createSearch } from './search.ts'

/**
 * A page of a million rows, from indexes alone: first the ids in their order, then the rows of those few. The ids'
 * statement has no name: with its values in hand the server sees which partial index fits, and how far a page is; a
 * prepared one would be planned for any page and read the whole table for it.
 */
export function createListing(statements: Statements) {
  const search = createSearch(statements)

  return async function list(
    listing: Listing,
    ownOf: Id<'usr'> | null,
    now: Date,
  ): Promise<{ assets: Summary[]; total: number }> {
    const owners = await ownersOf(listing, ownOf)
    if (owners?.length === 0) return { assets: [], total: 0 }
    const scope: Scope = { listing, owners }
    const { ids, total } = listing.search === null ? await browse(scope) : await search(scope, listing.search, now)
    return { assets: await summaries(ids), total }
  }

  /** Null for all creators. A name of the identity provider may stand for people of several issuers, or for none. */
  async function ownersOf({ ownerId }: Listing, ownOf: Id<'usr'> | null): Promise<readonly string[] | null> {
    if (ownerId === null) return ownOf === null ? null : [ownOf]
    const rows = await statements.run<{ id: string }>(OWNERS, [ownerId], 'rda_owners')
    const ids = rows.map(({ id }) => id)
    return ownOf === null ? ids : ids.filter((id) => id === ownOf)
  }

  async function browse(scope: Scope): Promise<Found> {
    const { limit, offset } = scope.listing
    const total = await count(scope)
    const wanted = Math.min(limit, total - offset)
    if (wanted <= 0) return { ids: [], total }
    // Beyond the middle it is nearer from the other end.
    const fromEnd = offset > total / 2
    const { where, values } = conditionsOf(scope)
    const order = fromEnd ? 'r.rank, r.id' : 'r.rank DESC, r.id DESC'
    const skip = fromEnd ? total - offset - wanted : offset
    const rows = await statements.run<{ id: string }>(
      `SELECT r.id FROM rda r WHERE ${where} ORDER BY ${order} LIMIT ${String(wanted)} OFFSET ${String(skip)}`,
      values,
    )
    const ids = rows.map(({ id }) => id)
    return { ids: fromEnd ? ids.reverse() : ids, total }
  }

  async function count({ listing, owners }: Scope): Promise<number> {
    const { filter, values } = filterOf(listing, [listing.environment, listing.status, owners ?? ['']])
    const [row] = await statements.run<{ total: string }>(
      `SELECT coalesce(sum(total), 0)::text AS total FROM rda_total
       WHERE environment = $1 AND status = $2 AND owner_id = ANY ($3)${filter}`,
      values,
    )
    return Number(row?.total ?? 0)
  }

  async function summaries(ids: readonly string[]): Promise<Summary[]> {
    if (ids.length === 0) return []
    const rows = await statements.run<SummaryRow>(SUMMARIES, [ids], 'rda_summaries')
    return rows.map(toSummary)
  }
}

const OWNERS = 'SELECT user_id AS id FROM rda_creator WHERE subject = $1'

const SUMMARIES = `
SELECT ${SUMMARY} FROM unnest($1::text[]) WITH ORDINALITY AS wanted (id, place) JOIN ${TABLES} ON r.id = wanted.id
ORDER BY wanted.place`
