import type { Environment } from '../../../kit/owner.ts'
import { nearest as nearestSlug } from '../../../kit/nearest.ts'
import { collectionNotFound, toolNotFound, toolRemoved } from '../../errors/catalogue.ts'
import type { Collection } from '../../model/draft.ts'
import type { Provider } from '../../model/provider.ts'
import type { Entry, Tool, ToolId, UserId } from '../../model/tool.ts'
import type { Finding, ListedTool, SearchInput, ListInput } from '../../ports/catalogue.ts'
import { fits } from '../../rules/collection.ts'
import { needsOf } from '../../rules/needs.ts'
import { CAUTION, FITS, worthOf } from '../../rules/rank.ts'
import type { Directory } from './directory.ts'
import type { View } from './view.ts'
import type { Match } from './word-index.ts'

/** Finds tools: by slug, page by page, or by their purpose. */
export function createFinding(directory: Directory) {
  async function listed(view: View, entries: readonly Entry[], matches: Matches = new Map()) {
    const tools = await directory.whole(view, entries)
    return tools.map((tool): ListedTool => ({
      tool,
      fit: matches.get(tool.id)?.fit ?? null,
      stats: view.stats(tool),
      needs: needsOf(tool, view.provider(tool)),
      simulated: view.isSimulated(tool),
    }))
  }

  /** A view that has the tool, if there is one: it may have been imported a moment ago, by another process. */
  async function viewWith(environment: Environment, slug: string, viewer: UserId | null): Promise<View> {
    const view = await directory.viewOf(environment, viewer)
    if (view.bySlug(slug)?.status === 'live') return view
    return await directory.viewOf(environment, viewer, { fresh: true })
  }

  async function get(environment: Environment, slug: string, viewer: UserId | null): Promise<ListedTool> {
    const view = await viewWith(environment, slug, viewer)
    const entry = view.bySlug(slug)
    if (entry === undefined) throw toolNotFound(nearestSlug(slug, slugsOf(view)))
    if (entry.status === 'removed') throw toolRemoved(slug, entry.successor)
    const [found] = await listed(view, [entry])
    // It was removed at this very moment.
    if (found === undefined) throw toolNotFound(null)
    return found
  }

  async function found(view: View, matches: readonly Scored[], page: Pick<ListInput, 'limit' | 'offset'>) {
    const fitting = matches.filter(isFitting)
    const shown = fitting.slice(page.offset, page.offset + page.limit)
    const near = fitting.length > 0 ? [] : matches.slice(0, NEAREST)
    const scored: Matches = new Map([...shown, ...near].map((match) => [match.entry.id, match]))
    const read = (some: readonly Scored[]) =>
      listed(
        view,
        some.map(({ entry }) => entry),
        scored,
      )
    return { tools: await read(shown), total: fitting.length, nearest: await read(near) }
  }

  return {
    /** The viewer's own tool with that slug, else the platform's. Throws `tool_not_found` or `tool_removed`. */
    async bySlug(environment: Environment, slug: string, viewer: UserId | null): Promise<Tool> {
      return (await get(environment, slug, viewer)).tool
    },

    get,

    /** Of the tool with that slug, also of one that was removed: a policy that names its id still means it. */
    async idOf(environment: Environment, slug: string, viewer: UserId | null): Promise<ToolId | null> {
      return (await viewWith(environment, slug, viewer)).bySlug(slug)?.id ?? null
    },

    async list(input: ListInput): Promise<Finding> {
      const view = await directory.viewOf(input.environment, input.viewer)
      const isWanted = filterOf(view, input)
      const search = input.search?.trim() ?? ''
      if (search !== '') {
        const matches = await matching(view, search, isWanted)
        const whole = matches.filter((match) => match.all && isFitting(match))
        return await found(view, whole.length > 0 ? whole : matches, input)
      }
      const all = view.all().filter(isWanted)
      const page = (input.byUse === true ? byUse(view, all) : all).slice(input.offset, input.offset + input.limit)
      return { tools: await listed(view, page), total: all.length, nearest: [] }
    },

    async search({ query, limit = SEARCH_LIMIT, ...input }: SearchInput): Promise<Finding> {
      const view = await directory.viewOf(input.environment, input.viewer)
      const best = await nearest(view, query, filterOf(view, input), limit)
      return await found(view, best, { limit, offset: 0 })
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
const NEAREST = 5

type IsWanted = (entry: Entry) => boolean

interface Scored extends Match {
  entry: Entry
}

function isFitting({ fit }: Match): boolean {
  return fit >= FITS
}

type Matches = ReadonlyMap<ToolId, Scored>

/**
 * The few best entries by the score of their words times their worth. A worth is never above 1, so most entries are
 * dropped by their words alone.
 */
async function nearest(view: View, query: string, isWanted: IsWanted, limit: number): Promise<Scored[]> {
  const best: Scored[] = []
  await view.find(query, (entry, match) => {
    const last = best.length < limit ? undefined : best.at(-1)
    if ((last !== undefined && levelOf(match.score) < levelOf(last.score)) || !isWanted(entry)) return
    const scored = { ...match, entry, score: match.score * worthIn(view, entry) }
    if (last !== undefined && !isBefore(scored, last)) return
    const place = best.findIndex((other) => isBefore(scored, other))
    best.splice(place < 0 ? best.length : place, 0, scored)
    if (best.length > limit) best.pop()
  })
  return best
}

/** All entries with any of the words, best first. */
async function matching(view: View, query: string, isWanted: IsWanted): Promise<Scored[]> {
  const found: Scored[] = []
  await view.find(query, (entry, match) => {
    if (isWanted(entry)) found.push({ ...match, entry, score: match.score * worthIn(view, entry) })
  })
  return found.sort((one, other) => (isBefore(one, other) ? -1 : 1))
}

/** The most used first. Those that nobody has called come after them, in their order. */
function byUse(view: View, entries: readonly Entry[]): readonly Entry[] {
  const used = entries.filter((entry) => callsOf(view, entry) > 0)
  used.sort((one, other) => callsOf(view, other) - callsOf(view, one))
  return [...used, ...entries.filter((entry) => callsOf(view, entry) === 0)]
}

function callsOf(view: View, entry: Entry): number {
  return view.stats(entry)?.calls ?? 0
}

function worthIn(view: View, entry: Entry): number {
  return worthOf({ price: entry.price, deprecated: entry.deprecated, stats: view.stats(entry) })
}

/** At equal scores, what reads comes before what writes, and that before what deletes. */
function isBefore(one: Scored, other: Scored): boolean {
  const level = levelOf(one.score) - levelOf(other.score)
  if (level !== 0) return level > 0
  const caution = CAUTION[one.entry.effect] - CAUTION[other.entry.effect]
  if (caution !== 0) return caution < 0
  return one.score > other.score || (one.score === other.score && one.entry.slug < other.entry.slug)
}

/** Scores within some five percent are equal. */
function levelOf(score: number): number {
  return Math.round(Math.log(score) * 20)
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
