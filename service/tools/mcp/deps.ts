import type { Caller } from '../../kit/caller.ts'
import type { Catalogue } from '../service/catalogue/catalogue.ts'
import type { Calls } from '../service/calls/calls.ts'
import type { ToolPayments } from '../service/pay/payments.ts'

export interface ToolServerDeps {
  catalogue: Pick<Catalogue, 'bySlug' | 'list' | 'search'>
  calls: Pick<Calls, 'call' | 'find' | 'balance'>
  /** Sells calls to clients without a key. */
  payments: Pick<ToolPayments, 'offer' | 'buy' | 'journal' | 'dialects'>
  facilitator: string
  /** Counts a call in the current minute. Throws when the key has used up its limit. */
  countCall(caller: Caller): Promise<void>
  /** The same for a client without a key, by its address: the limit of all paid requests. */
  countGuest(address: string): Promise<void>
  topUpUrl: string | null
  version: string
}
