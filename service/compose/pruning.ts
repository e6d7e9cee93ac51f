import type { RetentionDays } from '../pruning/model.ts'
import { pruningSweepers } from '../pruning/jobs.ts'
import { fatesOf } from '../pruning/rules.ts'
import { createPruning } from '../pruning/service.ts'
import { createPruningStore } from '../pruning/store.ts'
import type { Config } from '../config.ts'
import type { Ground, Part } from './ground.ts'

/** Removes what is older than anybody needs. */
export function openPruning({ config, database, metrics }: Ground): Part {
  const pruning = createPruning({
    store: createPruningStore(database.statements),
    fates: fatesOf(retentionDaysOf(config)),
    removed: (table, rows) => {
      metrics.count(`pruned ${table}`, rows)
    },
  })
  return { sweepers: pruningSweepers(pruning) }
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
