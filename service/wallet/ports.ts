import type { Address, Authorization, Hex, SignedAuthorization } from '../chain/model.ts'
import type { Network, NetworkName } from '../chain/networks.ts'
import type { Person } from '../kit/caller.ts'
import type { Id } from '../kit/ids.ts'
import type { Usdc } from '../kit/money.ts'
import type { Statements } from '../kit/transaction.ts'
import type { Environment, Owner } from '../kit/owner.ts'
import type { JsonObject } from '../queue/model.ts'
import type {
  Cursor,
  FailureReason,
  OwnAddress,
  PayoutTerms,
  Reconciliation,
  Sweep,
  Transfer,
  Withdrawal,
  WithdrawalState,
} from './model.ts'

/** Addresses by public derivation: handing one out takes no key that could move anything. */
export interface AddressBook {
  /** Of which account they are. */
  readonly account: string
  readonly treasury: Address
  addressAt(index: number): Address
  /** With its checksum. */
  written(address: Address): string
}

/** Signs for those addresses; a worker alone has one. */
export interface Signer {
  readonly account: string
  sign(by: number | 'treasury', network: Network, authorization: Authorization): SignedAuthorization
}

/** Stores addresses, deposits and withdrawals. */
export interface WalletStore {
  addresses: AddressStore
  deposits: DepositStore
  cursors: CursorStore
  withdrawals: WithdrawalStore
  sweeps: SweepStore
  reports: ReportStore
  alerts: AlertStore
  payoutAddresses: PayoutAddressStore
  /** One transaction, repeated after a conflict with another; the ledger's movements may take part. */
  together<T>(work: (inside: Statements) => Promise<T>): Promise<T>
}

export interface AddressStore {
  find(owner: Owner): Promise<OwnAddress | null>
  /** The owner's address, made now or there before. */
  give(owner: Owner, account: string, derive: (index: number) => Address, now: Date): Promise<OwnAddress>
  findAll(addresses: readonly Address[]): Promise<readonly OwnAddress[]>
  /** Those of an environment with an index from this one on, in order. */
  from(environment: Environment, index: number): Promise<readonly OwnAddress[]>
}

export interface DepositStore {
  /** False when it was recorded before. */
  record(inside: Statements, deposit: { transfer: Transfer; owner: Owner; act: string; now: Date }): Promise<boolean>
  /** How many transfers of each of these transactions are recorded. */
  counts(network: NetworkName, hashes: readonly Hex[]): Promise<ReadonlyMap<Hex, number>>
  ofTransaction(network: NetworkName, hash: Hex): Promise<readonly Recorded[]>
  /** What one act recorded at an address. */
  ofAct(network: NetworkName, address: Address, act: string): Promise<readonly Recorded[]>
  since(network: NetworkName, block: bigint): Promise<readonly Recorded[]>
  markGone(transfer: Pick<Transfer, 'network' | 'transactionHash'>, gone: Date | null): Promise<void>

  /** Locks the hash until the transaction's end, against claims and credits of the same deposit in the sandbox. */
  lockHash(hash: string, inside: Statements): Promise<void>
  /** The user who claimed this transaction as a deposit in the sandbox. */
  claimantOf(hash: string, inside: Statements): Promise<string | null>
  addClaim(hash: string, userId: string, inside: Statements): Promise<void>
}

export interface Recorded {
  transfer: Transfer
  owner: Owner
  act: string
  goneAt: Date | null
}

export interface CursorStore {
  read(network: NetworkName): Promise<Cursor | null>
  write(cursor: Cursor): Promise<void>
}

export interface WithdrawalStore {
  add(withdrawal: NewWithdrawal, inside: Statements): Promise<Withdrawal>
  find(id: string, inside?: Statements): Promise<Withdrawal | null>
  list(owner: Owner, page: { limit: number; offset: number }): Promise<{ withdrawals: Withdrawal[]; total: number }>
  /** Those that have not ended: accounts take turns, each with its oldest first. */
  open(limit: number): Promise<readonly Withdrawal[]>
  /** Under way from this payer: what its balance must still cover. */
  outgoing(payer: Address): Promise<bigint>
  /** Fixes the terms; null where it was not pending any more. */
  submit(id: string, terms: PayoutTerms | null, now: Date): Promise<Withdrawal | null>
  noteHash(id: string, hash: Hex): Promise<void>
  /** False where it was not in this state any more. */
  end(inside: Statements, ended: { id: string; from: WithdrawalState; how: WithdrawalEnd; now: Date }): Promise<boolean>
}

export interface NewWithdrawal {
  id: Id<'wdr'>
  owner: Owner
  network: NetworkName
  to: Address
  amount: Usdc
  nonce: Hex
  simulated: boolean
  now: Date
}

export type WithdrawalEnd =
  | { state: 'confirmed'; transactionHash: Hex | null; blockNumber: bigint | null }
  | { state: 'failed'; reason: FailureReason }

export interface SweepStore {
  /** Addresses of this account with at least so much that was credited and not carried away. */
  candidates(network: NetworkName, account: string, minimum: bigint, limit: number): Promise<readonly OwnAddress[]>
  /** Null where one is under way for this address already. */
  begin(sweep: Omit<Sweep, 'id'>, now: Date): Promise<Sweep | null>
  open(network: NetworkName): Promise<readonly Sweep[]>
  end(sweep: Sweep, state: 'settled' | 'failed', hash: Hex | null, now: Date): Promise<void>
}

export interface PayoutAddressStore {
  find(owner: Owner): Promise<Address | null>
  /** False when it is this one already. */
  set(owner: Owner, address: Address | null, now: Date, inside: Statements): Promise<boolean>
}

export interface ReportStore {
  /** What the wallet's own rows say; read where the ledger's figures are read. */
  snapshot(network: NetworkName, inside: Statements): Promise<Snapshot | null>
  add(report: Reconciliation): Promise<void>
  newest(network: NetworkName): Promise<Reconciliation | null>
}

export interface Snapshot {
  /** Up to here everything on chain is booked. */
  cursor: Cursor
  capital: bigint
  /** Booked, but from a block after the cursor's. */
  laterDeposits: bigint
  laterWithdrawals: bigint
  /** Not booked yet, though it may be on chain. */
  submitted: readonly Withdrawal[]
  /** Every address that ever took a deposit. */
  addresses: readonly Address[]
}

/** Wallets that pay for others, and how far the books are with what they paid. */
export interface Payers {
  addresses: readonly Address[]
  /** Not booked yet, though it may be on chain. */
  open: readonly { payer: Address; nonce: Hex; amount: bigint }[]
  /** Booked, but from a later block than the one that is asked about. */
  later: bigint
}

export interface AlertStore {
  find(owner: Owner): Promise<Usdc | null>
  set(owner: Owner, below: Usdc | null): Promise<void>
  /** All of them, in pages by owner. */
  after(last: Alert | null, limit: number): Promise<readonly Alert[]>
  /** False where it is so already. */
  mark(owner: Owner, alerted: Date | null, inside: Statements): Promise<boolean>
}

export interface Alert {
  owner: Owner
  below: Usdc
  alertedAt: Date | null
}

/** Notifies the owner's endpoints, in the transaction of the event. */
export type AnnounceEvent = (
  inside: Statements,
  event: { owner: Owner; event: 'wallet.low_balance'; id: Id<'evt'>; data: JsonObject },
) => Promise<void>

/** Makes a person a user with wallets, once, however often it is called. */
export type SignUp = (person: Person) => Promise<unknown>

/** What paid for something that an owner sells, by the transactions that paid. */
export interface Sales {
  /** Those of these transactions. */
  among(owner: Owner, hashes: readonly string[]): Promise<ReadonlySet<string>>
  /** Of the sales that began then or later. */
  since(owner: Owner, since: Date): Promise<readonly string[]>
}
