import type { Address, Hex } from '../chain/model.ts'
import type { NetworkName } from '../chain/networks.ts'
import type { Id } from '../kit/ids.ts'
import type { Usdc } from '../kit/money.ts'
import type { OpenLock } from '../ledger/model.ts'
import type { Environment, Owner } from '../kit/owner.ts'

export interface Wallet {
  /** The identity provider's id of its owner. */
  userId: string
  /** Where it takes deposits on chain; null where the server has no addresses to give. */
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
  /** Why an account has none: too many of its mail domain or its address signed up that day. */
  withheld: 'sign_up_bound' | null
  balance: Usdc
  granted: Usdc
  spent: Usdc
}

export interface Transaction {
  id: string
  /** A `sale` came over the chain as a deposit does, and paid for something that the owner sells. */
  type: 'deposit' | 'sale' | 'charge' | 'earning' | 'withdrawal'
  amount: Usdc
  balanceAfter: Usdc
  reference: string | null
  at: Date
}

/** Where money for the wallets of an environment is on chain. */
export const NETWORK_OF = { production: 'base', sandbox: 'base-sepolia' } as const satisfies Record<
  Environment,
  NetworkName
>

/** Where to send USDC for a wallet. */
export interface ReceivingAddress {
  /** With its checksum. */
  address: string
  network: NetworkName
  /** EIP-681: a phone's wallet opens it with token, network and recipient filled in. */
  link: string
}

/** A deposit address and its owner. */
export interface OwnAddress {
  index: number
  /** The BIP-32 account whose key it belongs to. */
  account: string
  address: Address
  owner: Owner
  since: Date
}

/** The owner of the treasury. */
export const PLATFORM = 'platform'

/** USDC that came to an address of ours, read from the receipt of its transaction. */
export interface Transfer {
  network: NetworkName
  transactionHash: Hex
  /** Among all USDC transfers of its transaction. A log's number in its block would change when that is reorganised. */
  place: number
  from: Address
  to: Address
  value: bigint
  blockNumber: bigint
  blockHash: Hex
}

/** How far a network has been read. */
export interface Cursor {
  network: NetworkName
  blockNumber: bigint
  blockHash: Hex
  head: bigint
  at: Date
}

export type WithdrawalState = 'pending' | 'submitted' | 'confirmed' | 'failed'

export interface Withdrawal {
  id: Id<'wdr'>
  owner: Owner
  network: NetworkName
  to: Address
  amount: Usdc
  state: WithdrawalState
  nonce: Hex
  /** Null until they are fixed. Before that nothing can leave. */
  terms: PayoutTerms | null
  /** Paid on no chain. */
  simulated: boolean
  transactionHash: Hex | null
  blockNumber: bigint | null
  reason: FailureReason | null
  createdAt: Date
  submittedAt: Date | null
  endedAt: Date | null
}

/** What a withdrawal's one authorization says besides its recipient and amount. */
export interface PayoutTerms {
  payer: Address
  /** Unix seconds. */
  validBefore: bigint
  /** The newest block when they were fixed: any use of the authorization comes later. */
  seenBlock: bigint
}

/** Why nothing left: the treasury could not pay in time, the authorization expired unused, or it was canceled. */
export type FailureReason = 'treasury_short' | 'expired' | 'canceled'

/** What is carried from a deposit address into the treasury. */
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

/** The books and the chain, as of one block. */
export interface Reconciliation {
  network: NetworkName
  blockNumber: bigint
  at: Date
  /** What people have, and what the house earned. */
  wallets: bigint
  revenue: bigint
  /** What the operator put into the treasury. */
  capital: bigint
  /** What is on chain. */
  treasury: bigint
  depositAddresses: bigint
  payers: bigint
  /** On its way between the two: paid out and not yet booked, or booked from a later block. */
  inFlight: bigint
  difference: bigint
}
