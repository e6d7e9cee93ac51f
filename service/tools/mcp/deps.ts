import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js'
import type { Caller } from '../../kit/caller.ts'
import { DomainError } from '../../kit/errors.ts'
import type { Log } from '../../kit/log.ts'
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
  log: Log
  version: string
}

/** An error of the protocol, which a model cannot act on. */
export function invalidParams(sentence: string): McpError {
  return new McpError(ErrorCode.InvalidParams, sentence)
}

/** The error that a client may see: protocol errors and the domain's messages, nothing internal. */
export function toProtocol(error: unknown, log: Log): McpError {
  if (error instanceof McpError) return error
  if (error instanceof DomainError && error.kind !== 'failed') return invalidParams(error.message)
  log.error({ err: error }, 'an MCP request failed')
  return new McpError(ErrorCode.InternalError, 'Something went wrong on our side.')
}
