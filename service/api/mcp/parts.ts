import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import type { CallToolResult, JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import type { Request, Response } from 'express'
import type { Redis } from 'ioredis'
import type { Caller } from '../../kit/caller.ts'
import type { Clock } from '../../kit/clock.ts'
import type { Id } from '../../kit/ids.ts'
import type { Log } from '../../kit/log.ts'
import type { RateLimit } from '../limits.ts'

/** An MCP client's request: the caller, and the query of its address. */
export interface McpAsk {
  caller: Caller
  /** For a caller without a key, who pays for each call: the address by which such calls are limited. */
  guest: string | null
  /** The query of the address: which part of the tools the client wants. */
  query: Readonly<Record<string, string>>
  /** Names the operation of this request. */
  operation: Id<'op'>
  /** A client that loses the connection can come back for the answer. */
  resumable: boolean
}

export interface McpDeps {
  clock: Clock
  log: Log
  redis: Redis | null
  /** The address that clients know, with its path. */
  address: string
  identify(authorization: string | undefined, request: Request): Promise<Caller>
  /** The caller of requests without a key, which pay for each call. Null where nothing is sold so. */
  guest: Caller | null
  limit: RateLimit
  bodyBytesMax: number
  /** Origins of browser pages that may call it. */
  origins: readonly string[]
  sessionSecret: string
  /** One server per request. Nothing is stored between two requests, so any process can serve the next. */
  serve(ask: McpAsk): McpServer
  /** Whether the answer to this message is stored. */
  keeps(message: JSONRPCMessage): boolean
  /** The stored answer; null until there is one. */
  kept(caller: Caller, operation: Id<'op'>): Promise<CallToolResult | null>
}

/** An error in the protocol's own form, which its clients can handle. */
export function refuse(response: Response, status: number, code: number, message: string): void {
  response.status(status).json({ jsonrpc: '2.0', error: { code, message }, id: null })
}
