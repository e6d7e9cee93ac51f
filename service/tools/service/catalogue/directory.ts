import type { Clock } from '../../../kit/clock.ts'
import { FairTurns } from '../../../kit/fair-line.ts'
import type { Environment } from '../../../kit/owner.ts'
import type { Entry } from '../../model/entry.ts'
import type { Tool, UserId } from '../../model/tool.ts'
import type { Measured } from '../../ports/catalogue.ts'
import type { CatalogueStore, Scope, StoredProvider } from '../../ports/keeping.ts'
import type { ToolQuotas } from '../../rules/quota.ts'
import { Shelf } from './shelf.ts'
import { View } from './view.ts'

/**
 * The catalogue as this process knows it: all entries of the platform, those of the accounts that asked lately, and the
 * whole of the tools that were asked for lately. What another process changes is known here within two seconds or so;
 * meanwhile the former is as good as any.
 */
export function createDirectory({ store, clock, measured, quotas }: DirectoryDeps) {
  const shelves = new Map<Environment, Shelf>()
  const own = new OwnShelves()
  /** Shelves being read, by owner: a second reader waits for the first. */
  const reading = new Map<string, Promise<Shelf>>()
  const turns = { sandbox: new FairTurns(READ_TURNS), production: new FairTurns(READ_TURNS) }

  /** Asks what is new, at most every second; only the very first who comes has to wait for it. */
  async function shelfOf(environment: Environment): Promise<Shelf> {
    let shelf = shelves.get(environment)
    if (shelf === undefined) shelves.set(environment, (shelf = new Shelf({ environment, ownerId: null })))
    const now = clock.now().getTime()
    if (shelf.askedAt + STALE_MS <= now) {
      shelf.askedAt = now
      const asked = shelf
      shelf.asking ??= freshen(shelf, now).finally(() => (asked.asking = null))
    }
    // It fails where there is no database; then what is known has to do.
    if (shelf.asking !== null) await (shelf.isKnown ? undefined : shelf.asking)
    return shelf
  }

  async function freshen(shelf: Shelf, now: number): Promise<void> {
    try {
      if (!shelf.isKnown || (await store.lastChange(shelf.scope.environment)) !== shelf.change) await read(store, shelf)
      await measure(shelf, now)
    } catch (error) {
      shelf.askedAt = 0
      if (!shelf.isKnown) throw error
    }
  }

  async function measure(shelf: Shelf, now: number): Promise<void> {
    if (shelf.measuredAt + MEASURED_MS > now) return
    // First, so that calls of the same moment do not all measure; what is known serves on when it cannot be read.
    shelf.measuredAt = now
    shelf.figures = await measured.of(shelf.scope).catch(() => shelf.figures)
  }

  /** An account's own, null where it has none: from the database unless nothing has changed since it was last read. */
  async function ownShelfOf({ scope: { environment }, change }: Shelf, ownerId: UserId): Promise<Shelf | null> {
    const key = `${environment} ${ownerId}`
    const known = own.get(key)
    if (known !== undefined && known.change >= change) return unlessBlank(known)
    let work = reading.get(key)
    if (work === undefined) {
      work = readOwn(key, { environment, ownerId }, known).finally(() => reading.delete(key))
      reading.set(key, work)
    }
    return unlessBlank(await work)
  }

  async function readOwn(key: string, scope: Scope, known: Shelf | undefined): Promise<Shelf> {
    const { change, stamp, isEmpty } = await store.stamp(scope)
    if (known?.stamp === stamp) {
      known.change = change
      return known
    }
    const shelf = new Shelf(scope)
    if (isEmpty) shelf.end({ change, stamp, providers: [], collections: [] })
    else {
      // Also of an account that had more before there were limits.
      const entriesMax = quotas.tools + REMOVED_MAX
      await turns[scope.environment].run(
        key,
        () => read(store, shelf, entriesMax),
        () => new Error('an account reads its tools twice'),
      )
    }
    own.put(key, shelf)
    return shelf
  }

  async function viewOf(environment: Environment, viewer: UserId | null): Promise<View> {
    const platform = await shelfOf(environment)
    if (viewer === null) return new View(platform, null)
    const shelf = await ownShelfOf(platform, viewer)
    if (shelf !== null) await measure(shelf, clock.now().getTime())
    return new View(platform, shelf)
  }

  return {
    viewOf,

    /** The platform's as it is known here; an account's own as it is this moment. */
    async provider(scope: Scope, slug: string): Promise<StoredProvider | null> {
      if (scope.ownerId !== null) return await store.provider(scope.environment, scope.ownerId, slug)
      const { providers } = await shelfOf(scope.environment)
      return providers.find((provider) => provider.slug === slug) ?? null
    },

    /** After a change of one's own: the next reader sees it. */
    async refresh(environment: Environment): Promise<void> {
      const shelf = await shelfOf(environment)
      await shelf.asking
      await read(store, shelf)
    },

    /** Whole tools in this order; what went in this very moment is left out. */
    async whole(view: View, entries: readonly Entry[]): Promise<readonly Tool[]> {
      const { platform } = view
      const found = new Map(entries.flatMap((entry) => platform.kept(entry) ?? []).map((tool) => [tool.id, tool]))
      const missing = entries.filter(({ id }) => !found.has(id)).map(({ id }) => id)
      if (missing.length > 0) {
        const read = await store.find(missing)
        for (const tool of read) found.set(tool.id, tool)
        // An account's own are read each time: what accounts bring in must not fill the memory that all share.
        platform.keep(read.filter(({ ownerId }) => ownerId === null))
      }
      return entries.flatMap(({ id }) => found.get(id) ?? [])
    },
  }
}

async function read(store: CatalogueStore, shelf: Shelf, entriesMax = Infinity): Promise<void> {
  const news = await store.since(shelf.scope, shelf.change, (entries) => {
    shelf.put(entries)
    return shelf.size < entriesMax
  })
  shelf.end(news)
  if (shelf.scope.ownerId === null) await shelf.words()
}

export type Directory = ReturnType<typeof createDirectory>

export interface DirectoryDeps {
  store: CatalogueStore
  clock: Clock
  measured: Measured
  quotas: ToolQuotas
}

const STALE_MS = 1_000
const MEASURED_MS = 5_000
const REMOVED_MAX = 1_000
/** An account's tools are read once however many ask for them, so no line gets longer than the accounts that ask. */
const READ_TURNS = { atOnce: 2, perAccount: 1, waitingPerAccount: 1, waiting: Infinity }

/** Those of the accounts that asked last, within a bound: a few accounts with all that they may have, or thousands of small ones. */
class OwnShelves {
  private readonly shelves = new Map<string, { shelf: Shelf; weight: number }>()
  private weight = 0

  get(key: string): Shelf | undefined {
    const known = this.shelves.get(key)
    if (known === undefined) return undefined
    this.shelves.delete(key)
    this.shelves.set(key, known)
    return known.shelf
  }

  put(key: string, shelf: Shelf): void {
    this.drop(key)
    this.shelves.set(key, { shelf, weight: shelf.weight })
    this.weight += shelf.weight
    for (const oldest of this.shelves.keys()) {
      if (this.weight <= OWN_WEIGHT_MAX) break
      this.drop(oldest)
    }
  }

  private drop(key: string): void {
    this.weight -= this.shelves.get(key)?.weight ?? 0
    this.shelves.delete(key)
  }
}

const OWN_WEIGHT_MAX = 32_000_000

function unlessBlank(shelf: Shelf): Shelf | null {
  return shelf.size + shelf.providers.length + shelf.collections.length === 0 ? null : shelf
}
