import type { Clock } from '../../../kit/clock.ts'
import { FairTurns } from '../../../kit/fair-line.ts'
import type { Environment } from '../../../kit/owner.ts'
import type { Entry, Tool, UserId } from '../../model/tool.ts'
import type { Measured } from '../../ports/catalogue.ts'
import type { CatalogueStore, Scope, StoredProvider } from '../../ports/keeping.ts'
import type { Documents, Fetching, SecretKeeping, Simulator, ToolServers } from '../../ports/sources.ts'
import type { ToolQuotas } from '../../rules/quota.ts'
import { Recent } from '../recent.ts'
import { Shelf } from './shelf.ts'
import { View } from './view.ts'

/**
 * The catalogue as this process knows it: all entries of the platform, those of the accounts that asked lately, and the
 * whole tools that were asked for lately. Another process's change arrives here within about two seconds; until then
 * the former version is served.
 */
export function createDirectory({ store, clock, measured, quotas }: CatalogueDeps) {
  const shelves = new Map<Environment, Shelf>()
  /** Of the accounts that asked last. */
  const own = new Recent<string, Shelf>(OWN_WEIGHT_MAX)
  /** Shelves being read, by owner: a second reader waits for the first. */
  const reading = new Map<string, Promise<Shelf>>()
  const turns = { sandbox: new FairTurns(READ_TURNS), production: new FairTurns(READ_TURNS) }

  /** Asks for changes, at most every second; only the very first request waits for them. */
  async function shelfOf(environment: Environment): Promise<Shelf> {
    let shelf = shelves.get(environment)
    if (shelf === undefined) shelves.set(environment, (shelf = new Shelf({ environment, ownerId: null })))
    const now = clock.now().getTime()
    if (shelf.askedAt + STALE_MS <= now) {
      shelf.askedAt = now
      const asked = shelf
      shelf.asking ??= freshen(shelf, now).finally(() => (asked.asking = null))
    }
    // Without a database this fails; then the known entries are served.
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
    // First, so that concurrent calls do not all measure; when it fails the known measurements stay.
    shelf.measuredAt = now
    shelf.stats = await measured.of(shelf.scope).catch(() => shelf.stats)
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
    own.put(key, shelf, shelf.weight)
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

    /** The platform's from memory; an account's own from the database. */
    async provider(scope: Scope, slug: string): Promise<StoredProvider | null> {
      if (scope.ownerId !== null) return await store.provider(scope, slug)
      const { providers } = await shelfOf(scope.environment)
      return providers.find((provider) => provider.slug === slug) ?? null
    },

    /** After a change made here, so that the next reader sees it. */
    async refresh(environment: Environment): Promise<void> {
      const shelf = await shelfOf(environment)
      await shelf.asking
      await read(store, shelf)
    },

    /** Whole tools in this order, without those removed in this moment. */
    async whole(view: View, entries: readonly Entry[]): Promise<readonly Tool[]> {
      const { platform } = view
      const found = new Map(entries.flatMap((entry) => platform.wholeOf(entry) ?? []).map((tool) => [tool.id, tool]))
      const missing = entries.filter(({ id }) => !found.has(id)).map(({ id }) => id)
      if (missing.length > 0) {
        const read = await store.find(missing)
        for (const tool of read) found.set(tool.id, tool)
        // An account's own are read each time: imports of accounts must not fill the shared memory.
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
const MEASURED_MS = 5_000
const REMOVED_MAX = 1_000
/** An account's tools are read once however many ask for them, so no line gets longer than the accounts that ask. */
const READ_TURNS = { atOnce: 2, perAccount: 1, waitingPerAccount: 1, waiting: Infinity }

/** A few accounts with all that they may have, or thousands of small ones. */
const OWN_WEIGHT_MAX = 32_000_000

function unlessBlank(shelf: Shelf): Shelf | null {
  return shelf.size + shelf.providers.length + shelf.collections.length === 0 ? null : shelf
}
