import type { Environment } from '../../../ledger/model.ts'
import { collectionNotFound, toolNotFound, toolRemoved } from '../../errors/catalogue.ts'
import type { Collection } from '../../model/draft.ts'
import type { Entry } from '../../model/entry.ts'
import type { Tool, UserId } from '../../model/tool.ts'
import type { ListedTool, Search, Wanted } from '../../ports/catalogue.ts'
import { fits } from '../../rules/collection.ts'
import { worthOf } from '../../rules/rank.ts'
import type { Directory, Shelf } from './directory.ts'

/** Tools as they are looked for: by slug, page by page, or by what they are wanted for. */
export function createFinding(directory: Directory) {
  async function listed(shelf: Shelf, entries: readonly Entry[]): Promise<readonly ListedTool[]> {
    const tools = await directory.whole(shelf, entries)
    return tools.map((tool) => ({ tool, figures: shelf.figures.get(tool.id) ?? null }))
  }

  async function get(environment: Environment, slug: string, viewer: UserId | null): Promise<ListedTool> {
    const shelf = await directory.shelfOf(environment)
    const entry = shelf.bySlug(slug, viewer)
    if (entry === undefined) throw toolNotFound()
    if (entry.status === 'removed') throw toolRemoved(slug, entry.successor)
    const [found] = await listed(shelf, [entry])
    // It went in this very moment.
    if (found === undefined) throw toolNotFound()
    return found
  }

  return {
    async bySlug(environment: Environment, slug: string, viewer: UserId | null): Promise<Tool> {
      return (await get(environment, slug, viewer)).tool
    },

    get,

    async list(wanted: Wanted): Promise<{ tools: readonly ListedTool[]; total: number }> {
      const shelf = await directory.shelfOf(wanted.environment)
      const isWanted = filterOf(shelf, wanted)
      const search = wanted.search?.trim() ?? ''
      const found = search === '' ? shelf.all().filter(isWanted) : matching(shelf, search, isWanted)
      const page = found.slice(wanted.offset, wanted.offset + wanted.limit)
      return { tools: await listed(shelf, page), total: found.length }
    },

    async search({ query, limit = SEARCH_LIMIT, ...wanted }: Search): Promise<readonly ListedTool[]> {
      const shelf = await directory.shelfOf(wanted.environment)
      return await listed(shelf, nearest(shelf, query, filterOf(shelf, wanted), limit))
    },

    async collections(environment: Environment, viewer: UserId | null): Promise<readonly SizedCollection[]> {
      const shelf = await directory.shelfOf(environment)
      return shelf.collections
        .filter(({ ownerId }) => ownerId === null || ownerId === viewer)
        .map((collection) => ({ collection, tools: countOf(shelf, { viewer, collection: collection.slug }) }))
    },

    async providers(environment: Environment, viewer: UserId | null): Promise<readonly SizedProvider[]> {
      const shelf = await directory.shelfOf(environment)
      const sizes = new Map<string, number>()
      for (const { provider, ownerId } of shelf.all()) {
        const key = `${ownerId ?? ''} ${provider}`
        sizes.set(key, (sizes.get(key) ?? 0) + 1)
      }
      return shelf.providers.flatMap(({ slug, name, description, kind, ownerId, simulated }) =>
        ownerId === null || ownerId === viewer
          ? [
              {
                slug,
                name,
                description,
                kind,
                simulated,
                own: ownerId !== null,
                tools: sizes.get(`${ownerId ?? ''} ${slug}`) ?? 0,
              },
            ]
          : [],
      )
    },
  }

  function countOf(shelf: Shelf, wanted: Pick<Wanted, 'viewer' | 'collection'>): number {
    return shelf.all().filter(filterOf(shelf, wanted)).length
  }
}

export interface SizedCollection {
  readonly collection: Collection
  readonly tools: number
}

export interface SizedProvider {
  readonly slug: string
  readonly name: string
  readonly description: string
  readonly kind: 'openapi' | 'mcp' | 'rda'
  readonly simulated: boolean
  readonly own: boolean
  readonly tools: number
}

const SEARCH_LIMIT = 8

type IsWanted = (entry: Entry) => boolean

/** The few best by words times worth. Nothing is worth more than 1, so most need not be looked at twice. */
function nearest(shelf: Shelf, query: string, isWanted: IsWanted, limit: number): Entry[] {
  const best: { entry: Entry; score: number }[] = []
  shelf.words.find(query, (entry, match) => {
    const least = best.length < limit ? 0 : (best.at(-1)?.score ?? 0)
    if (match <= least || !isWanted(entry)) return
    const score = match * worthIn(shelf, entry)
    if (score <= least) return
    const place = best.findIndex((other) => isBefore({ entry, score }, other))
    best.splice(place < 0 ? best.length : place, 0, { entry, score })
    if (best.length > limit) best.pop()
  })
  return best.map(({ entry }) => entry)
}

/** All that has each of the words, if anything has; else all that has any. */
function matching(shelf: Shelf, query: string, isWanted: IsWanted): Entry[] {
  const whole: { entry: Entry; score: number }[] = []
  const part: typeof whole = []
  shelf.words.find(query, (entry, match, all) => {
    if (isWanted(entry)) (all ? whole : part).push({ entry, score: match * worthIn(shelf, entry) })
  })
  const found = whole.length > 0 ? whole : part
  return found.sort((one, other) => (isBefore(one, other) ? -1 : 1)).map(({ entry }) => entry)
}

function worthIn({ figures }: Shelf, entry: Entry): number {
  return worthOf({ price: entry.price, deprecated: entry.deprecated, figures: figures.get(entry.id) ?? null })
}

function isBefore(one: { entry: Entry; score: number }, other: { entry: Entry; score: number }): boolean {
  return one.score > other.score || (one.score === other.score && one.entry.slug < other.entry.slug)
}

function filterOf(
  shelf: Shelf,
  { viewer, provider, category, collection }: Pick<Wanted, 'viewer' | 'provider' | 'category' | 'collection'>,
): IsWanted {
  const slice = collection == null ? null : shelf.collection(collection, viewer)
  if (slice === undefined) throw collectionNotFound(collection ?? '')
  return (entry) =>
    (entry.ownerId === null
      ? viewer === null || shelf.bySlug(entry.slug, viewer) === entry
      : entry.ownerId === viewer) &&
    (provider == null || entry.provider === provider) &&
    (category == null || entry.category === category) &&
    (slice === null || fits(slice.patterns, entry.slug))
}
