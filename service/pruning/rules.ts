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
