import type { StatementPool } from '../kit/transaction.ts'
import type { WalletStore } from './ports.ts'
import { addresses } from './store/addresses.ts'
import { alerts } from './store/alerts.ts'
import { cursors } from './store/cursors.ts'
import { deposits } from './store/deposits.ts'
import { payoutAddresses } from './store/payout-addresses.ts'
import { reports } from './store/reports.ts'
import { sweeps } from './store/sweeps.ts'
import { withdrawals } from './store/withdrawals.ts'

/** Addresses, deposits and withdrawals in PostgreSQL. The figures are the ledger's. */
export function createWalletStore(statements: StatementPool): WalletStore {
  return {
    addresses: addresses(statements),
    deposits: deposits(statements),
    cursors: cursors(statements),
    withdrawals: withdrawals(statements),
    sweeps: sweeps(statements),
    reports: reports(statements),
    alerts: alerts(statements),
    payoutAddresses: payoutAddresses(statements),
    async together(work) {
      for (let attempt = 1; ; attempt++) {
        try {
          return await statements.together(work)
        } catch (error) {
          if (attempt === ATTEMPTS || !COLLISIONS.has((error as { code?: string }).code ?? '')) throw error
        }
      }
    },
  }
}

const ATTEMPTS = 4
/** Unique violation, deadlock, serialization failure: with a new view of the rows it comes to an end. */
const COLLISIONS = new Set(['23505', '40P01', '40001'])
