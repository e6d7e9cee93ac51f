import { setImmediate } from 'node:timers/promises'
import type { Collection } from '../../model/draft.ts'
import type { Entry, ToolStats, Tool, ToolId } from '../../model/tool.ts'
import type { News, Scope, StoredProvider } from '../../ports/keeping.ts'
import { CAUTION } from '../../rules/rank.ts'
import { Recent } from '../../../kit/recent.ts'
import { WordIndex } from './word-index.ts'

/** This process's copy of one owner's part of an environment's catalogue: entries by slug and by their words. */
export class Shelf {
  readonly scope: Scope
  change = -1n
  stamp = ''
  providers: readonly StoredProvider[] = []
  collections: readonly Collection[] = []
  stats: ReadonlyMap<ToolId, ToolStats> = new Map()
  askedAt = 0
  measuredAt = 0
  asking: Promise<void> | null = null
  /** Its approximate size on the heap, in characters. */
  weight = 1_000
  private readonly index = new WordIndex()
  private readonly unindexed = new Map<ToolId, Entry>()
  private readonly whole = new Recent<ToolId, Tool>(WHOLE_MAX)
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
      // Of two concurrent reads, the slower one may return the older version.
      if (before !== undefined && before.version > entry.version) continue
      this.weight += weightOf(entry) - (before === undefined ? 0 : weightOf(before))
      this.entries.set(entry.id, entry)
      this.slugs.set(entry.slug, entry)
      this.whole.drop(entry.id)
      this.unindexed.set(entry.id, entry)
    }
    if (entries.length > 0) this.inOrder = null
  }

  /** Called after the last page. */
  end({ change, stamp, providers, collections }: News): void {
    if (change < this.change) return
    this.change = change
    this.stamp = stamp
    this.providers = providers
    this.collections = collections
  }

  /** The word index of its tools. New entries since the last search are indexed now, a few at a time. */
  async words(): Promise<WordIndex> {
    let count = 0
    for (const [id, entry] of this.unindexed) {
      this.unindexed.delete(id)
      if (entry.status === 'live') this.index.put(entry)
      else this.index.drop(id)
      // Lets other requests run in between.
      if (++count % BREATH === 0) await setImmediate()
    }
    return this.index
  }

  /** The whole tool in the entry's version, if it is in memory. */
  wholeOf({ id, version }: Entry): Tool | undefined {
    const tool = this.whole.get(id)
    return tool?.version === version ? tool : undefined
  }

  putWhole(tools: readonly Tool[]): void {
    for (const tool of tools) this.whole.put(tool.id, tool)
  }

  bySlug(slug: string): Entry | undefined {
    return this.slugs.get(slug)
  }

  /** All live tools: those that read, then those that write, then those that delete, each by slug. */
  all(): readonly Entry[] {
    return (this.inOrder ??= [...this.entries.values()].filter(({ status }) => status === 'live').sort(inOrder))
  }

  collection(slug: string): Collection | undefined {
    return this.collections.find((collection) => collection.slug === slug)
  }
}

function inOrder(one: Entry, other: Entry): number {
  return CAUTION[one.effect] - CAUTION[other.effect] || (one.slug < other.slug ? -1 : 1)
}

/** The size of an entry's texts, of their words in the index, and of the objects around them. */
function weightOf({ slug, name, description, terms }: Entry): number {
  return 600 + 3 * (slug.length + name.length + description.length + terms.length)
}

const BREATH = 100
/** About ten megabytes: the schemas of an ordinary tool take a few kilobytes. */
const WHOLE_MAX = 1_500
