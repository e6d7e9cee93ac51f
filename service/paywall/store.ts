import { QUOTAS } from '../kit/quota.ts'
import type { StatementPool } from '../kit/transaction.ts'
import type { PaymentStore, PaywallStore } from './ports.ts'
import { balances } from './store/balances.ts'
import { ends } from './store/ends.ts'
import { payments } from './store/payments.ts'
import { paywalls } from './store/paywalls.ts'

/** Paywalls in PostgreSQL. */
export function createPaywallStore(statements: StatementPool, paywallsMax: number = QUOTAS.paywalls): PaywallStore {
  return paywalls(statements, paywallsMax)
}

export function createPaymentStore(statements: StatementPool): PaymentStore {
  return { ...payments(statements), ...ends(statements), ...balances(statements) }
}
