import type { Config } from '../config.ts'
import type { Database } from '../database/client.ts'
import { systemClock } from '../kit/clock.ts'
import { createLedger } from '../ledger/service.ts'
import { createLedgerStore } from '../ledger/store/ledger.ts'
import { createPayerBooks } from '../outgoing-payments/store/payer-books.ts'
import { createReconciling, type Reconciling } from '../wallet/service/reconcile.ts'
import { createWalletStore } from '../wallet/store/wallet-store.ts'
import { openChains } from './chains.ts'
import { openKeys } from './keys.ts'

/** For the command line: compares the books with the chain without a running service. */
export async function openReconciling(
  config: Config,
  database: Database,
): Promise<{ reconciling: Reconciling; close(): Promise<void> }> {
  const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined }
  const chains = await openChains({ config, clock: systemClock, log: quiet })
  const { book } = await openKeys(config, chains)
  const reconciling = createReconciling({
    ledger: createLedger(createLedgerStore(database.statements, systemClock), systemClock),
    store: createWalletStore(database.statements),
    book,
    chains: chains.byNetwork,
    payers: createPayerBooks(database.statements),
    atOneMoment: (read) => database.transaction(read, { isolationLevel: 'RepeatableRead', timeoutMs: 60_000 }),
    clock: systemClock,
    log: quiet,
    measures: { count: () => undefined },
  })
  return { reconciling, close: () => chains.close() }
}
