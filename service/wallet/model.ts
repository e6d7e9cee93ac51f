import type { Usdc } from '../kit/money.ts'
import type { OpenLock } from '../ledger/model.ts'

export interface Wallet {
  /** The identity provider's id of its owner. */
  userId: string
  /** Where it takes deposits on chain; null until it has an address. */
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

export interface Deposited {
  amount: Usdc
  transactionHash: string | null
  newBalance: Usdc
}

export interface Credits {
  balance: Usdc
  granted: Usdc
  spent: Usdc
}

export interface Transaction {
  id: string
  type: 'deposit' | 'charge' | 'earning' | 'withdrawal'
  amount: Usdc
  balanceAfter: Usdc
  reference: string | null
  at: Date
}
