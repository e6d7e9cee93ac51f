import type { Retention, RetentionPolicy } from '../kit/tables.ts'
import type { PruningStore } from './ports.ts'

export function createPruning({ store, policies, removed }: PruningDeps) {
  return {
    /** Removes all whose time is over, a little at a time. What fails for one table does not keep it from the others. */
    async prune(now: Date, signal: AbortSignal): Promise<void> {
      const failures: unknown[] = []
      for (const { table, retention, before } of due(policies, now)) {
        try {
          // Row by row in the order of age: rows that have to stay are passed by, and once in each turn only.
          let after: readonly string[] | null = null
          do {
            if (signal.aborted) return
            const stretch = await store.removeSome(table, retention, before, after)
            if (stretch.removed > 0) removed(table, stretch.removed)
            after = stretch.next
          } while (after !== null)
        } catch (error) {
          failures.push(error)
        }
      }
      if (failures.length > 0) throw new AggregateError(failures, 'some tables could not be pruned')
    },
  }
}

interface PruningDeps {
  readonly store: PruningStore
  readonly policies: Readonly<Record<string, RetentionPolicy>>
  /** Called with the number of removed rows, for the metrics. */
  removed(table: string, rows: number): void
}

/** Which tables are pruned at all, and from when on back. */
export function due(policies: Readonly<Record<string, RetentionPolicy>>, now: Date): Due[] {
  return Object.entries(policies).flatMap(([table, policy]) =>
    'age' in policy && policy.keptMs !== null
      ? [{ table, retention: policy, before: new Date(now.getTime() - policy.keptMs) }]
      : [],
  )
}

interface Due {
  readonly table: string
  readonly retention: Retention
  readonly before: Date
}
