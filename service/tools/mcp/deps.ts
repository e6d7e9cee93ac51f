import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js'
import type { Caller } from '../../kit/caller.ts'
import { DomainError } from '../../kit/errors.ts'
import type { Log } from '../../kit/log.ts'
import type { Catalogue } from '../service/catalogue/catalogue.ts'
import type { Calls } from '../service/calls/calls.ts'

export interface ToolServerDeps {
  catalogue: Pick<Catalogue, 'bySlug' | 'list' | 'search'>
  calls: Pick<Calls, 'call' | 'find' | 'balance'>
  /** Calls of a minute; throws when the key has had its share. */
  countCall(caller: Caller): Promise<void>
  topUpUrl: string | null
  log: Log
  version: string
}

/** An error of the protocol, as opposed to one that a model can do something about. */
export function invalidParams(sentence: string): McpError {
  return new McpError(ErrorCode.InvalidParams, sentence)
}

/** What a client may see of an error: the protocol's own errors and the domain's sentences, nothing internal. */
export function toProtocol(error: unknown, log: Log): McpError {
  if (error instanceof McpError) return error
  if (error instanceof DomainError && error.kind !== 'failed') return invalidParams(error.message)
  log.error({ err: error }, 'an MCP request failed')
  return new McpError(ErrorCode.InternalError, 'Something went wrong on our side.')
}
