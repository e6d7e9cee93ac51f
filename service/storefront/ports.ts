import type { Caller } from '../kit/caller.ts'
import type { Id } from '../kit/ids.ts'
import type { Usdc } from '../kit/money.ts'
import type { Owner } from '../kit/owner.ts'
import type { ToolOffer } from '../sales/model.ts'

/** The account with this handle; null when there is none. */
export type AccountByHandle = (handle: string) => Promise<string | null>

/** Pays an address from the caller's account. */
export interface AccountPayments {
  pay(
    caller: Caller,
    request: {
      url: string
      method: string
      headers: Readonly<Record<string, string>>
      body: string | null
      maxAmount: Usdc
    },
    operation: Id<'op'>,
    options: { keyed: boolean; background: boolean },
  ): Promise<{
    payment: { id: string; amount: Usdc } | null
    response: {
      status: number
      headers: Readonly<Record<string, string | readonly string[]>>
      body: string
      encoding: 'utf8' | 'base64'
    } | null
  }>
}

/** The products of one kind. */
export interface ProductLists {
  /** Their ids and names, without all that a page of tools shows. */
  listTools(owner: Owner, limit: number): Promise<readonly { id: string; name: string }[]>
  /** By id. Those that are not for sale any more are missing. */
  toolOffers(owner: Owner, ids: readonly string[]): Promise<ReadonlyMap<string, ToolOffer>>
}
