import type { Caller } from '../kit/caller.ts'
import type { Id } from '../kit/ids.ts'
import type { Usdc } from '../kit/money.ts'
import type { Owner } from '../kit/owner.ts'
import type { Address } from '../chain/model.ts'
import type { NetworkName } from '../chain/networks.ts'
import type { AccountBuyer, AccountPayment, ToolOffer } from '../sales/model.ts'
import type { Product } from './model.ts'

/** The account with this handle; null when there is none. */
export type AccountByHandle = (handle: string) => Promise<string | null>

/** Pays from the caller's account. */
export interface AccountPayments {
  here: {
    /** Counts this call, which costs nothing. Throws where the caller's agent may not make it. */
    countFree(caller: Caller, request: PaidCall, operation: Id<'op'>): Promise<void>
    /** The account as a buyer for `maxAmount`, within the limits of its agent. Null where the recipient is no account here. */
    buyer(
      caller: Caller,
      purchase: { request: PaidCall; network: NetworkName; recipient: Address },
      operation: Id<'op'>,
    ): Promise<AccountBuyer | null>
  }
  /** Pays an address. */
  pay(
    caller: Caller,
    request: PaidCall,
    operation: Id<'op'>,
    options: { keyed: boolean; background: boolean },
  ): Promise<{
    payment: AccountPayment | null
    response: {
      status: number
      headers: Readonly<Record<string, string | readonly string[]>>
      body: string
      encoding: 'utf8' | 'base64'
    } | null
  }>
}

/** A request that costs money, and the most that it may cost. */
export interface PaidCall {
  url: string
  method: string
  headers: Readonly<Record<string, string>>
  body: string | null
  maxAmount: Usdc
}

/** The products of one kind. */
export interface ProductLists {
  /** Their ids and names, without all that a page of tools shows: at most so many on sale, and so many former ones. */
  listTools(owner: Owner, limit: number): Promise<readonly Omit<Product, 'kind'>[]>
  /** By id. Those that are not for sale any more are missing. */
  toolOffers(owner: Owner, ids: readonly string[]): Promise<ReadonlyMap<string, ToolOffer>>
}
