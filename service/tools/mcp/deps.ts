import type { OwnerPages } from '../../api/mcp/results.ts'
import type { Caller } from '../../kit/caller.ts'
import type { Catalogue } from '../service/catalogue/catalogue.ts'
import type { Calls } from '../service/calls/calls.ts'
import type { ToolPayments } from '../service/pay/payments.ts'

export interface ToolServerDeps {
  catalogue: Pick<Catalogue, 'bySlug' | 'list' | 'search'>
  calls: Pick<Calls, 'call' | 'state' | 'balance'>
  /** Sells calls to clients without a key. */
  payments: Pick<ToolPayments, 'offer' | 'buy' | 'journal' | 'dialects'>
  facilitator: string
  /** Counts a call in the current minute. Throws when the key has used up its limit. */
  countCall(caller: Caller): Promise<void>
  /** The same for a client without a key, by its address: the limit of all paid requests. */
  countGuest(address: string): Promise<void>
  pages: OwnerPages
  /** The operator's own page for adding funds, as messages name it. Null when there is none. */
  topUpUrl: string | null
  version: string
}
