import type { Environment } from '../../ledger/model.ts'
import type { Changes, Collection, KnownTool } from '../model/draft.ts'
import type { Entry } from '../model/entry.ts'
import type { Provider } from '../model/provider.ts'
import type { Tool, ToolId, UserId } from '../model/tool.ts'

/** Where the catalogue is kept. */
export interface CatalogueStore {
  /** The number of the last change of an environment's catalogue. */
  lastChange(environment: Environment): Promise<bigint>
  /** What was written after that change, and all providers and collections, as of one moment. */
  since(environment: Environment, change: bigint): Promise<News>
  /** Whole tools, in no order; what is not there is left out. */
  find(ids: readonly ToolId[]): Promise<readonly Tool[]>

  provider(environment: Environment, ownerId: UserId | null, slug: string): Promise<StoredProvider | null>
  /**
   * Writes the provider and what `decide` makes of its tools of this moment, in one transaction, or nothing where
   * nothing is to be written. Of several such in one environment each sees what those before it wrote.
   */
  change(
    provider: StoredProvider,
    decide: (known: readonly KnownTool[]) => Changes,
    now: Date,
  ): Promise<{ changes: Changes; wrote: boolean }>
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

export interface News {
  readonly change: bigint
  readonly entries: readonly Entry[]
  readonly providers: readonly StoredProvider[]
  readonly collections: readonly Collection[]
}
