import type { OwnerPages } from '../../api/mcp/results.ts'
import type { Caller } from '../../kit/caller.ts'
import type { Catalogue } from '../service/catalogue/catalogue.ts'
import type { Calls } from '../service/calls/calls.ts'
import type { ToolPayments } from '../service/pay/payments.ts'
import { McpFault, type McpAsk } from '../../api/mcp/parts.ts'
import type { Environment } from '../../kit/owner.ts'
import type { UserId } from '../model/tool.ts'

/** The part of the catalogue that a client sees, and the user it sees it as. */
export interface View {
  environment: Environment
  viewer: UserId | null
  /** `few`: five tools that lead to all others. */
  shows: 'few' | 'all'
  provider: string | null
  collection: string | null
  /** Without a key: each call is paid by itself. */
  isGuest: boolean
}

export function viewOf({ caller, guest, query }: McpAsk): View {
  const { view, provider = null, collection = null } = query
  return {
    environment: caller.environment,
    viewer: caller.user?.id ?? null,
    shows: view === 'all' || provider !== null || collection !== null ? 'all' : 'few',
    provider,
    collection,
    isGuest: guest !== null,
  }
}

/** A page of the tools in a view, and the cursor of the next where there is one. */
export async function pageOf({ list }: Pick<Catalogue, 'list'>, view: View, cursor: string | undefined) {
  const { environment, viewer, provider, collection } = view
  const offset = fromCursor(cursor)
  if (offset === null) throw McpFault.params('cursor: was not issued by this server')
  const { tools, total } = await list({ environment, viewer, provider, collection, limit: PAGE, offset })
  const next = offset + tools.length
  return { tools, ...(tools.length > 0 && next < total ? { nextCursor: toCursor(next) } : {}) }
}

/** A cursor is the number of tools before its page. */
function fromCursor(cursor: string | undefined): number | null {
  if (cursor === undefined) return 0
  const text = Buffer.from(cursor, 'base64url').toString()
  return /^o\d{1,9}$/.test(text) ? Number(text.slice(1)) : null
}

function toCursor(offset: number): string {
  return Buffer.from(`o${String(offset)}`).toString('base64url')
}

const PAGE = 100

export interface ToolServerDeps {
  catalogue: Pick<Catalogue, 'bySlug' | 'get' | 'isSimulated' | 'list' | 'search'>
  calls: Pick<Calls, 'call' | 'result' | 'state' | 'balance'>
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
