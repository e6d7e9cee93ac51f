import type { Collection } from '../../model/draft.ts'
import type { Entry, ToolStats } from '../../model/tool.ts'
import type { StoredProvider } from '../../ports/keeping.ts'
import type { Shelf } from './shelf.ts'
import type { Found } from './word-index.ts'

/** The catalogue as one viewer sees it: first the viewer's own tools, then the platform's. */
export class View {
  readonly platform: Shelf
  /** Null when the viewer has no tools. */
  readonly own: Shelf | null

  constructor(platform: Shelf, own: Shelf | null) {
    this.platform = platform
    this.own = own
  }

  /** The viewer's own tool comes before the platform's, unless it was removed. */
  bySlug(slug: string): Entry | undefined {
    const own = this.own?.bySlug(slug)
    return own?.status === 'live' ? own : (this.platform.bySlug(slug) ?? own)
  }

  /** All live tools, the viewer's own before those of the platform. */
  all(): readonly Entry[] {
    const { own } = this
    if (own === null) return this.platform.all()
    return [...own.all(), ...this.platform.all().filter((entry) => !this.isHidden(entry))]
  }

  /** Calls back with entries that contain any of the words, in any order. */
  async find(query: string, found: Found): Promise<void> {
    const common = await this.platform.words()
    const own = await this.own?.words()
    common.find(query, (entry, match) => {
      if (!this.isHidden(entry)) found(entry, match)
    })
    // A word's rarity among a few tools means little, so it is measured over all tools.
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

  /** The provider of a tool. */
  provider({ provider, ownerId }: Pick<Entry, 'provider' | 'ownerId'>): StoredProvider | null {
    const { providers = [] } = (ownerId === null ? this.platform : this.own) ?? {}
    return providers.find(({ slug }) => slug === provider) ?? null
  }

  stats({ id, ownerId }: Pick<Entry, 'id' | 'ownerId'>): ToolStats | null {
    return (ownerId === null ? this.platform : this.own)?.stats.get(id) ?? null
  }

  /** Whether the sandbox answers its calls with examples. */
  isSimulated({ provider, ownerId }: Pick<Entry, 'provider' | 'ownerId'>): boolean {
    const shelf = ownerId === null ? this.platform : this.own
    return shelf?.providers.some(({ slug, simulated }) => slug === provider && simulated) ?? false
  }

  private isHidden({ slug }: Entry): boolean {
    return this.own?.bySlug(slug)?.status === 'live'
  }
}
