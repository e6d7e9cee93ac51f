import type { Address, Hex } from '../chain/model.ts'
import type { NetworkName } from '../chain/networks.ts'
import type { Id } from '../kit/ids.ts'
import type { Usdc } from '../kit/money.ts'
import type { OpenLock } from '../ledger/model.ts'
import type { JsonObject } from '../queue/model.ts'
import type { Environment, Owner } from '../kit/owner.ts'

export interface Wallet {
  /** The identity provider's id of the owner. */
  userId: string
  /** The address for deposits on chain. Null when the server has no addresses. */
  address: string | null
  balance: Usdc
  available: Usdc
  locks: readonly OpenLock[]
  locked: Usdc
  deposited: Usdc
  spent: Usdc
}

export interface Deposit {
  amount: Usdc
  transactionHash: string | null
}

export interface Deposited extends Deposit {
  newBalance: Usdc
}

export interface Credits {
  /** Why an account has no free credits: too many accounts of its mail domain or its address signed up that day. */
  withheld: 'sign_up_bound' | null
  balance: Usdc
  granted: Usdc
  spent: Usdc
}

export interface Transaction {
  id: string
  /**
   * A `sale` arrived on chain like a deposit, and paid for something that the owner sells. A `refund` gave back what was
   * paid, to a buyer or to the owner.
   */
  type: 'deposit' | 'sale' | 'charge' | 'earning' | 'withdrawal' | 'refund'
  amount: Usdc
  balanceAfter: Usdc
  reference: string | null
  at: Date
}

/** The network on which an environment's wallets hold their money. */
export const NETWORK_OF = { production: 'base', sandbox: 'base-sepolia' } as const satisfies Record<
  Environment,
  NetworkName
>

/** The address to send USDC to for a wallet. */
export interface ReceivingAddress {
  /** With its checksum. */
  address: string
  network: NetworkName
  /** EIP-681: a phone's wallet app opens it with token, network and recipient filled in. */
  link: string
}

/** A deposit address and its owner. */
export interface OwnAddress {
  index: number
  /** The BIP-32 account whose key controls the address. */
  account: string
  address: Address
  owner: Owner
  since: Date
}

/** The owner id of the treasury. */
export const PLATFORM = 'platform'

/** USDC that arrived at one of our addresses, read from its transaction's receipt. */
export interface Transfer {
  network: NetworkName
  transactionHash: Hex
  /**
   * Its position among all USDC transfers of the transaction. A log's number within the block would change in a
   * reorganization.
   */
  place: number
  from: Address
  to: Address
  value: bigint
  blockNumber: bigint
  blockHash: Hex
}

/** How far the monitor has read a network. */
export interface Cursor {
  network: NetworkName
  blockNumber: bigint
  blockHash: Hex
  head: bigint
  at: Date
}

export type WithdrawalState = 'pending' | 'submitted' | 'confirmed' | 'failed'

/** A refund is paid like a withdrawal, under its own id. */
export type PayoutKind = 'withdrawal' | 'refund'

export interface Withdrawal {
  id: Id<'wdr'> | Id<'rfd'>
  kind: PayoutKind
  owner: Owner
  network: NetworkName
  to: Address
  amount: Usdc
  state: WithdrawalState
  nonce: Hex
  /** Null until the terms are fixed. Before that no money can leave. */
  terms: PayoutTerms | null
  /** Paid without a chain. */
  simulated: boolean
  transactionHash: Hex | null
  blockNumber: bigint | null
  reason: FailureReason | null
  createdAt: Date
  submittedAt: Date | null
  endedAt: Date | null
}

export interface NewPayout {
  id: Withdrawal['id']
  kind: PayoutKind
  owner: Owner
  /** In whose number of the day it counts; `owner` where it is absent. */
  countedOf?: Owner
  to: Address
  amount: Usdc
  /** It follows from the id where there is none. */
  nonce?: Hex | null
  /** It goes back to where it came from. */
  returns: boolean
}

/** The terms of a withdrawal's one authorization, besides recipient and amount. */
export interface PayoutTerms {
  payer: Address
  /** Unix seconds. */
  validBefore: bigint
  /** The newest block when the terms were fixed. Any use of the authorization comes later. */
  seenBlock: bigint
}

/** Why no money left: the treasury could not pay in time, the authorization expired unused, or it was canceled. */
export type FailureReason = 'treasury_short' | 'expired' | 'canceled'

/** A transfer from a deposit address to the treasury. */
export interface Sweep {
  id: bigint
  network: NetworkName
  index: number
  address: Address
  amount: bigint
  nonce: Hex
  /** Unix seconds. */
  validBefore: bigint
}

/** The books compared with the chain, as of one block. */
export interface Reconciliation {
  network: NetworkName
  blockNumber: bigint
  at: Date
  /** The balances of all users, and the platform's earnings. */
  wallets: bigint
  revenue: bigint
  /** The operator's own money in the treasury. */
  capital: bigint
  /** The treasury's balance on chain. */
  treasury: bigint
  depositAddresses: bigint
  payers: bigint
  /** Money between chain and books: paid out and not booked yet, or booked from a later block. */
  inFlight: bigint
  difference: bigint
}

/** What the wallet publishes, each in the transaction in which it happened. */
export type WalletFact =
  /** With the id and the data of its event. */
  | { kind: 'wallet.low_balance'; owner: Owner; id: Id<'evt'>; data: JsonObject }
  /** A withdrawal, or a refund's payout, is in its next state. */
  | { kind: 'wallet.payout_changed'; payout: Withdrawal }
  /** Perhaps by an attacker with a stolen session. Null when the owner has none any more. */
  | { kind: 'wallet.payout_address_changed'; owner: Owner; address: Address | null }
