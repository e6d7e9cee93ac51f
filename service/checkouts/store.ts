import { QUOTAS } from '../kit/quota.ts'
import type { StatementPool } from '../kit/transaction.ts'
import type { CheckoutStore } from './ports.ts'
import { lives } from './store/lives.ts'
import { pauses } from './store/pauses.ts'
import { sales } from './store/sales.ts'

/** Checkouts in PostgreSQL. */
export function createCheckoutStore(
  statements: StatementPool,
  activeMax: number = QUOTAS.active_checkouts,
): CheckoutStore {
  return { ...lives(statements, activeMax), ...pauses(statements), ...sales(statements) }
}
