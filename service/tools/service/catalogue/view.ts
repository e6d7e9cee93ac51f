import type { Collection } from '../../model/draft.ts'
import type { Entry, ToolStats } from '../../model/tool.ts'
import type { StoredProvider } from '../../ports/keeping.ts'
import { bySlug, type Shelf } from './shelf.ts'

/** The catalogue as one viewer sees it: the platform's tools, and before them the viewer's own. */
export class View {
  readonly platform: Shelf
  /** Null where the viewer has none. */
  readonly own: Shelf | null

  constructor(platform: Shelf, own: Shelf | null) {
    this.platform = platform
    this.own = own
  }

  /** The viewer's own before everybody's, unless it is gone. */
  bySlug(slug: string): Entry | undefined {
    const own = this.own?.bySlug(slug)
    return own?.status === 'live' ? own : (this.platform.bySlug(slug) ?? own)
  }

  /** All that are live, by slug. */
  all(): readonly Entry[] {
    const { own } = this
    if (own === null) return this.platform.all()
    return [...this.platform.all().filter((entry) => !this.isHidden(entry)), ...own.all()].sort(bySlug)
  }

  /** Calls back with entries that have any of the words, in no order; `all` says whether an entry has each of them. */
  async find(query: string, found: (entry: Entry, score: number, all: boolean) => void): Promise<void> {
    const common = await this.platform.words()
    const own = await this.own?.words()
    common.find(query, (entry, score, all) => {
      if (!this.isHidden(entry)) found(entry, score, all)
    })
    // How rare a word is in a few tools says little: they are measured beside all others.
    own?.find(query, found, common)
  }

  collection(slug: string): Collection | undefined {
    return this.own?.collection(slug) ?? this.platform.collection(slug)
  }

  get collections(): readonly Collection[] {
    return [...this.platform.collections, ...(this.own?.collections ?? [])]
  }

  get providers(): readonly StoredProvider[] {
    return [...this.platform.providers, ...(this.own?.providers ?? [])]
  }

  stats({ id, ownerId }: Pick<Entry, 'id' | 'ownerId'>): ToolStats | null {
    return (ownerId === null ? this.platform : this.own)?.stats.get(id) ?? null
  }

  private isHidden({ slug }: Entry): boolean {
    return this.own?.bySlug(slug)?.status === 'live'
  }
}
