import type { Address } from '../../chain/model.ts'
import type { Budgets } from '../../budgets/service/budgets.ts'
import type { Clock } from '../../kit/clock.ts'
import type { Failpoints } from '../../kit/failpoints.ts'
import type { Log, Measures } from '../../kit/log.ts'
import type { StatementPool } from '../../kit/transaction.ts'
import type { Ledger } from '../../ledger/service.ts'
import type { Outflows } from '../../outflow/service.ts'
import type { Announce, ChainOf, HolderOf, PayerKeys, PaymentStore, Seal, Seller, Treasury } from '../ports.ts'

/** What paying is made of. Each factory takes the part of it that it uses. */
export interface OutgoingPaymentDeps {
  store: PaymentStore
  statements: StatementPool
  ledger: Pick<Ledger, 'capture' | 'release'>
  budgets: Pick<Budgets, 'actTogether' | 'countFree'>
  outflow: Pick<Outflows, 'assertOpen' | 'assertAllowed' | 'take' | 'giveBack' | 'isPaused'>
  seller: Seller
  treasury: Treasury
  /** Null where there is no seed: then a worker that has one signs. */
  keys: PayerKeys | null
  /** Whether this process funds and signs. */
  isWorker: boolean
  chainOf: ChainOf
  holderOf: HolderOf
  /** How deep a payment lies before it is captured. */
  confirmations: number
  seal: Seal
  announce: Announce
  clock: Clock
  log: Log
  measures: Measures
  /** Reached between any two states of a payment. */
  failpoints: Failpoints
  addresses: { api: string }
  /** As people write an address, with its checksum. */
  checksummed(address: Address): string
  /** How long a seller has for each of its two answers. */
  sellerTimeoutMs: number
  pause(ms: number): Promise<void>
}
