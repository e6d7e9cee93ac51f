import type { Chain } from '../../chain/model.ts'
import type { NetworkName } from '../../chain/networks.ts'
import type { Facilitator } from '../../facilitator/service/facilitator.ts'
import type { Clock } from '../../kit/clock.ts'
import type { Publish } from '../../kit/facts.ts'
import type { Failpoints } from '../../kit/failpoints.ts'
import type { Log, Measures } from '../../kit/log.ts'
import type { Usdc } from '../../kit/money.ts'
import type { Statements } from '../../kit/transaction.ts'
import type { Ledger } from '../../ledger/service.ts'
import type { Outflows } from '../../outflow/service.ts'
import type { Announcement } from '../../queue/model.ts'
import type { WalletFact } from '../model.ts'
import type { AddressBook, AgentHolds, PayerReader, Sales, Signer, SignUpCredits, WalletStore } from '../ports.ts'

/** The dependencies of the wallet. */
export interface WalletDeps {
  ledger: Ledger
  outflow: Outflows
  store: WalletStore
  facilitator: Pick<Facilitator, 'settle'>
  /** Null when the server has no addresses. */
  book: AddressBook | null
  /** Null in every process that is not a worker. */
  signer: Signer | null
  /** The networks that have an RPC. */
  chains: ReadonlyMap<NetworkName, Chain>
  payers: PayerReader
  agentHolds: AgentHolds
  sales: Sales
  signUpCredits: SignUpCredits
  /** All reads inside see the same snapshot. */
  atOneMoment<T>(read: (inside: Statements) => Promise<T>): Promise<T>
  announce(inside: Statements, announcement: Announcement): Promise<void>
  publish: Publish<WalletFact>
  clock: Clock
  log: Log
  measures: Measures
  failpoints: Failpoints
  settings: Settings
}

export interface Settings {
  /** A transfer needs this many confirmations. */
  confirmations: number
  /** A smaller balance stays at its deposit address. */
  sweepMinimum: Usdc
  /** The least that one withdrawal may take out. */
  withdrawalMinimum: Usdc
  /** Where an owner with a low balance adds funds. */
  topUpUrl: string | null
}

/** Values that every process must share, so they cannot be configured. */
export const PACE = {
  /** The most blocks in one search. Fewer when the RPC refuses so many. */
  searchMax: 10_000n,
  /** The number of blocks to read again each time, because a node may have answered without its newest logs. */
  overlap: 20n,
  /** The number of blocks to read again after a reorganization. */
  rewind: 1_000n,
  /** The number of blocks to search for a deposit without a hash when no monitor has read them: one day. */
  lookBack: 43_200n,
  /** How many transactions are read and credited at once. Each needs a database connection. */
  creditsAtOnce: 8,
} as const
