import type { Clock } from '../../../kit/clock.ts'
import { FairTurns } from '../../../kit/fair-line.ts'
import type { Environment } from '../../../kit/owner.ts'
import type { Entry, Tool, UserId } from '../../model/tool.ts'
import type { Measured } from '../../ports/catalogue.ts'
import type { CatalogueStore, Scope, StoredProvider } from '../../ports/keeping.ts'
import type { Documents, Fetching, SecretKeeping, Simulator, ToolServers } from '../../ports/sources.ts'
import type { ToolQuotas } from '../../rules/quota.ts'
import { Recent } from '../../../kit/recent.ts'
import { Shelf } from './shelf.ts'
import { View } from './view.ts'

/**
 * This process's copy of the catalogue: all entries of the platform, those of recently active accounts, and recently
 * used whole tools. Another process's change arrives within about two seconds. Until then the old version is served.
 */
export function createDirectory({ store, clock, measured, quotas }: CatalogueDeps) {
  const shelves = new Map<Environment, Shelf>()
  /** The shelves of the accounts that were active last. */
  const own = new Recent<string, Shelf>(OWN_WEIGHT_MAX)
  /** The shelves that are being read, by owner. A second reader waits for the first. */
  const reading = new Map<string, Promise<Shelf>>()
  const turns = { sandbox: new FairTurns(READ_TURNS), production: new FairTurns(READ_TURNS) }

  /**
   * Checks for changes, at most once a second. Only the first request waits for them, or one that comes after a pause,
   * or that needs the newest entries.
   */
  async function shelfOf(environment: Environment, fresh = false): Promise<Shelf> {
    let shelf = shelves.get(environment)
    if (shelf === undefined) shelves.set(environment, (shelf = new Shelf({ environment, ownerId: null })))
    const now = clock.now().getTime()
    // After a failed check `askedAt` is 0, and nobody waits for the next.
    const isOld = shelf.askedAt > 0 && shelf.askedAt + OLD_MS <= now
    // A check that is under way may have begun before the change.
    if (fresh && shelf.asking !== null) await shelf.asking
    if (fresh || shelf.askedAt + STALE_MS <= now) {
      shelf.askedAt = now
      const asked = shelf
      shelf.asking ??= freshen(shelf, now).finally(() => (asked.asking = null))
    }
    // Without a database this fails, and the known entries are served.
    if (shelf.asking !== null && (fresh || isOld || !shelf.isKnown)) await shelf.asking
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
    // Set first, so that concurrent calls do not all read. When the reading fails, the known measurements stay.
    shelf.measuredAt = now
    shelf.stats = await measured.of(shelf.scope).catch(() => shelf.stats)
  }

  /**
   * An account's own shelf, null when it has none. Read from the database unless nothing has changed since the last
   * time.
   */
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
      // The limit also applies to an account that had more before there were limits.
      const entriesMax = quotas.tools + REMOVED_MAX
      await turns[scope.environment].run(
        key,
        () => read(store, shelf, entriesMax),
        () => new Error('an account reads its tools twice'),
      )
    }
    own.put(key, shelf, shelf.weight)
    return shelf
  }

  async function viewOf(environment: Environment, viewer: UserId | null, { fresh = false } = {}): Promise<View> {
    const platform = await shelfOf(environment, fresh)
    if (viewer === null) return new View(platform, null)
    const shelf = await ownShelfOf(platform, viewer)
    if (shelf !== null) await measure(shelf, clock.now().getTime())
    return new View(platform, shelf)
  }

  return {
    viewOf,

    /** The platform's provider comes from memory, an account's own from the database. */
    async provider(scope: Scope, slug: string): Promise<StoredProvider | null> {
      if (scope.ownerId !== null) return await store.provider(scope, slug)
      const { providers } = await shelfOf(scope.environment)
      return providers.find((provider) => provider.slug === slug) ?? null
    },

    /** Call after a change in this process, so that the next reader sees it. */
    async refresh(environment: Environment): Promise<void> {
      const shelf = await shelfOf(environment)
      await shelf.asking
      await read(store, shelf)
    },

    /** The whole tools in this order, without those that have just been removed. */
    async whole(view: View, entries: readonly Entry[]): Promise<readonly Tool[]> {
      const { platform } = view
      const found = new Map(entries.flatMap((entry) => platform.wholeOf(entry) ?? []).map((tool) => [tool.id, tool]))
      const missing = entries.filter(({ id }) => !found.has(id)).map(({ id }) => id)
      if (missing.length > 0) {
        const read = await store.find(missing)
        for (const tool of read) found.set(tool.id, tool)
        // An account's own tools are read each time, because accounts' imports must not fill the shared memory.
        platform.putWhole(read.filter(({ ownerId }) => ownerId === null))
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

export interface CatalogueDeps {
  store: CatalogueStore
  clock: Clock
  measured: Measured
  quotas: ToolQuotas
  documents: Documents
  servers: ToolServers
  fetching: Fetching
  secrets: SecretKeeping
  simulator: Simulator
}

const STALE_MS = 1_000
/** Without requests a copy is not checked, so the first request after a pause waits for the check. */
const OLD_MS = 2_000
const MEASURED_MS = 5_000
const REMOVED_MAX = 1_000
/**
 * Concurrent requests for one account's tools share one read, so the line is never longer than the number of active
 * accounts.
 */
const READ_TURNS = { atOnce: 2, perAccount: 1, waitingPerAccount: 1, waiting: Infinity }

/** Room for a few accounts at their limits, or for thousands of small ones. */
const OWN_WEIGHT_MAX = 32_000_000

function unlessBlank(shelf: Shelf): Shelf | null {
  return shelf.size + shelf.providers.length + shelf.collections.length === 0 ? null : shelf
}
