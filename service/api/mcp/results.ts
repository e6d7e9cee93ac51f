import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import type { DomainError } from '../../kit/errors.ts'
import { faultOfJsonShape, jsonOrUndefined } from '../../kit/json-shape.ts'
import { isRecord } from '../../kit/schema/merge.ts'
import { helpUrl, McpPageRequired, type McpService } from './parts.ts'

type Fields = Readonly<Record<string, unknown>>

/** A result that is an object, also as text for clients that read only that. */
export function plain(value: Record<string, unknown>, meta: Fields | null = null): CallToolResult {
  const content = [{ type: 'text' as const, text: JSON.stringify(value) }]
  return { content, structuredContent: value, ...(meta === null ? {} : { _meta: { ...meta } }) }
}

/** An answer as its seller wrote it. Where it is JSON, clients get its value too. */
export function answered(text: string, meta: Fields): CallToolResult {
  const value = faultOfJsonShape(text) === null ? jsonOrUndefined(text) : undefined
  const structuredContent = isRecord(value) ? value : { result: value === undefined ? text : value }
  return { content: [{ type: 'text', text }], structuredContent, _meta: { ...meta } }
}

/** What a call costs, for a client that has not paid: the form of x402's transport for MCP. `advice`: for the model. */
export function unpaid(terms: Fields, meta: Fields, advice: string | null = null): CallToolResult {
  const result = plain({ ...terms }, meta)
  // Clients that pay read the first text.
  if (advice !== null) result.content.push({ type: 'text', text: advice })
  return { isError: true, ...result }
}

/** An error of the call, which the model can act on. */
export function failed({ code, message, fields }: DomainError, advice = '', more: Fields = {}): CallToolResult {
  return {
    isError: true,
    content: [{ type: 'text', text: `${message}${detailsOf(fields)} ${advice}`.trim() }],
    structuredContent: { error: { code, message, ...fields, ...more, advice } },
  }
}

/**
 * The service, whose errors lead to the page of their code. Added while a result leaves: the same error is stored, and
 * is answered at more than one address.
 */
export function withHelp(service: McpService, address: string): McpService {
  const { tools, task } = service
  return {
    ...service,
    tools: { ...tools, call: async (ask, call) => helped(await tools.call(ask, call), address) },
    async task(ask, operation) {
      const found = await task(ask, operation)
      return found !== null && 'result' in found ? { ...found, result: helped(found.result, address) } : found
    },
  }
}

function helped(result: CallToolResult, address: string): CallToolResult {
  const error = result.isError === true ? result.structuredContent?.['error'] : undefined
  if (!isRecord(error) || typeof error['code'] !== 'string') return result
  const help = helpUrl(error['code'], address)
  const structuredContent = { ...result.structuredContent, error: { ...error, help } }
  return help === null ? result : { ...result, structuredContent }
}

function detailsOf(fields: DomainError['fields']): string {
  const { details, upstream } = fields as { details?: Record<string, string>; upstream?: { message?: string | null } }
  if (details !== undefined) {
    return ` (${Object.entries(details)
      .map(([field, fault]) => `${field} ${fault}`)
      .join('; ')})`
  }
  return upstream?.message == null ? '' : ` Its message: ${upstream.message}`
}

/** The dashboard's pages where an account's owner helps a call. */
export interface OwnerPages {
  /** Adds funds. */
  addFunds: string
  /** Decides about calls of agents. The owner must sign in there: an agent may not. */
  approvals: string
}

/** Where a person can make a refused call possible. Null when there is no such page. */
export function pageFor({ code, message, fields }: DomainError, pages: OwnerPages): McpPageRequired | null {
  switch (code) {
    case 'insufficient_credits':
    case 'insufficient_balance':
      return new McpPageRequired(pages.addFunds, message)
    case 'approval_required':
      return new McpPageRequired(pages.approvals, message)
    case 'connection_required':
      return typeof fields['connectUrl'] === 'string' ? new McpPageRequired(fields['connectUrl'], message) : null
    default:
      return null
  }
}
