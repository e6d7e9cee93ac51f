import { latestMarks, newestMarks, type Tables } from '../kit/tables.ts'
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

export const checkoutsTables: Tables = {
  retention: () => ({
    checkout: { kept: 'one for each place in a workflow: its link comes back to life with it' },
  }),
  changes: {
    checkouts: [
      newestMarks('checkout', 'state, updated_at', 100),
      latestMarks('sale', 'subject', 'checkout', 'c.state'),
    ],
  },
}
