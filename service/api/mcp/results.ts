import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import type { DomainError } from '../../kit/errors.ts'

type Fields = Readonly<Record<string, unknown>>

/** A result that is an object, also as text for clients that read only that. */
export function plain(value: Record<string, unknown>, meta: Fields | null = null): CallToolResult {
  const content = [{ type: 'text' as const, text: JSON.stringify(value) }]
  return { content, structuredContent: value, ...(meta === null ? {} : { _meta: { ...meta } }) }
}

/** What a call costs, for a client that has not paid: the form of x402's transport for MCP. */
export function unpaid(terms: Fields, meta: Fields): CallToolResult {
  return { isError: true, ...plain({ ...terms }, meta) }
}

/** An error of the call, which the model can act on. */
export function failed({ code, message, fields }: DomainError, advice = '', more: Fields = {}): CallToolResult {
  return {
    isError: true,
    content: [{ type: 'text', text: `${message}${detailsOf(fields)} ${advice}`.trim() }],
    structuredContent: { error: { code, message, ...fields, ...more, advice } },
  }
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
