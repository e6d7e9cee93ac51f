import type { Environment } from '../../kit/owner.ts'
import type { Changes, Collection, Holdings, KnownTool } from '../model/draft.ts'
import type { Entry, Tool, ToolId, UserId } from '../model/tool.ts'
import type { Provider } from '../model/provider.ts'

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

  provider(scope: Scope, slug: string): Promise<StoredProvider | null>
  /**
   * Writes the provider and the changes that `decide` makes of its present tools, in one transaction, or nothing where
   * there is nothing to write. Changes of one environment run one after the other. `check` gets the owner's new
   * holdings, and undoes the change by throwing.
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
  drop(scope: Scope): Promise<number>
  /** False when there is no such provider. */
  seal(scope: Scope, slug: string, token: string | null, now: Date): Promise<boolean>

  saveCollection(collection: Collection, now: Date): Promise<void>
  /** False when there was none. */
  dropCollection(scope: Scope, slug: string): Promise<boolean>
}

export interface StoredProvider extends Provider {
  readonly sourceHash: string | null
  /** Sealed. */
  readonly credentials: string | null
}

/** One owner's part of an environment's catalogue; an owner of null is the platform. */
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
