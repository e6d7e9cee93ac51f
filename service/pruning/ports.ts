import type { Retention, Stretch } from './model.ts'

export interface PruningStore {
  /** Looks at a bounded number of rows and removes those whose time is over. `after` is null at the beginning. */
  removeSome(table: string, retention: Retention, before: Date, after: readonly string[] | null): Promise<Stretch>
}
