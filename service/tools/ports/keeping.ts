import type { OAuthClient } from '../../connections/model.ts'
import type { Environment } from '../../kit/owner.ts'
import type { Changes, Collection, Holdings, KnownTool } from '../model/draft.ts'
import type { Entry, Tool, ToolId, UserId } from '../model/tool.ts'
import type { Provider } from '../model/provider.ts'

/** Stores the catalogue. */
export interface CatalogueStore {
  /** The number of the last change of an environment's catalogue. */
  lastChange(environment: Environment): Promise<bigint>
  /**
   * Everything of one owner (null is the platform) that was written after that change, one page at a time, with all
   * providers and collections, as of one moment. Stops when `take` returns false.
   */
  since(scope: Scope, change: bigint, take: (entries: readonly Entry[]) => boolean): Promise<News>
  /** A changed text means that something of this owner's was written or deleted. */
  stamp(scope: Scope): Promise<{ change: bigint; stamp: string; isEmpty: boolean }>
  /** Whole tools, in any order. Missing ones are left out. */
  find(ids: readonly ToolId[]): Promise<readonly Tool[]>

  provider(scope: Scope, slug: string): Promise<StoredProvider | null>
  /**
   * Writes the provider and the changes that `decide` derives from its present tools, in one transaction. Writes
   * nothing when there are none. Changes of one environment run one after the other. `check` gets the owner's new
   * holdings and cancels the change by throwing. A key that is not for the provider's servers is removed.
   */
  change(
    provider: StoredProvider,
    decide: (known: readonly KnownTool[]) => Changes,
    now: Date,
    check: (holdings: Holdings) => void,
  ): Promise<{ changes: Changes; wrote: boolean; keyRemoved: boolean }>
  /** Counts a new import in the account's current hour. When the limit is reached, returns the end of that hour. */
  countImport(scope: Scope, limit: number, now: Date): Promise<Date | null>
  /** Deletes all tools, providers and collections of an account. Returns the number of tools. */
  drop(scope: Scope): Promise<number>
  /** False when there is no such provider. */
  seal(scope: Scope, slug: string, token: string | null, now: Date): Promise<boolean>

  /** What is absent stays. False when there is no such provider. */
  setAccess(scope: Scope, slug: string, access: AccessChange, now: Date): Promise<boolean>

  saveCollection(collection: Collection, now: Date): Promise<void>
  /** False when there was none. */
  dropCollection(scope: Scope, slug: string): Promise<boolean>
}

export interface StoredProvider extends Provider {
  readonly sourceHash: string | null
  /** Sealed. */
  readonly credentials: string | null
  /** Sealed. */
  readonly oauthSecret: string | null
}

export interface AccessChange {
  readonly isPublic?: boolean
  readonly oauth?: { readonly client: OAuthClient; readonly secret: string | null } | null
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
