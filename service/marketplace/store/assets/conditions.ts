import type { Listing } from '../../model/asset.ts'

/** A page that is asked for, with the creators whose assets it shows. */
export interface Scope {
  listing: Listing
  /** Null for everybody. */
  owners: readonly string[] | null
}

export interface Found {
  ids: readonly string[]
  total: number
}

/** As literals where a partial index has to recognise them; they come from closed lists, never from a caller's text. */
export function conditionsOf({ listing, owners }: Scope): { where: string; values: unknown[] } {
  const { environment, status } = listing
  const { filter, values } = filterOf(listing, [])
  let where = `r.environment = '${environment}' AND r.status = '${status}'${filter}`
  if (owners !== null) {
    // One owner is a range of the index in its order; several have to be sorted.
    values.push(owners.length === 1 ? owners[0] : owners)
    where += ` AND r.owner_id = ${owners.length === 1 ? '' : 'ANY '}($${String(values.length)})`
  }
  return { where, values }
}

/** The same three marks and the type, of an asset as of a counter. */
export function filterOf(listing: Listing, before: readonly unknown[]): { filter: string; values: unknown[] } {
  const values = [...before]
  let filter = ''
  if (listing.type !== null) {
    values.push(listing.type)
    filter += ` AND type = $${String(values.length)}::rda_type`
  }
  for (const mark of ['verified', 'featured', 'trending'] as const) if (listing[mark]) filter += ` AND ${mark}`
  return { filter, values }
}
