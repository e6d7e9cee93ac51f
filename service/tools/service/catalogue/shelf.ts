import { setImmediate } from 'node:timers/promises'
import type { Collection } from '../../model/draft.ts'
import type { Entry } from '../../model/entry.ts'
import type { Figures } from '../../model/figures.ts'
import type { Tool, ToolId } from '../../model/tool.ts'
import type { News, Scope, StoredProvider } from '../../ports/keeping.ts'
import { WordIndex } from './word-index.ts'

/** One owner's part of an environment's catalogue, as this process knows it: entries by slug and by their words. */
export class Shelf {
  readonly scope: Scope
  change = -1n
  stamp = ''
  providers: readonly StoredProvider[] = []
  collections: readonly Collection[] = []
  figures: ReadonlyMap<ToolId, Figures> = new Map()
  askedAt = 0
  measuredAt = 0
  asking: Promise<void> | null = null
  /** About what it has of the heap, in characters. */
  weight = 1_000
  private readonly index = new WordIndex()
  private readonly unindexed = new Map<ToolId, Entry>()
  private readonly whole = new Map<ToolId, Tool>()
  private readonly entries = new Map<ToolId, Entry>()
  private readonly slugs = new Map<string, Entry>()
  private inOrder: readonly Entry[] | null = null

  constructor(scope: Scope) {
    this.scope = scope
  }

  get isKnown(): boolean {
    return this.change >= 0n
  }

  get size(): number {
    return this.entries.size
  }

  put(entries: readonly Entry[]): void {
    for (const entry of entries) {
      const before = this.entries.get(entry.id)
      // Of two that read at once the slower one may come with the older news.
      if (before !== undefined && before.version > entry.version) continue
      this.weight += weightOf(entry) - (before === undefined ? 0 : weightOf(before))
      this.entries.set(entry.id, entry)
      this.slugs.set(entry.slug, entry)
      this.whole.delete(entry.id)
      this.unindexed.set(entry.id, entry)
    }
    if (entries.length > 0) this.inOrder = null
  }

  /** All pages have come. */
  end({ change, stamp, providers, collections }: News): void {
    if (change < this.change) return
    this.change = change
    this.stamp = stamp
    this.providers = providers
    this.collections = collections
  }

  /** The words of its tools: those that nobody has searched since are taken in now, a few at a time. */
  async words(): Promise<WordIndex> {
    let count = 0
    for (const [id, entry] of this.unindexed) {
      this.unindexed.delete(id)
      if (entry.status === 'live') this.index.put(entry)
      else this.index.drop(id)
      // Others want to be served meanwhile.
      if (++count % BREATH === 0) await setImmediate()
    }
    return this.index
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

  bySlug(slug: string): Entry | undefined {
    return this.slugs.get(slug)
  }

  /** All that are live, by slug. */
  all(): readonly Entry[] {
    return (this.inOrder ??= [...this.entries.values()].filter(({ status }) => status === 'live').sort(bySlug))
  }

  collection(slug: string): Collection | undefined {
    return this.collections.find((collection) => collection.slug === slug)
  }
}

export function bySlug(one: Entry, other: Entry): number {
  return one.slug < other.slug ? -1 : one.slug > other.slug ? 1 : 0
}

/** An entry's texts, as themselves and as words in the index, and the objects around them. */
function weightOf({ slug, name, description, terms }: Entry): number {
  return 600 + 3 * (slug.length + name.length + description.length + terms.length)
}

const BREATH = 100
/** Some ten megabytes: an ordinary tool is a few kilobytes of schemas. */
const WHOLE_MAX = 1_500
