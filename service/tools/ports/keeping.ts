import type { Environment } from '../../kit/owner.ts'
import type { Changes, Collection, Holdings, KnownTool } from '../model/draft.ts'
import type { Entry } from '../model/entry.ts'
import type { Provider } from '../model/provider.ts'
import type { Tool, ToolId, UserId } from '../model/tool.ts'

/** Where the catalogue is kept. */
export interface CatalogueStore {
  /** The number of the last change of an environment's catalogue. */
  lastChange(environment: Environment): Promise<bigint>
  /**
   * Of one owner, null being the platform: what was written after that change, a page at a time, and all providers and
   * collections, as of one moment. It ends early where `take` answers false.
   */
  since(scope: Scope, change: bigint, take: (entries: readonly Entry[]) => boolean): Promise<News>
  /** Another text means that something of this owner's was written or deleted. */
  stamp(scope: Scope): Promise<{ change: bigint; stamp: string; isEmpty: boolean }>
  /** Whole tools, in no order; what is not there is left out. */
  find(ids: readonly ToolId[]): Promise<readonly Tool[]>

  provider(environment: Environment, ownerId: UserId | null, slug: string): Promise<StoredProvider | null>
  /**
   * Writes the provider and what `decide` makes of its tools of this moment, in one transaction, or nothing where
   * nothing is to be written. Of several such in one environment each sees what those before it wrote. `check` is
   * given what the owner would have afterwards, and undoes all of it by throwing.
   */
  change(
    provider: StoredProvider,
    decide: (known: readonly KnownTool[]) => Changes,
    now: Date,
    check: (holdings: Holdings) => void,
  ): Promise<{ changes: Changes; wrote: boolean }>
  /** Counts an import that begins, in the account's hour; the end of that hour where it has had as many as it may. */
  countImport(scope: Scope, limit: number, now: Date): Promise<Date | null>
  /** Deletes all tools, providers and collections of an account; answers how many tools that were. */
  drop(environment: Environment, ownerId: UserId): Promise<number>
  /** False when there is no such provider. */
  seal(
    environment: Environment,
    ownerId: UserId | null,
    slug: string,
    token: string | null,
    now: Date,
  ): Promise<boolean>

  saveCollection(collection: Collection, now: Date): Promise<void>
  /** False when there was none. */
  dropCollection(environment: Environment, ownerId: UserId | null, slug: string): Promise<boolean>
}

export interface StoredProvider extends Provider {
  readonly sourceHash: string | null
  /** Sealed. */
  readonly credentials: string | null
}

/** Whose part of which catalogue; an owner of null is the platform. */
export interface Scope {
  readonly environment: Environment
  readonly ownerId: UserId | null
}

export interface News {
  readonly change: bigint
  readonly stamp: string
  readonly providers: readonly StoredProvider[]
  readonly collections: readonly Collection[]
}
