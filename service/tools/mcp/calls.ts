import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { z } from 'zod'
import { McpFault, type McpAsk, type McpCall as Sent, type McpTask } from '../../api/mcp/parts.ts'
import type { Caller } from '../../kit/caller.ts'
import { DomainError } from '../../kit/errors.ts'
import { isId, type Id } from '../../kit/ids.ts'
import { toWire, usdc } from '../../kit/money.ts'
import { amount } from '../../kit/wire.ts'
import { pageFor, plain, unpaid } from '../../api/mcp/results.ts'
import { toFound, whenNothingFits } from '../http/found.ts'
import { documentOf, failed, paid, paidFor, type Billing } from './results.ts'
import type { CallInput, CallResult, FieldTree } from '../model/call.ts'
import { readingInput, toReading } from '../http/reading.ts'
import { withinMaxCost, type Counter } from '../../sales/service/door.ts'
import { maxCostIn, namedPaymentIn, namesPayment, sellOverMcp } from '../../sales/service/mcp-door.ts'
import type { ToolAnswer } from '../service/pay/product.ts'
import { storesAnswer } from '../service/calls/order.ts'
import { callMissing, needsAccount } from '../errors/call.ts'
import type { ToolServerDeps } from './view.ts'
import { OWN_TOOLS, type OwnToolName } from './own-tools.ts'
import type { View } from './view.ts'

/**
 * Calls that arrive by MCP. An error that a model can act on is a result with a message, not an error of the protocol.
 */
export function createMcpCalls(deps: ToolServerDeps) {
  const { catalogue, calls, countCall, countGuest, pages, topUpUrl } = deps
  const { result, replay } = createResults(deps)

  async function call(request: McpCall): Promise<CallToolResult> {
    const { name, arguments: input = {} } = request.params
    const { guest } = request.ask
    try {
      // One HTTP request may contain many messages, so each call counts.
      if (guest !== null) await countGuest(guest)
      return OWN_TOOLS.has(name)
        ? await callOwn(name as OwnToolName, input, request)
        : await callTool({ slug: name, input }, request)
    } catch (error) {
      if (!(error instanceof DomainError)) throw error
      const page = request.opensPages ? pageFor(error, pages) : null
      if (page !== null) throw page
      // A name that no list contains is the client's mistake. A slug that a model made up is the model's.
      if (error.code === 'tool_not_found' && !OWN_TOOLS.has(name)) throw McpFault.params(`Unknown tool: ${name}`)
      const suggestions = await suggestionsFor(error, input['slug'], request.view)
      return failed(error, { suggestions, topUpUrl, isNew: isNew(request) })
    }
  }

  function callOwn(name: OwnToolName, input: unknown, request: McpCall): Promise<CallToolResult> {
    switch (name) {
      case 'search_tools':
        return search(read(searchInput, input), request.view)
      case 'describe_tool':
        return describe(read(describeInput, input).slug, request.view)
      case 'call_tool': {
        const { slug, input: given, maxCost = null, ...reading } = read(callInput, input)
        return callTool({ slug, input: given, maxCost, ...toReading(reading) }, request)
      }
      case 'get_result':
        return result(read(resultInput, input), request)
      case 'get_balance':
        read(balanceInput, input)
        if (request.ask.guest !== null) throw needsAccount()
        return balance(request.ask.caller)
    }
  }

  async function search({ query, provider, limit }: z.output<typeof searchInput>, view: View) {
    const { environment, viewer, collection } = view
    const within = { environment, viewer, collection, provider: provider ?? view.provider }
    const found = await catalogue.search({ ...within, query, limit })
    const tools = found.tools.map(toFound)
    return plain(tools.length > 0 ? { tools } : { tools, ...whenNothingFits(found, toFound) })
  }

  async function describe(slug: string, { environment, viewer }: View): Promise<CallToolResult> {
    return plain(documentOf(await catalogue.get(environment, slug, viewer)))
  }

  async function balance(caller: Caller): Promise<CallToolResult> {
    const { credits, wallet } = await calls.balance(caller)
    return plain({ credits: toWire(credits), balance: toWire(wallet), available: toWire(usdc(credits + wallet)) })
  }

  async function callTool(order: ToolOrder, request: McpCall) {
    const tool = { ...order, maxCost: maxCostIn(request.params._meta, order.maxCost) }
    if (request.ask.guest !== null) return await sellCall(deps, tool, request)
    const { payment: named } = namedPaymentIn(request.params._meta ?? {})
    if (named !== null) return await replay(tool, named, request)
    const { caller, operation, resumable: storesResult } = request.ask
    await countCall(caller)
    const { signal, onProgress, repeats: keyed } = request
    const about = { ...tool, caller, operation, keyed, storesResult, signal, onProgress }
    const result = await calls.call(about)
    return paid(result, billingOf(result), storesAnswer(about))
  }

  /** For a wrong slug: the slugs of existing tools that are similar. */
  async function suggestionsFor(error: DomainError, slug: unknown, view: View): Promise<readonly string[]> {
    if (error.code !== 'tool_not_found' || typeof slug !== 'string') return []
    const { environment, viewer } = view
    const query = slug.replaceAll(/[-_]+/g, ' ').slice(0, 100)
    const { tools, nearest } = await catalogue.search({ environment, viewer, query, limit: 3 })
    return [...tools, ...nearest].slice(0, 3).map(({ tool }) => tool.slug)
  }

  return {
    call,

    /** How far a call is whose client may fetch its result. Null when there is no such call. */
    async task(caller: Caller, operation: Id<'op'>): Promise<McpTask | null> {
      const found = await calls.state(caller, operation)
      switch (found?.state) {
        case undefined:
          return null
        case 'under way':
          return { status: 'working' }
        case 'lost':
          return { status: 'failed', sentence: 'The call was interrupted. Nothing was charged: call again.' }
        case 'ended': {
          const { call: ended, endedAt } = found
          if ('outputKind' in ended) return { status: 'completed', result: paid(ended, billingOf(ended)), endedAt }
          const { code, sentence } = ended.failure ?? FORGOTTEN
          const error = new DomainError('upstream', code, sentence, { callId: ended.id })
          const result = failed(error, { suggestions: [], topUpUrl, isNew: true })
          return { status: CANCELED.has(code) ? 'cancelled' : 'completed', result, endedAt }
        }
      }
    },
  }
}

/** Whether it asks for no call that may have been charged before. */
function isNew({ params, repeats }: McpCall): boolean {
  return !repeats && params.name !== 'get_result' && !namesPayment(params._meta)
}

/** Answers from calls that were made before. */
function createResults({ calls, countCall }: Pick<ToolServerDeps, 'calls' | 'countCall'>) {
  async function result(asked: z.output<typeof resultInput>, request: McpCall) {
    if (request.ask.guest !== null) throw needsAccount()
    const { fields = null } = toReading(asked)
    const found = await resultOf({ ...asked, fields }, request)
    return paid(found, { ...billingOf(found), cost: 0 })
  }

  async function resultOf({ callId, waitSeconds, fields }: ResultOrder, { ask, signal }: McpCall) {
    await countCall(ask.caller)
    if (!isId('call', callId)) throw callMissing()
    return await calls.result(ask.caller, callId, { fields, waitMs: waitSeconds * 1_000, signal })
  }

  /** A call that names one that was charged is answered from that one, and makes no other. */
  async function replay({ slug, fields = null }: ToolOrder, callId: string, request: McpCall) {
    const found = await resultOf({ callId, waitSeconds: WAIT_SECONDS, fields }, request)
    if (found.tool !== slug) throw callMissing()
    return paid(found, billingOf(found))
  }

  return { result, replay }
}

/** A call without a key: the terms, or what was paid for. */
async function sellCall(
  { payments, facilitator }: ToolServerDeps,
  { slug: name, input, maxCost, fields, pagesMax }: ToolOrder,
  { ask, params, signal }: McpCall,
): Promise<CallToolResult> {
  if (fields != null || pagesMax != null) throw needsAccount()
  const { journal, dialects } = payments
  const counter: Counter<ToolAnswer> = {
    facilitator,
    journal,
    dialects,
    offer: () => payments.offer(name, input),
    buy: (purchase) => payments.buy(name, input, purchase),
    toBody: () => ({}),
  }
  const sale = await sellOverMcp(
    { meta: params._meta ?? {}, operation: ask.operation, gone: signal },
    withinMaxCost(counter, maxCost ?? null),
  )
  if (sale.kind === 'required') return unpaid(sale.terms, sale.meta)
  const { output } = sale.sold.value
  // No client confirms that a result arrived, so its buyer can fetch it again as long as it is stored.
  await journal.leave(sale.sold.sale)
  const simulated = output.simulated === true
  return paidFor({ output: output.value, simulated, callId: sale.sold.sale.id }, sale.meta)
}

/** Which call's result, and how much of it. */
interface ResultOrder {
  callId: string
  waitSeconds: number
  fields: FieldTree | null
}

type ToolOrder = Pick<CallInput, 'slug' | 'input' | 'maxCost' | 'fields' | 'pagesMax'>

/** A `tools/call` request, with its caller and view. */
interface McpCall extends Sent {
  ask: McpAsk
  view: View
}

/** The codes of calls that ended because their caller took them back. */
const CANCELED: ReadonlySet<string> = new Set(['call_aborted', 'run_canceled'])
const FORGOTTEN = { code: 'answer_forgotten', sentence: 'The answer is no longer stored.' } as const

const slug = z.string().min(1, 'must not be empty').max(200)
const searchInput = z.strictObject({
  query: z.string().min(1, 'must not be empty').max(500),
  provider: z.string().optional(),
  limit: z.int().min(1).max(50).default(8),
})
const describeInput = z.strictObject({ slug })
const callInput = z.strictObject({ slug, input: z.unknown().default({}), maxCost: amount.optional(), ...readingInput })
const WAIT_SECONDS = 20
const resultInput = z.strictObject({
  callId: z.string().max(100),
  waitSeconds: z.int().min(0).max(120).default(WAIT_SECONDS),
  fields: readingInput.fields,
})
const balanceInput = z.strictObject({})

function read<Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> {
  const parsed = schema.safeParse(input)
  if (parsed.success) return parsed.data
  const details = Object.fromEntries(
    parsed.error.issues.map(({ path, message }) => [path.length === 0 ? 'arguments' : path.join('.'), message]),
  )
  const faults = Object.entries(details).map(([field, fault]) => `${field}: ${fault}`)
  throw new DomainError('invalid', 'invalid_input', faults.join('; '), { details })
}

function billingOf({ cost, credits, balance, callId }: CallResult): Billing {
  return { cost: toWire(cost), credits: toWire(credits), balance: toWire(balance), callId }
}
