import type { Retention, RetentionPolicy } from '../kit/tables.ts'

/** Which tables are pruned at all, and from when on back. */
export function due(policies: Readonly<Record<string, RetentionPolicy>>, now: Date): Due[] {
  return Object.entries(policies).flatMap(([table, policy]) =>
    'age' in policy && policy.keptMs !== null
      ? [{ table, retention: policy, before: new Date(now.getTime() - policy.keptMs) }]
      : [],
  )
}

export interface Due {
  readonly table: string
  readonly retention: Retention
  readonly before: Date
}

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
