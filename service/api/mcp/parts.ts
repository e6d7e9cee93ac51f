import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import type { CallToolResult, JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import type { Request, Response } from 'express'
import type { Redis } from 'ioredis'
import type { Caller } from '../../kit/caller.ts'
import type { Clock } from '../../kit/clock.ts'
import type { Id } from '../../kit/ids.ts'
import type { Log } from '../../kit/log.ts'
import type { RateLimit } from '../limits.ts'

/** Somebody who speaks MCP, and what they ask for in the address. */
export interface McpAsk {
  caller: Caller
  /** The address's query: which view of the whole they want. */
  query: Readonly<Record<string, string>>
  /** Names the act of this request. */
  operation: Id<'op'>
  /** Whoever loses the connection comes back for the answer. */
  resumable: boolean
}

export interface McpDeps {
  clock: Clock
  log: Log
  redis: Redis | null
  /** The address that clients know, with its path. */
  address: string
  identify(authorization: string | undefined, request: Request): Promise<Caller>
  limit: RateLimit
  bodyBytesMax: number
  /** Browsers' pages that may speak to it. */
  origins: readonly string[]
  sessionSecret: string
  /** One for each request, for nothing is kept between two: any process can serve the next. */
  serve(ask: McpAsk): McpServer
  /** Whether the answer to this message is kept. */
  keeps(message: JSONRPCMessage): boolean
  /** The kept answer; null as long as there is none. */
  kept(caller: Caller, operation: Id<'op'>): Promise<CallToolResult | null>
}

/** In the protocol's own form: its clients know what to do with these. */
export function refuse(response: Response, status: number, code: number, message: string): void {
  response.status(status).json({ jsonrpc: '2.0', error: { code, message }, id: null })
}
