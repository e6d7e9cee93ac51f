import type { Config } from '../config.ts'
import type { Database } from '../database/client.ts'
import { systemClock } from '../kit/clock.ts'
import { createLedger } from '../ledger/service.ts'
import { createLedgerStore } from '../ledger/store/ledger.ts'
import { createPayerBooks } from '../outgoing-payments/store/payer-books.ts'
import { createBooking, type Booking } from '../wallet/service/booking.ts'
import { createWalletStore } from '../wallet/store/wallet-store.ts'
import { openChains } from './chains.ts'
import { openKeys } from './keys.ts'

/** For the command line: books what left the treasury and no row knows, without a running service. */
export async function openBooking(
  config: Config,
  { statements }: Pick<Database, 'statements'>,
): Promise<{ booking: Booking; close(): Promise<void> }> {
  const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined }
  const chains = await openChains({ config, clock: systemClock, log: quiet })
  const { book } = await openKeys(config, chains)
  const booking = createBooking({
    ledger: createLedger(createLedgerStore(statements, systemClock), systemClock),
    store: createWalletStore(statements),
    book,
    chains: chains.byNetwork,
    payers: createPayerBooks(statements),
    clock: systemClock,
  })
  return { booking, close: () => chains.close() }
}
