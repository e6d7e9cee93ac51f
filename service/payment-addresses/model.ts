import type { Address, Hex } from '../chain/model.ts'
import type { NetworkName } from '../chain/networks.ts'
import type { Choice } from '../checkouts/model.ts'
import type { Id } from '../kit/ids.ts'
import type { Usdc } from '../kit/money.ts'
import type { Owner } from '../kit/owner.ts'
import type { ReceiptTo } from '../sales/model.ts'

/** An address of our own at which one order is paid by plain transfers. Its key is `2/<index>` of the account. */
export interface PaymentAddress {
  id: Id<'adr'>
  /** The seller. */
  owner: Owner
  checkoutId: string
  network: NetworkName
  account: string
  index: number
  address: Address
  /** What the order costs. */
  amount: Usdc
  bought: Bought
  /**
   * `open`: not all of the money has arrived. `paying`: an authorization of the order is signed. `paid`: the order is
   * paid. `closed`: it takes no payment any more. What is left at the address is the buyer's in each state.
   */
  state: 'open' | 'paying' | 'paid' | 'closed'
  /** How many authorizations of the order were signed. */
  attempt: number
  /** The last second of the newest of them. */
  validBefore: bigint | null
  /** What was at the address when it was last read. */
  balance: Usdc
  /** Why it is closed, or why the last attempt was refused. */
  reason: string | null
  expiresAt: Date
  createdAt: Date
  lookedAt: Date
  /** Null where its balance is read only on request. */
  lookAt: Date | null
  endedAt: Date | null
  /** The block from which transfers are searched for their senders. Null before the first look. */
  fromBlock: bigint | null
  /** The block up to which they are still to be searched. Null where nothing has come since. */
  searchTo: bigint | null
  /**
   * Who sent the money until the order ended, as far as the chain tells. An exchange sends for many from one address: it
   * names no buyer, and nothing goes back to it.
   */
  senders: readonly Address[]
}

export interface UnsearchedAddress extends PaymentAddress {
  searchTo: bigint
}

/** What the payment buys. */
export interface Bought {
  input: Readonly<Record<string, unknown>>
  choice: Choice
  quoteId: string
  receipt: ReceiptTo | null
  /** How long an authorization of the payment is valid. */
  seconds: number
}

/** Money on its way back to the buyer. Its terms are stored before they are signed. */
export interface AddressReturn {
  id: bigint
  addressId: string
  recipient: Address
  amount: Usdc
  nonce: Hex
  validBefore: bigint
  state: 'open' | 'settled' | 'failed'
  transactionHash: Hex | null
  createdAt: Date
  endedAt: Date | null
}
