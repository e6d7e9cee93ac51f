import type { McpAsk } from '../../api/mcp/mount.ts'
import type { Environment } from '../../kit/owner.ts'
import type { UserId } from '../model/tool.ts'

/** Which part of the catalogue somebody looks at, and as whom. */
export interface View {
  environment: Environment
  viewer: UserId | null
  /** `few`: four tools that lead to all others. */
  shows: 'few' | 'all'
  provider: string | null
  collection: string | null
}

export function viewOf({ caller, query }: McpAsk): View {
  const { view, provider = null, collection = null } = query
  return {
    environment: caller.environment,
    viewer: caller.user?.id ?? null,
    shows: view === 'all' || provider !== null || collection !== null ? 'all' : 'few',
    provider,
    collection,
  }
}

/** Pages are counted; a cursor says where the next one begins. */
export function fromCursor(cursor: string | undefined): number | null {
  if (cursor === undefined) return 0
  const text = Buffer.from(cursor, 'base64url').toString()
  return /^o\d{1,9}$/.test(text) ? Number(text.slice(1)) : null
}

export function toCursor(offset: number): string {
  return Buffer.from(`o${String(offset)}`).toString('base64url')
}
