import type { RetentionDays } from '../kit/tables.ts'
import { createPruning } from '../pruning/service.ts'
import { createPruningStore } from '../pruning/store.ts'
import type { Config } from '../config.ts'
import type { Platform, Part } from './platform.ts'
import { retentionPolicies } from './tables.ts'

/** Removes what is older than its retention. */
export function openPruning({ config, database, metrics }: Platform): Part {
  const pruning = createPruning({
    store: createPruningStore(database.statements),
    policies: retentionPolicies(retentionDaysOf(config)),
    removed: (table, rows) => {
      metrics.count(`pruned ${table}`, rows)
    },
  })
  return { sweepers: [{ name: 'pruning', everyMs: 600_000, run: pruning.prune }] }
}

function retentionDaysOf(config: Config): RetentionDays {
  return {
    deliveries: config.RETAIN_DELIVERY_DAYS,
    decisions: config.RETAIN_DECISION_DAYS,
    draws: config.RETAIN_DRAW_DAYS,
    answers: config.RETAIN_ANSWER_DAYS,
    reconciliations: config.RETAIN_RECONCILIATION_DAYS,
  }
}
