import { retryConflicts, type StatementPool } from '../../kit/transaction.ts'
import type { WalletStore } from '../ports.ts'
import { addresses } from './addresses.ts'
import { alerts } from './alerts.ts'
import { cursors } from './reports.ts'
import { deposits } from './deposits.ts'
import { payoutAddresses } from './payout-addresses.ts'
import { reports } from './reports.ts'
import { sweeps } from './sweeps.ts'
import { withdrawals } from './withdrawals.ts'

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
    together: (work) => retryConflicts(() => statements.together(work), ATTEMPTS),
  }
}

const ATTEMPTS = 4
