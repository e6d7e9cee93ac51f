import type { Statements } from '../kit/transaction.ts'
import type { SettlementStore } from './ports.ts'
import { carriers } from './store/carriers.ts'
import { claims } from './store/claims.ts'
import { endings } from './store/endings.ts'
import { purchases } from './store/purchases.ts'

/** Settlements in PostgreSQL. */
export function createSettlementStore(statements: Statements): SettlementStore {
  return { ...claims(statements), ...carriers(statements), ...endings(statements), ...purchases(statements) }
}
