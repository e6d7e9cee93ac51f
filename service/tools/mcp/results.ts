import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/sdk/types.js'
import type { DomainError } from '../../kit/errors.ts'
import { failed as failedCall } from '../../api/mcp/results.ts'
import { isRecord } from '../../kit/schema/merge.ts'
import { toOperation } from '../http/calls.ts'
import type { Binary, CallResult, KeptFile, OperationUnderWay } from '../model/call.ts'
import { toWire } from '../../kit/money.ts'
import { pagingOf } from '../rules/paging.ts'
import type { ListedTool } from '../ports/catalogue.ts'
import { chargedMeta } from '../../sales/service/mcp-door.ts'

export interface Billing {
  cost: number
  credits: number
  balance: number
  callId: string
}

/** A tool's answer with its bill. */
export function paid(
  { output, outputKind, simulated, pages, operation }: CallResult,
  billing: Billing,
  isStored = true,
): CallToolResult {
  const read = pages === null ? null : { 'coinslot/pages': pages }
  const goesOnThere = operation === null ? null : { 'coinslot/operation': toOperation(operation) }
  const meta = { ...chargedMeta(billing, isStored ? billing.callId : null), ...read, ...goesOnThere }
  const answer = answerOf({ output, simulated, callId: billing.callId }, meta)
  if (outputKind === 'file') answer.content = linkTo(output as KeptFile)
  // Models do not see `_meta`, so they are told in words where to go on.
  if (pages?.next != null) answer.content.push({ type: 'text', text: goesOn(pages.next) })
  if (operation !== null) answer.content.push({ type: 'text', text: stillWorking(billing.callId, operation) })
  return answer
}

function stillWorking(callId: string, { expiresAt }: OperationUnderWay): string {
  return `The tool is still at work. Ask for its result with get_result and callId "${callId}" until ${expiresAt.toISOString()}; that costs nothing.`
}

/** An answer that was paid for without an account, with its receipt. */
export function paidFor(answer: CallAnswer, meta: Readonly<Record<string, unknown>>): CallToolResult {
  return answerOf(answer, meta)
}

interface CallAnswer extends Pick<CallResult, 'output' | 'simulated'> {
  callId: string
}

/** A simulated answer says so in a text of its own too, because models do not see `_meta`. */
function answerOf({ output, simulated, callId }: CallAnswer, meta: Readonly<Record<string, unknown>>): CallToolResult {
  const content = [toContent(output, callId)]
  if (simulated) content.push({ type: 'text', text: SIMULATED })
  const structuredContent = isRecord(output) ? output : { result: output }
  return { content, structuredContent, _meta: { ...meta, ...(simulated ? { 'coinslot/simulated': true } : null) } }
}

/** For clients that show links, and in words for those that do not know them. */
function linkTo({ url: uri, name, contentType: mimeType, bytes: size, expiresAt }: KeptFile): ContentBlock[] {
  const text = `The answer is too large to be sent (${String(size)} bytes). It can be loaded from ${uri} until ${expiresAt}.`
  return [
    { type: 'resource_link', uri, name, mimeType, size },
    { type: 'text', text },
  ]
}

function goesOn(next: object): string {
  return `There are more pages: call again with the input ${JSON.stringify(next)}.`
}

const SIMULATED = 'This answer is simulated: the sandbox made it up, and the tool was not called.'

/** The error of a call, and what to do about it. */
export function failed(error: DomainError, about: About): CallToolResult {
  const { suggestions, isNew } = about
  const more = suggestions.length === 0 ? {} : { suggestions }
  // An earlier call that it may be about was not looked for.
  const isUnknown = error.code === 'rate_limited' && !isNew
  const cost = isPaid(error) || isUnknown ? {} : { cost: 0 }
  return {
    ...failedCall(error, adviceFor(error, about), more),
    _meta: { 'coinslot/billing': { ...cost, callId: error.fields['callId'] ?? null } },
  }
}

/** The call is paid, by its buyer before the tool was asked or when the tool accepted the work. */
function isPaid({ fields }: DomainError): boolean {
  return fields['paid'] === true
}

interface About {
  suggestions: readonly string[]
  topUpUrl: string | null
  /** The call asks for no earlier one, of which an error may know nothing. */
  isNew: boolean
}

function adviceFor(error: DomainError, { suggestions, topUpUrl, isNew }: About): string {
  const { code, fields } = error
  // Another call would be paid again.
  if (isPaid(error)) return adviceForPaid(error)
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
    case 'connection_required':
      return 'Give this link to the account’s owner, who connects there. Then call again with the same input.'
    case 'approval_required':
      return 'A person must approve this call. Call again with exactly the same input once it is approved.'
    case 'upstream_error':
      return 'Nothing was charged. If the message is about the input, correct it; otherwise try later or use another tool.'
    case 'upstream_timeout':
    case 'provider_busy':
    case 'too_many_calls_at_once':
      return 'Nothing was charged. Wait a little and call again.'
    case 'rate_limited':
      // It is refused before any earlier call is looked for.
      return isNew ? 'Nothing was charged. Wait a little and call again.' : 'Wait a little and send the same again.'
    default:
      return ''
  }
}

/** A buyer without an account reads in the sentence how the answer is fetched. */
function adviceForPaid({ code, fields: { callId, paymentToken } }: DomainError): string {
  if (paymentToken !== undefined) return ''
  const again = `ask for its result with get_result and callId "${String(callId)}". Another call would start the work anew, for its full price.`
  switch (code) {
    case 'connection_required':
      return `Give this link to the account’s owner, who connects there. Then ${again}`
    case 'upstream_timeout':
    case 'provider_busy':
    case 'too_many_calls_at_once':
      return `Wait a little, then ${again}`
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

export function documentOf({ tool, needs, simulated }: Pick<ListedTool, 'tool' | 'needs' | 'simulated'>) {
  const { slug, name, description, provider, category, price, input, output } = tool
  const about = { slug, name, description, provider, category, price: toWire(price), needs }
  return { ...about, paged: pagingOf(tool) !== null, simulated, inputSchema: input, outputSchema: output }
}
