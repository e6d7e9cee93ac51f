import type { Clock } from '../../../kit/clock.ts'
import type { Environment } from '../../../ledger/model.ts'
import type { Collection } from '../../model/draft.ts'
import type { Entry } from '../../model/entry.ts'
import type { Figures } from '../../model/figures.ts'
import type { Tool, ToolId, UserId } from '../../model/tool.ts'
import type { Measured } from '../../ports/catalogue.ts'
import type { CatalogueStore, StoredProvider } from '../../ports/keeping.ts'
import { WordIndex } from './word-index.ts'

/**
 * The catalogue as this process knows it: all entries, and the whole of the tools that were asked for lately. What
 * another process changes is known here within two seconds or so; meanwhile the former is as good as any.
 */
export function createDirectory({ store, clock, measured }: DirectoryParts) {
  const shelves = new Map<Environment, Shelf>()

  /** Asks what is new, at most every second; only the very first who comes has to wait for it. */
  async function shelfOf(environment: Environment): Promise<Shelf> {
    let shelf = shelves.get(environment)
    if (shelf === undefined) shelves.set(environment, (shelf = new Shelf(environment)))
    const now = clock.now().getTime()
    if (shelf.askedAt + STALE_MS <= now) {
      shelf.askedAt = now
      shelf.asking ??= freshen(shelf, now).finally(() => (shelf.asking = null))
    }
    // It fails where there is no database; then what is known has to do.
    if (shelf.asking !== null) await (shelf.isKnown ? undefined : shelf.asking)
    return shelf
  }

  async function freshen(shelf: Shelf, now: number): Promise<void> {
    try {
      if (!shelf.isKnown || (await store.lastChange(shelf.environment)) !== shelf.change)
        shelf.take(await store.since(shelf.environment, shelf.change))
      if (shelf.measuredAt + MEASURED_MS <= now) {
        shelf.figures = await measured.of(shelf.environment)
        shelf.measuredAt = now
      }
    } catch (error) {
      shelf.askedAt = 0
      if (!shelf.isKnown) throw error
    }
  }

  return {
    shelfOf,
    /** What is known without asking. */
    known: (environment: Environment): Shelf | undefined => shelves.get(environment),

    /** After a change of one's own: the next reader sees it. */
    async refresh(environment: Environment): Promise<Shelf> {
      const shelf = await shelfOf(environment)
      await shelf.asking
      shelf.take(await store.since(environment, shelf.change))
      return shelf
    },

    /** Whole tools in this order; what went in this very moment is left out. */
    async whole(shelf: Shelf, entries: readonly Entry[]): Promise<readonly Tool[]> {
      const found = new Map(entries.flatMap((entry) => shelf.kept(entry) ?? []).map((tool) => [tool.id, tool]))
      const missing = entries.filter(({ id }) => !found.has(id)).map(({ id }) => id)
      if (missing.length > 0) {
        const read = await store.find(missing)
        for (const tool of read) found.set(tool.id, tool)
        shelf.keep(read)
      }
      return entries.flatMap(({ id }) => found.get(id) ?? [])
    },
  }
}

export type Directory = ReturnType<typeof createDirectory>

export interface DirectoryParts {
  store: CatalogueStore
  clock: Clock
  measured: Measured
}

const STALE_MS = 1_000
const MEASURED_MS = 5_000
/** Some ten megabytes: an ordinary tool is a few kilobytes of schemas. */
const WHOLE_MAX = 1_500

/** One environment's. */
export class Shelf {
  readonly environment: Environment
  readonly words = new WordIndex()
  private readonly whole = new Map<ToolId, Tool>()
  change = -1n
  providers: readonly StoredProvider[] = []
  collections: readonly Collection[] = []
  figures: ReadonlyMap<ToolId, Figures> = new Map()
  askedAt = 0
  measuredAt = 0
  asking: Promise<void> | null = null
  private readonly entries = new Map<ToolId, Entry>()
  private readonly slugs = new Map<string, Entry>()
  private inOrder: readonly Entry[] | null = null

  constructor(environment: Environment) {
    this.environment = environment
  }

  get isKnown(): boolean {
    return this.change >= 0n
  }

  take({ change, entries, providers, collections }: Awaited<ReturnType<CatalogueStore['since']>>): void {
    // Of two that read at once the slower one may come with the older news.
    if (change < this.change) return
    for (const entry of entries) {
      this.entries.set(entry.id, entry)
      this.slugs.set(keyOf(entry.ownerId, entry.slug), entry)
      this.whole.delete(entry.id)
      if (entry.status === 'live') this.words.put(entry)
      else this.words.drop(entry.id)
    }
    if (entries.length > 0) this.inOrder = null
    this.providers = providers
    this.collections = collections
    this.change = change
  }

  /** As it is in the entry's version; the one that nobody asked for the longest time is forgotten first. */
  kept({ id, version }: Entry): Tool | undefined {
    const tool = this.whole.get(id)
    if (tool?.version !== version) return undefined
    this.whole.delete(id)
    this.whole.set(id, tool)
    return tool
  }

  keep(tools: readonly Tool[]): void {
    for (const tool of tools) this.whole.set(tool.id, tool)
    for (const id of this.whole.keys()) {
      if (this.whole.size <= WHOLE_MAX) break
      this.whole.delete(id)
    }
  }

  /** The viewer's own before everybody's, unless it is gone. */
  bySlug(slug: string, viewer: UserId | null): Entry | undefined {
    const own = viewer === null ? undefined : this.slugs.get(keyOf(viewer, slug))
    return own?.status === 'live' ? own : (this.slugs.get(keyOf(null, slug)) ?? own)
  }

  /** All that are live, by slug. */
  all(): readonly Entry[] {
    return (this.inOrder ??= [...this.entries.values()]
      .filter(({ status }) => status === 'live')
      .sort((one, other) => (one.slug < other.slug ? -1 : one.slug > other.slug ? 1 : 0)))
  }

  collection(slug: string, viewer: UserId | null): Collection | undefined {
    const named = this.collections.filter((collection) => collection.slug === slug)
    return (
      named.find(({ ownerId }) => ownerId !== null && ownerId === viewer) ??
      named.find(({ ownerId }) => ownerId === null)
    )
  }

  provider(slug: string, ownerId: UserId | null): StoredProvider | undefined {
    return this.providers.find((provider) => provider.slug === slug && provider.ownerId === ownerId)
  }
}

function keyOf(ownerId: UserId | null, slug: string): string {
  return `${ownerId ?? ''} ${slug}`
}
