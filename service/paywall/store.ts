import { QUOTAS } from '../kit/quota.ts'
import type { StatementPool } from '../kit/transaction.ts'
import type { PaywallStore, PrepaidStore } from './ports.ts'
import { balances } from './store/balances.ts'
import { income } from './store/income.ts'
import { places } from './store/places.ts'
import { paywalls } from './store/paywalls.ts'

/** Paywalls in PostgreSQL. */
export function createPaywallStore(statements: StatementPool, paywallsMax: number = QUOTAS.paywalls): PaywallStore {
  return paywalls(statements, paywallsMax)
}

export function createPrepaidStore(statements: StatementPool): PrepaidStore {
  return {
    inTransaction: (work) => statements.together(work),
    ...places(statements),
    ...income(),
    ...balances(statements),
  }
}
