import type { Retention } from '../kit/tables.ts'

export interface PruningStore {
  /** Looks at a bounded number of rows and removes those whose time is over. `after` is null at the beginning. */
  removeSome(table: string, retention: Retention, before: Date, after: readonly string[] | null): Promise<Stretch>
}

/** How far a look at a table has come. */
export interface Stretch {
  readonly removed: number
  /** Where the next one begins; null when nothing old comes behind it. */
  readonly next: readonly string[] | null
}
