import type { Address, Authorization, Hex, SignedAuthorization } from '../chain/model.ts'
import type { Network, NetworkName } from '../chain/networks.ts'
import type { Usdc } from '../kit/money.ts'
import type { Statements } from '../kit/transaction.ts'
import type { Environment, Owner } from '../kit/owner.ts'
import type {
  Cursor,
  FailureReason,
  OwnAddress,
  PayoutKind,
  PayoutTerms,
  Reconciliation,
  Sweep,
  Transfer,
  Withdrawal,
  WithdrawalState,
} from './model.ts'

/** Derives addresses publicly, without any key that could move money. */
export interface AddressBook {
  /** The id of the account that the addresses belong to. */
  readonly account: string
  readonly treasury: Address
  addressAt(index: number): Address
  /** Where one order is paid. */
  paymentAddressAt(index: number): Address
  /** With its checksum. */
  written(address: Address): string
}

/** Signs for those addresses. Only a worker has one. */
export interface Signer {
  readonly account: string
  sign(by: number | 'treasury' | { order: number }, network: Network, authorization: Authorization): SignedAuthorization
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
  /** Runs one transaction, and repeats it after a conflict. The ledger's movements may be part of it. */
  together<T>(work: (inside: Statements) => Promise<T>): Promise<T>
}

export interface AddressStore {
  find(owner: Owner): Promise<OwnAddress | null>
  /** The owner's address, new or existing. */
  give(owner: Owner, account: string, derive: (index: number) => Address, now: Date): Promise<OwnAddress>
  findAll(addresses: readonly Address[], inside?: Statements): Promise<readonly OwnAddress[]>
  /** An environment's addresses from this index on, in order. */
  from(environment: Environment, index: number): Promise<readonly OwnAddress[]>
}

export interface DepositStore {
  /** False when the deposit was recorded before. */
  record(inside: Statements, deposit: { transfer: Transfer; owner: Owner; act: string; now: Date }): Promise<boolean>
  /** How many transfers of each transaction are recorded. */
  counts(network: NetworkName, hashes: readonly Hex[]): Promise<ReadonlyMap<Hex, number>>
  ofTransaction(network: NetworkName, hash: Hex, inside?: Statements): Promise<readonly Recorded[]>
  /** The deposits at an address that one act recorded. */
  ofAct(network: NetworkName, address: Address, act: string): Promise<readonly Recorded[]>
  since(network: NetworkName, block: bigint): Promise<readonly Recorded[]>
  /** Transactions that are in a block again. */
  cameBack(network: NetworkName, hashes: readonly Hex[]): Promise<void>
  markGone(transfer: Pick<Transfer, 'network' | 'transactionHash'>, gone: Date | null): Promise<void>

  /**
   * Locks the hash until the end of the transaction, so that a claim and a credit of the same sandbox deposit cannot
   * run at once.
   */
  lockHash(hash: string, inside: Statements): Promise<void>
  /** The user who claimed this transaction as a sandbox deposit. */
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
  /** By the nonces of their authorizations. */
  byNonces(nonces: readonly Hex[], inside?: Statements): Promise<readonly Withdrawal[]>
  /** Without refunds. */
  list(owner: Owner, page: { limit: number; offset: number }): Promise<{ withdrawals: Withdrawal[]; total: number }>
  /** Open payouts, also refunds. Accounts take turns, each with its oldest first. */
  open(limit: number): Promise<readonly Withdrawal[]>
  /** The sum of this payer's open withdrawals, which its balance must still cover. */
  outgoing(payer: Address, network: NetworkName): Promise<bigint>
  /** Fixes the terms. Null when the withdrawal was not pending any more. */
  submit(
    inside: Statements,
    submitted: { id: string; terms: PayoutTerms | null; now: Date },
  ): Promise<Withdrawal | null>
  noteHash(id: string, hash: Hex): Promise<void>
  /** Null when the withdrawal was not in this state any more. */
  end(
    inside: Statements,
    ended: { id: string; from: WithdrawalState; how: WithdrawalEnd; now: Date },
  ): Promise<Withdrawal | null>
}

export interface NewWithdrawal {
  id: Withdrawal['id']
  kind: PayoutKind
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
  /**
   * This account's addresses with at least this much money that was credited but not swept: first those of a higher index than
   * `after`, in their order.
   */
  candidates(
    of: { network: NetworkName; account: string; minimum: bigint },
    turn: { after: number; limit: number },
  ): Promise<readonly OwnAddress[]>
  /** Null when this address already has a sweep in progress. */
  begin(sweep: Omit<Sweep, 'id'>, now: Date): Promise<Sweep | null>
  open(network: NetworkName): Promise<readonly Sweep[]>
  end(sweep: Sweep, state: 'settled' | 'failed', hash: Hex | null, now: Date): Promise<void>
}

export interface PayoutAddressStore {
  find(owner: Owner): Promise<Address | null>
  /** False when this address is already stored. */
  set(owner: Owner, address: Address | null, now: Date, inside: Statements): Promise<boolean>
}

export interface ReportStore {
  /** The sums of the wallet's own rows, read in the same transaction as the ledger's sums. */
  snapshot(network: NetworkName, inside: Statements): Promise<Snapshot | null>
  add(report: Reconciliation): Promise<void>
  newest(network: NetworkName): Promise<Reconciliation | null>
}

export interface Snapshot {
  /** Everything on chain up to this block is booked. */
  cursor: Cursor
  capital: bigint
  /** Booked deposits from blocks after the cursor. */
  laterDeposits: bigint
  laterWithdrawals: bigint
  /** Withdrawals that may be on chain but are not booked yet. */
  submitted: readonly Withdrawal[]
  /** Every address that has ever received a deposit. */
  addresses: readonly Address[]
}

/** Our wallets that pay for other capabilities, and how much of their payments is booked. */
export interface Payers {
  addresses: readonly Address[]
  /** Payments that may be on chain but are not booked yet. */
  open: readonly { payer: Address; nonce: Hex; amount: bigint }[]
  /** Booked payments from blocks after the given one. */
  later: bigint
  /** Payments up to the given block whose holds had been given back: the operator's loss. */
  lost: bigint
}

/** Reads the payments of those wallets. */
export interface PayerReader {
  /** Whether the address is one of those wallets. */
  has(address: Address): Promise<boolean>
  /** Read in the transaction `inside`, as of this block. */
  books(network: NetworkName, block: bigint, inside: Statements): Promise<Payers>
  /** How much the funding of those wallets will still take from the treasury. */
  promised(treasury: Address, network: NetworkName): Promise<bigint>
  /** The nonces of the treasury's transfers to those wallets, of these transactions and of those under way. */
  fundings(network: NetworkName, hashes: readonly Hex[]): Promise<ReadonlySet<Hex>>
}

/** Reads the holds that agents created. */
export interface AgentHolds {
  /** The holds among these that this agent created. */
  of(agentId: string, holds: readonly string[]): Promise<ReadonlySet<string>>
}

/** Reads the free credits of sign-ups. */
export interface SignUpCredits {
  /** Whether the credits of this account's sign-up were withheld. */
  areWithheld(userId: string): Promise<boolean>
}

export interface AlertStore {
  find(owner: Owner): Promise<Usdc | null>
  set(owner: Owner, below: Usdc | null): Promise<void>
  /** All alerts, in pages by owner. */
  after(last: Alert | null, limit: number): Promise<readonly Alert[]>
  /** False when the alert already has this state. */
  mark(owner: Owner, alerted: Date | null, inside: Statements): Promise<boolean>
}

export interface Alert {
  owner: Owner
  below: Usdc
  alertedAt: Date | null
}

/** The transactions that paid for an owner's sales. */
export interface Sales {
  /** The transactions among these that paid for a sale. */
  among(owner: Owner, hashes: readonly string[]): Promise<ReadonlySet<string>>
  /** The transactions of the sales that began at that time or later. */
  since(owner: Owner, since: Date): Promise<readonly string[]>
}
