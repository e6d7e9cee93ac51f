import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js'
import type {
  CallToolRequest,
  CallToolResult,
  ServerNotification,
  ServerRequest,
} from '@modelcontextprotocol/sdk/types.js'
import { z } from 'zod'
import type { McpAsk } from '../../api/mcp/mount.ts'
import type { Caller } from '../../kit/caller.ts'
import { DomainError } from '../../kit/errors.ts'
import { deriveId, type Id } from '../../kit/ids.ts'
import { toWire, usdc, type Usdc } from '../../kit/money.ts'
import { amount } from '../../kit/wire.ts'
import { documentOf, toFound } from './shapes.ts'
import { failed, paid, plain, type Billing } from './results.ts'
import type { CallResult, Progress } from '../model/call.ts'
import { invalidParams, type ToolServerDeps } from './parts.ts'
import { OWN_TOOLS, type OwnToolName } from './own-tools.ts'
import type { View } from './view.ts'

type Params = CallToolRequest['params']
type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>

/** Calls that come by MCP. What a model can do something about is a result that says so, not an error of the protocol. */
export function createMcpCalls({ catalogue, calls, countCall, topUpUrl }: ToolServerDeps) {
  async function call(ask: McpAsk, view: View, params: Params, extra: Extra): Promise<CallToolResult> {
    const given = params.arguments ?? {}
    try {
      return OWN_TOOLS.has(params.name)
        ? await own(params.name as OwnToolName, given, ask, view, params, extra)
        : await bought({ slug: params.name, input: given, maxCost: null }, ask, params, extra)
    } catch (error) {
      if (!(error instanceof DomainError)) throw error
      // A name that is in no list is the client's mistake; a slug that a model made up is the model's.
      if (error.code === 'tool_not_found' && !OWN_TOOLS.has(params.name)) {
        throw invalidParams(`Unknown tool: ${params.name}`)
      }
      return failed(error, await hintsFor(error, given, view), topUpUrl)
    }
  }

  function own(
    name: OwnToolName,
    given: Params['arguments'],
    ask: McpAsk,
    view: View,
    params: Params,
    extra: Extra,
  ): Promise<CallToolResult> {
    switch (name) {
      case 'search_tools':
        return search(read(searchInput, given), view)
      case 'describe_tool':
        return describe(read(describeInput, given).slug, view)
      case 'call_tool': {
        const { slug, input, maxCost = null } = read(callInput, given)
        return bought({ slug, input, maxCost }, ask, params, extra)
      }
      case 'get_balance':
        read(balanceInput, given)
        return balance(ask.caller)
    }
  }

  async function search({ query, provider, limit }: z.output<typeof searchInput>, view: View) {
    const { environment, viewer, collection } = view
    const found = await catalogue.search({
      environment,
      viewer,
      collection,
      query,
      provider: provider ?? view.provider,
      limit,
    })
    return plain({ tools: found.map(toFound) })
  }

  async function describe(slug: string, { environment, viewer }: View): Promise<CallToolResult> {
    return plain(documentOf(await catalogue.bySlug(environment, slug, viewer)))
  }

  async function balance(caller: Caller): Promise<CallToolResult> {
    const { credits, wallet } = await calls.balance(caller)
    return plain({ credits: toWire(credits), balance: toWire(wallet), available: toWire(usdc(credits + wallet)) })
  }

  async function bought(wanted: Wanted, ask: McpAsk, params: Params, extra: Extra): Promise<CallToolResult> {
    await countCall(ask.caller)
    const result = await calls.call({
      ...wanted,
      caller: ask.caller,
      operation: ask.operation,
      keyed: false,
      keeps: ask.resumable,
      signal: extra.signal,
      onProgress: progressTo(params, extra),
    })
    return paid(result.output, billingOf(result))
  }

  /** Who has guessed a slug is told of those that there are. */
  async function hintsFor(error: DomainError, given: Params['arguments'], view: View): Promise<readonly string[]> {
    const slug = given?.['slug']
    if (error.code !== 'tool_not_found' || typeof slug !== 'string') return []
    const { environment, viewer } = view
    const query = slug.replaceAll(/[-_]+/g, ' ').slice(0, 100)
    const found = await catalogue.search({ environment, viewer, query, limit: 3 })
    return found.map(({ tool }) => tool.slug)
  }

  return {
    call,

    /** What a call that somebody lost sight of came to; null while it has not. */
    async kept(caller: Caller, operation: Id<'op'>): Promise<CallToolResult | null> {
      const found = await calls.kept(caller, deriveId('call', operation))
      if (found === null) return null
      if ('outputKind' in found) return paid(found.output, billingOf(found))
      const { code, sentence } = found.failure ?? {
        code: 'answer_forgotten',
        sentence: 'The answer is no longer kept.',
      }
      return failed(new DomainError('upstream', code, sentence, { callId: found.id }), [], topUpUrl)
    },
  }
}

interface Wanted {
  slug: string
  input: unknown
  maxCost: Usdc | null
}

const slug = z.string().min(1, 'must not be empty').max(200)
const searchInput = z.strictObject({
  query: z.string().min(1, 'must not be empty').max(500),
  provider: z.string().optional(),
  limit: z.int().min(1).max(50).default(8),
})
const describeInput = z.strictObject({ slug })
const callInput = z.strictObject({ slug, input: z.unknown().default({}), maxCost: amount.optional() })
const balanceInput = z.strictObject({})

function read<Schema extends z.ZodType>(schema: Schema, given: unknown): z.output<Schema> {
  const parsed = schema.safeParse(given)
  if (parsed.success) return parsed.data
  const details = Object.fromEntries(
    parsed.error.issues.map(({ path, message }) => [path.length === 0 ? 'arguments' : path.join('.'), message]),
  )
  const said = Object.entries(details).map(([field, fault]) => `${field}: ${fault}`)
  throw new DomainError('invalid', 'invalid_input', said.join('; '), { details })
}

/** Only told to whoever gave a name for it. */
function progressTo(params: Params, extra: Extra): (progress: Progress) => void {
  const progressToken = params._meta?.progressToken
  if (progressToken === undefined) return () => undefined
  let last = -1
  return ({ progress, total, message }) => {
    // It must grow, and what a tool's own server counts may not.
    last = Math.max(progress, last + 1e-6)
    const told = {
      progressToken,
      progress: last,
      ...(total === null ? {} : { total }),
      ...(message === null ? {} : { message }),
    }
    // Nobody may be listening any more: the call's own answer says whether that matters.
    extra.sendNotification({ method: 'notifications/progress', params: told }).catch(() => undefined)
  }
}

function billingOf({ cost, credits, balance, callId }: CallResult): Billing {
  return { cost: toWire(cost), credits: toWire(credits), balance: toWire(balance), callId }
}
