import type { Environment } from '../../../kit/owner.ts'
import { nearest as nearestSlug } from '../../../kit/nearest.ts'
import { collectionNotFound, toolNotFound, toolRemoved } from '../../errors/catalogue.ts'
import type { Collection } from '../../model/draft.ts'
import type { Provider } from '../../model/provider.ts'
import type { Entry, Tool, UserId } from '../../model/tool.ts'
import type { ListedTool, SearchInput, ListInput } from '../../ports/catalogue.ts'
import { fits } from '../../rules/collection.ts'
import { needsOf } from '../../rules/needs.ts'
import { worthOf } from '../../rules/rank.ts'
import type { Directory } from './directory.ts'
import type { View } from './view.ts'

/** Finds tools: by slug, page by page, or by their purpose. */
export function createFinding(directory: Directory) {
  async function listed(view: View, entries: readonly Entry[]): Promise<readonly ListedTool[]> {
    const tools = await directory.whole(view, entries)
    return tools.map((tool) => ({
      tool,
      stats: view.stats(tool),
      needs: needsOf(tool, view.provider(tool)),
      simulated: view.isSimulated(tool),
    }))
  }

  async function get(environment: Environment, slug: string, viewer: UserId | null): Promise<ListedTool> {
    const view = await directory.viewOf(environment, viewer)
    const entry = view.bySlug(slug)
    if (entry === undefined) throw toolNotFound(nearestSlug(slug, slugsOf(view)))
    if (entry.status === 'removed') throw toolRemoved(slug, entry.successor)
    const [found] = await listed(view, [entry])
    // It was removed at this very moment.
    if (found === undefined) throw toolNotFound(null)
    return found
  }

  return {
    /** The viewer's own tool with that slug, else the platform's. Throws `tool_not_found` or `tool_removed`. */
    async bySlug(environment: Environment, slug: string, viewer: UserId | null): Promise<Tool> {
      return (await get(environment, slug, viewer)).tool
    },

    get,

    async list(input: ListInput): Promise<{ tools: readonly ListedTool[]; total: number }> {
      const view = await directory.viewOf(input.environment, input.viewer)
      const isWanted = filterOf(view, input)
      const search = input.search?.trim() ?? ''
      const found = search === '' ? view.all().filter(isWanted) : await matching(view, search, isWanted)
      const page = found.slice(input.offset, input.offset + input.limit)
      return { tools: await listed(view, page), total: found.length }
    },

    async search({ query, limit = SEARCH_LIMIT, ...input }: SearchInput): Promise<readonly ListedTool[]> {
      const view = await directory.viewOf(input.environment, input.viewer)
      return await listed(view, await nearest(view, query, filterOf(view, input), limit))
    },

    async collections(environment: Environment, viewer: UserId | null): Promise<readonly SizedCollection[]> {
      const view = await directory.viewOf(environment, viewer)
      return view.collections.map(({ slug, name, description }) => {
        const tools = view.all().filter(filterOf(view, { collection: slug })).length
        return { slug, name, description, tools }
      })
    },

    async providers(environment: Environment, viewer: UserId | null): Promise<readonly SizedProvider[]> {
      const view = await directory.viewOf(environment, viewer)
      const sizes = new Map<string, number>()
      for (const { provider, ownerId } of [...view.platform.all(), ...(view.own?.all() ?? [])]) {
        const key = `${ownerId ?? ''} ${provider}`
        sizes.set(key, (sizes.get(key) ?? 0) + 1)
      }
      return view.providers.map(({ slug, name, description, kind, ownerId, simulated }) => {
        const tools = sizes.get(`${ownerId ?? ''} ${slug}`) ?? 0
        return { slug, name, description, kind, simulated, own: ownerId !== null, tools }
      })
    },
  }
}

export type SizedCollection = Pick<Collection, 'slug' | 'name' | 'description'> & { readonly tools: number }

export type SizedProvider = Pick<Provider, 'slug' | 'name' | 'description' | 'kind' | 'simulated'> & {
  readonly own: boolean
  readonly tools: number
}

/** The slugs of the tools that this viewer can call: first their own, then the platform's. */
function* slugsOf(view: View): Generator<string> {
  for (const { slug } of view.own?.all() ?? []) yield slug
  for (const { slug } of view.platform.all()) yield slug
}

const SEARCH_LIMIT = 8

type IsWanted = (entry: Entry) => boolean

/**
 * The few best entries by the score of their words times their worth. A worth is never above 1, so most entries are
 * dropped by their words alone.
 */
async function nearest(view: View, query: string, isWanted: IsWanted, limit: number): Promise<Entry[]> {
  const best: { entry: Entry; score: number }[] = []
  await view.find(query, (entry, match) => {
    const least = best.length < limit ? 0 : (best.at(-1)?.score ?? 0)
    if (match <= least || !isWanted(entry)) return
    const score = match * worthIn(view, entry)
    if (score <= least) return
    const place = best.findIndex((other) => isBefore({ entry, score }, other))
    best.splice(place < 0 ? best.length : place, 0, { entry, score })
    if (best.length > limit) best.pop()
  })
  return best.map(({ entry }) => entry)
}

/** All entries with every word. When there are none, all entries with any word. */
async function matching(view: View, query: string, isWanted: IsWanted): Promise<Entry[]> {
  const whole: { entry: Entry; score: number }[] = []
  const part: typeof whole = []
  await view.find(query, (entry, match, all) => {
    if (isWanted(entry)) (all ? whole : part).push({ entry, score: match * worthIn(view, entry) })
  })
  const found = whole.length > 0 ? whole : part
  return found.sort((one, other) => (isBefore(one, other) ? -1 : 1)).map(({ entry }) => entry)
}

function worthIn(view: View, entry: Entry): number {
  return worthOf({ price: entry.price, deprecated: entry.deprecated, stats: view.stats(entry) })
}

function isBefore(one: { entry: Entry; score: number }, other: { entry: Entry; score: number }): boolean {
  return one.score > other.score || (one.score === other.score && one.entry.slug < other.entry.slug)
}

function filterOf(view: View, { provider, category, collection }: Filter): IsWanted {
  const slice = collection == null ? null : view.collection(collection)
  if (slice === undefined) throw collectionNotFound(collection ?? '')
  return (entry) =>
    (provider == null || entry.provider === provider) &&
    (category == null || entry.category === category) &&
    (slice === null || fits(slice.patterns, entry.slug))
}

type Filter = Pick<ListInput, 'provider' | 'category' | 'collection'>
