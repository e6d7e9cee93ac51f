import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/sdk/types.js'
import type { DomainError } from '../../kit/errors.ts'
import { failed as failedCall } from '../../api/mcp/results.ts'
import { isRecord } from '../../kit/schema/merge.ts'
import type { Binary, CallResult } from '../model/call.ts'
import { toWire } from '../../kit/money.ts'
import type { Tool } from '../model/tool.ts'
import type { ListedTool } from '../ports/catalogue.ts'

export interface Billing {
  cost: number
  credits: number
  balance: number
  callId: string
}

/** A tool's answer with its bill. */
export function paid(output: CallResult['output'], billing: Billing): CallToolResult {
  return {
    content: [toContent(output, billing.callId)],
    structuredContent: isRecord(output) ? output : { result: output },
    _meta: { 'coinslot/billing': billing },
  }
}

/** An answer that was paid for without an account, with its receipt. */
export function paidFor(
  output: CallResult['output'],
  callId: string,
  meta: Readonly<Record<string, unknown>>,
): CallToolResult {
  const structuredContent = isRecord(output) ? output : { result: output }
  return { content: [toContent(output, callId)], structuredContent, _meta: { ...meta } }
}

/** The error of a call, and what to do about it. */
export function failed(error: DomainError, suggestions: readonly string[], topUpUrl: string | null): CallToolResult {
  const more = suggestions.length === 0 ? {} : { suggestions }
  return {
    ...failedCall(error, adviceFor(error, suggestions, topUpUrl), more),
    _meta: { 'coinslot/billing': { cost: 0, callId: error.fields['callId'] ?? null } },
  }
}

function adviceFor({ code, fields }: DomainError, suggestions: readonly string[], topUpUrl: string | null): string {
  switch (code) {
    case 'invalid_input':
      return 'Correct these fields and call again; describe_tool shows what the tool takes.'
    case 'insufficient_credits':
      return topUpUrl === null
        ? 'Ask the account’s owner to deposit USDC into the wallet; get_balance shows when it has arrived.'
        : `Ask the account’s owner to add funds at ${topUpUrl}; get_balance shows when they have arrived.`
    case 'tool_not_found':
      return suggestions.length === 0 ? 'Find one with search_tools.' : `Did you mean ${suggestions.join(', ')}?`
    case 'tool_removed': {
      const { successor } = fields
      return typeof successor === 'string' ? `Use ${successor} instead.` : 'Find another with search_tools.'
    }
    case 'spending_limit':
      return 'Do not call again before the limit resets; the agent’s owner can raise it.'
    case 'approval_required':
      return 'A person must approve this call. Call again with exactly the same input once it is approved.'
    case 'upstream_error':
      return 'Nothing was charged. If the message is about the input, correct it; otherwise try later or use another tool.'
    case 'upstream_timeout':
    case 'provider_busy':
    case 'too_many_calls_at_once':
    case 'rate_limited':
      return 'Nothing was charged. Wait a little and call again.'
    default:
      return ''
  }
}

function toContent(output: CallResult['output'], callId: string): ContentBlock {
  if (typeof output === 'string') return { type: 'text', text: output }
  if (!isBinary(output)) return { type: 'text', text: JSON.stringify(output) }
  const { contentType: mimeType, base64: data } = output
  if (mimeType.startsWith('image/')) return { type: 'image', data, mimeType }
  if (mimeType.startsWith('audio/')) return { type: 'audio', data, mimeType }
  return { type: 'resource', resource: { uri: `coinslot://calls/${callId}`, mimeType, blob: data } }
}

function isBinary(value: unknown): value is Binary {
  return (
    isRecord(value) &&
    typeof value['base64'] === 'string' &&
    typeof value['contentType'] === 'string' &&
    typeof value['bytes'] === 'number'
  )
}

/** A found tool, with enough data to choose by. */
export function toFound({ tool, stats }: ListedTool) {
  return {
    slug: tool.slug,
    name: tool.name,
    description: tool.description.slice(0, DESCRIPTION),
    provider: tool.provider,
    price: toWire(tool.price),
    inputs: Object.keys(tool.input['properties'] ?? {}),
    required: (tool.input['required'] ?? []) as string[],
    ...(stats === null || stats.calls === 0
      ? {}
      : { successRate: Math.round((stats.succeeded / stats.calls) * 100) / 100, p50Ms: stats.p50Ms }),
    ...(stats?.failing === true ? { warning: `Fails often right now: ${stats.lastError ?? 'no answer'}` } : {}),
  }
}

export function documentOf({ slug, name, description, provider, category, price, input, output }: Tool) {
  const about = { slug, name, description, provider, category, price: toWire(price) }
  return { ...about, inputSchema: input, outputSchema: output }
}

const DESCRIPTION = 300
