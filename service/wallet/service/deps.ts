import type { Address, Chain } from '../../chain/model.ts'
import type { NetworkName } from '../../chain/networks.ts'
import type { Facilitator } from '../../facilitator/service/facilitator.ts'
import type { Clock } from '../../kit/clock.ts'
import type { Failpoints } from '../../kit/failpoints.ts'
import type { Log, Measures } from '../../kit/log.ts'
import type { Usdc } from '../../kit/money.ts'
import type { Statements } from '../../kit/transaction.ts'
import type { Owner } from '../../kit/owner.ts'
import type { Ledger } from '../../ledger/service.ts'
import type { Outflows } from '../../outflow/service.ts'
import type { Announcement } from '../../queue/model.ts'
import type { AddressBook, Payers, Sales, SignUp, Signer, AnnounceEvent, WalletStore } from '../ports.ts'

/** What the wallet is made of. */
export interface WalletDeps {
  ledger: Ledger
  outflow: Outflows
  store: WalletStore
  facilitator: Pick<Facilitator, 'settle'>
  /** Null where the server has no addresses to give. */
  book: AddressBook | null
  /** Null in every process but a worker. */
  signer: Signer | null
  /** The networks that have an RPC. */
  chains: ReadonlyMap<NetworkName, Chain>
  /** Wallets of the house besides, which pay for others; as of the moment of `inside`, against this block. */
  payers(network: NetworkName, block: bigint, inside: Statements): Promise<Payers>
  /** Of these locks, those that this agent asked for. */
  locksOf(agentId: string, locks: readonly string[]): Promise<ReadonlySet<string>>
  sales: Sales
  /** Whether the free credits of this account's sign-up were held back. */
  creditsWithheld(userId: string): Promise<boolean>
  /** What the funding of those wallets will still take out of the treasury. */
  promised(treasury: Address): Promise<bigint>
  /** Everything read inside is of one moment. */
  atOneMoment<T>(read: (inside: Statements) => Promise<T>): Promise<T>
  announce(inside: Statements, announcement: Announcement): Promise<void>
  event: AnnounceEvent
  /** A mail to the owner, in the transaction of the change: a stolen session could have made it. */
  notifyOfPayoutAddress(inside: Statements, owner: Owner, address: Address | null): Promise<void>
  signUp: SignUp
  clock: Clock
  log: Log
  measures: Measures
  failpoints: Failpoints
  settings: Settings
}

export interface Settings {
  /** A transfer this deep is believed. */
  confirmations: number
  /** Less than this stays at a deposit address. */
  sweepMinimum: Usdc
  /** The least that one withdrawal may take out. */
  withdrawalMinimum: Usdc
  /** Of the identity provider's messages; null where there is none. */
  hook: { secret: string; issuer: string | null } | null
  /** Where an owner with a low balance adds funds. */
  topUpUrl: string | null
}

/** What every process agrees on, so not set from outside. */
export const PACE = {
  /** A block of either network. */
  blockMs: 2_000,
  /** Blocks in one search; less where the RPC wants that. */
  searchMax: 10_000n,
  /** Read again each time: a node may have answered without its newest logs. */
  overlap: 20n,
  /** Read again when the chain is not the one that was read. */
  rewind: 1_000n,
  /** How far back a deposit without a hash is looked for where no monitor has read: a day. */
  lookBack: 43_200n,
  /** Transactions whose receipts are asked for and credited together: each has a connection to the database. */
  creditsAtOnce: 8,
} as const
