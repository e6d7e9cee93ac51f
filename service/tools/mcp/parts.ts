import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js'
import type { Caller } from '../../identity/model.ts'
import type { CatalogueForCalls } from '../ports/catalogue.ts'
import type { Calls } from '../service/calls.ts'

export interface ToolServerParts {
  catalogue: CatalogueForCalls
  calls: Pick<Calls, 'call' | 'kept' | 'balance'>
  /** Calls of a minute; throws when the key has had its share. */
  countCall(caller: Caller): Promise<void>
  topUpUrl: string | null
  version: string
}

/** An error of the protocol, as opposed to one that a model can do something about. */
export function invalidParams(sentence: string): McpError {
  return new McpError(ErrorCode.InvalidParams, sentence)
}
