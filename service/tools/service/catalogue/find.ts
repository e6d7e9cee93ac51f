import type { Environment } from '../../../kit/owner.ts'
import { nearest as nearestSlug } from '../../../kit/nearest.ts'
import { collectionNotFound, toolNotFound, toolRemoved } from '../../errors/catalogue.ts'
import type { Collection } from '../../model/draft.ts'
import type { Entry } from '../../model/entry.ts'
import type { Tool, UserId } from '../../model/tool.ts'
import type { ListedTool, Search, Wanted } from '../../ports/catalogue.ts'
import { fits } from '../../rules/collection.ts'
import { worthOf } from '../../rules/rank.ts'
import type { Directory } from './directory.ts'
import type { View } from './view.ts'

/** Tools as they are looked for: by slug, page by page, or by what they are wanted for. */
export function createFinding(directory: Directory) {
  async function listed(view: View, entries: readonly Entry[]): Promise<readonly ListedTool[]> {
    const figures = new Map(entries.map((entry) => [entry.id, view.figures(entry)]))
    const tools = await directory.whole(view, entries)
    return tools.map((tool) => ({ tool, figures: figures.get(tool.id) ?? null }))
  }

  async function get(environment: Environment, slug: string, viewer: UserId | null): Promise<ListedTool> {
    const view = await directory.viewOf(environment, viewer)
    const entry = view.bySlug(slug)
    if (entry === undefined) throw toolNotFound(nearestSlug(slug, slugsOf(view)))
    if (entry.status === 'removed') throw toolRemoved(slug, entry.successor)
    const [found] = await listed(view, [entry])
    // It went in this very moment.
    if (found === undefined) throw toolNotFound(null)
    return found
  }

  return {
    async bySlug(environment: Environment, slug: string, viewer: UserId | null): Promise<Tool> {
      return (await get(environment, slug, viewer)).tool
    },

    get,

    async list(wanted: Wanted): Promise<{ tools: readonly ListedTool[]; total: number }> {
      const view = await directory.viewOf(wanted.environment, wanted.viewer)
      const isWanted = filterOf(view, wanted)
      const search = wanted.search?.trim() ?? ''
      const found = search === '' ? view.all().filter(isWanted) : await matching(view, search, isWanted)
      const page = found.slice(wanted.offset, wanted.offset + wanted.limit)
      return { tools: await listed(view, page), total: found.length }
    },

    async search({ query, limit = SEARCH_LIMIT, ...wanted }: Search): Promise<readonly ListedTool[]> {
      const view = await directory.viewOf(wanted.environment, wanted.viewer)
      return await listed(view, await nearest(view, query, filterOf(view, wanted), limit))
    },

    async collections(environment: Environment, viewer: UserId | null): Promise<readonly SizedCollection[]> {
      const view = await directory.viewOf(environment, viewer)
      return view.collections.map((collection) => ({
        collection,
        tools: view.all().filter(filterOf(view, { collection: collection.slug })).length,
      }))
    },

    async providers(environment: Environment, viewer: UserId | null): Promise<readonly SizedProvider[]> {
      const view = await directory.viewOf(environment, viewer)
      const sizes = new Map<string, number>()
      for (const { provider, ownerId } of [...view.platform.all(), ...(view.own?.all() ?? [])]) {
        const key = `${ownerId ?? ''} ${provider}`
        sizes.set(key, (sizes.get(key) ?? 0) + 1)
      }
      return view.providers.map(({ slug, name, description, kind, ownerId, simulated }) => ({
        slug,
        name,
        description,
        kind,
        simulated,
        own: ownerId !== null,
        tools: sizes.get(`${ownerId ?? ''} ${slug}`) ?? 0,
      }))
    },
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

/** Of those that this viewer can call: their own, then the platform's. */
function* slugsOf(view: View): Generator<string> {
  for (const { slug } of view.own?.all() ?? []) yield slug
  for (const { slug } of view.platform.all()) yield slug
}

const SEARCH_LIMIT = 8

type IsWanted = (entry: Entry) => boolean

/** The few best by words times worth. Nothing is worth more than 1, so most need not be looked at twice. */
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

/** All that has each of the words, if anything has; else all that has any. */
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
  return worthOf({ price: entry.price, deprecated: entry.deprecated, figures: view.figures(entry) })
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

type Filter = Pick<Wanted, 'provider' | 'category' | 'collection'>
