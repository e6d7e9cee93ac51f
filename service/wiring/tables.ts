import { apiTables } from '../api/idempotency.ts'
import { brandTables } from '../brands/store.ts'
import { checkoutsTables } from '../checkouts/store/checkouts.ts'
import { connectionTables } from '../connections/store/store.ts'
import { couponTables } from '../coupons/store.ts'
import { deliveriesTables } from '../deliveries/tables.ts'
import { discoveryTables } from '../discovery/tables.ts'
import { disputeTables } from '../disputes/store.ts'
import { facilitatorTables } from '../facilitator/tables.ts'
import { fileTables } from '../files/store.ts'
import { identityTables } from '../identity/tables.ts'
import { invoiceTables } from '../invoices/store.ts'
import { ledgerTables } from '../ledger/tables.ts'
import { marketplaceTables } from '../marketplace/tables.ts'
import { oauthTables } from '../oauth/tables.ts'
import { outflowTables } from '../outflow/store.ts'
import { passTables } from '../passes/store.ts'
import { paywallTables } from '../paywall/tables.ts'
import { queueTables } from '../queue/tables.ts'
import { refundTables } from '../refunds/store.ts'
import { salesTables } from '../sales/tables.ts'
import { sandboxTables } from '../sandbox/store.ts'
import { budgetTables } from '../budgets/tables.ts'
import { paymentAddressTables } from '../payment-addresses/store.ts'
import { outgoingPaymentTables } from '../outgoing-payments/tables.ts'
import { toolsTables } from '../tools/store/calls/store.ts'
import { walletTables } from '../wallet/tables.ts'
import type { RetentionDays, RetentionPolicy, SealedColumn, Tables } from '../kit/tables.ts'

/** Each database table belongs to exactly one capability. */
export const TABLES: readonly Tables[] = [
  apiTables,
  brandTables,
  checkoutsTables,
  connectionTables,
  couponTables,
  deliveriesTables,
  discoveryTables,
  disputeTables,
  facilitatorTables,
  fileTables,
  identityTables,
  invoiceTables,
  ledgerTables,
  marketplaceTables,
  oauthTables,
  outflowTables,
  passTables,
  paywallTables,
  queueTables,
  refundTables,
  salesTables,
  sandboxTables,
  budgetTables,
  outgoingPaymentTables,
  paymentAddressTables,
  toolsTables,
  walletTables,
]

/** The retention policy of every table, by name. A test fails when a table of the database has none. */
export function retentionPolicies(kept: RetentionDays): Readonly<Record<string, RetentionPolicy>> {
  return Object.fromEntries(TABLES.flatMap(({ retention }) => Object.entries(retention(kept))))
}

/** Every column in which secrets are sealed. A test finds each of the schema here. */
export const SEALED_COLUMNS: readonly SealedColumn[] = TABLES.flatMap(({ sealed = [] }) => sealed)
