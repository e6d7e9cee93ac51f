import type { StatementPool } from '../kit/transaction.ts'
import type { DeliveryStore, TargetStore } from './ports.ts'
import { claiming } from './store/claims.ts'
import { endings } from './store/endings.ts'
import { endpoints } from './store/endpoints.ts'
import { reading } from './store/read.ts'
import { targets } from './store/targets.ts'
import { writing } from './store/write.ts'

/** Deliveries, attempts and targets in PostgreSQL. */
export function createDeliveryStore(statements: StatementPool): DeliveryStore {
  return {
    inTransaction: (work) => statements.together(work),
    ...writing(),
    ...endings(statements),
    ...claiming(statements),
    ...reading(statements),
  }
}

export function createTargetStore(statements: StatementPool): TargetStore {
  return { ...targets(statements), ...endpoints(statements) }
}
