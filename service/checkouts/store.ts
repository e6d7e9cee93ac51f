import { QUOTAS } from '../kit/quota.ts'
import type { StatementPool } from '../kit/transaction.ts'
import type { CheckoutStore, PaymentStore } from './ports.ts'
import { lives } from './store/lives.ts'
import { payments } from './store/payments.ts'
import { pauses } from './store/pauses.ts'

/** Checkouts in PostgreSQL. */
export function createCheckoutStore(
  statements: StatementPool,
  activeMax: number = QUOTAS.active_checkouts,
): CheckoutStore {
  return { ...lives(statements, activeMax), ...pauses(statements) }
}

export function createPaymentStore(statements: StatementPool): PaymentStore {
  return payments(statements)
}
