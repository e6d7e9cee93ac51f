import {
  CLIENT_CAPABILITIES_META_KEY,
  inputRequired,
  McpServer,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  type CallToolRequest,
  type ClientCapabilities,
  type ListToolsResult,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { z } from 'zod'
import { canonicalHash } from '../../kit/hash.ts'
import { faultOf, McpPageRequired, progressReporter, type McpAsk, type McpCall, type McpDeps } from './parts.ts'
import type { KeyedCalls } from './keyed-calls.ts'
import type { BoundRequest, RequestStates } from './request-states.ts'
import { TASKS, type Tasks } from './tasks.ts'

/** One server per request, for the protocol's version 2026-07-28. */
export function statelessServerFor(ask: McpAsk, deps: StatelessServerDeps): McpServer {
  const { service, tasks } = deps
  const { tools, resources } = service
  const { instructions, ...about } = service.about(ask)
  const capabilities = {
    // The package would announce changes of lists, of which there are none.
    tools: { listChanged: false },
    ...(resources === null ? {} : { resources: { listChanged: false } }),
    // Elsewhere a lost result is fetched with its payment's token.
    ...(ask.guest === null || service.keepsForGuests === true ? { extensions: { [TASKS]: {} } } : {}),
  }
  // Without a key all clients get the same lists.
  const hint = { ttlMs: LISTS_LIVE_MS, cacheScope: ask.guest === null ? 'private' : 'public' } as const
  const cacheHints = {
    'server/discover': hint,
    'tools/list': hint,
    'resources/list': hint,
    'resources/templates/list': hint,
    'resources/read': hint,
  }
  const mcp = new McpServer(about, { capabilities, instructions, cacheHints })
  const { server } = mcp
  const answered = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      if (error instanceof ProtocolError) throw error
      const { code, message, data } = faultOf(error, deps)
      throw new ProtocolError(code === RESOURCE_MISSING ? -32_602 : code, message, data)
    })
  server.setRequestHandler('tools/list', ({ params }) =>
    answered(tools.list(ask, params?.cursor) as Promise<ListToolsResult>),
  )
  server.setRequestHandler('tools/call', ({ params }, context) => answered(call(params, { ask, deps, context })))
  server.setRequestHandler('tasks/get', { params: task }, ({ taskId }, context) => {
    assertTasks(context)
    return answered(tasks.get(ask, taskId))
  })
  server.setRequestHandler('tasks/cancel', { params: task }, async ({ taskId }, context) => {
    assertTasks(context)
    await answered(tasks.cancel(ask, taskId))
    return {}
  })
  server.setRequestHandler('tasks/update', { params: task }, async ({ taskId }, context) => {
    assertTasks(context)
    await answered(tasks.get(ask, taskId))
    throw new ProtocolError(-32_602, 'taskId: This task asks for no input.')
  })
  if (resources === null) return mcp
  server.setRequestHandler('resources/list', ({ params }) => answered(resources.list(ask, params?.cursor)))
  server.setRequestHandler('resources/templates/list', () => resources.templates())
  server.setRequestHandler('resources/read', ({ params }) => answered(resources.read(ask, params.uri)))
  return mcp
}

export interface StatelessServerDeps extends Pick<McpDeps, 'service' | 'log' | 'address'> {
  tasks: Tasks
  keyed: KeyedCalls
  states: RequestStates
}

async function call(params: CallToolRequest['params'], { ask, deps, context }: CallContext) {
  const { states, keyed } = deps
  const { mcpReq } = context
  const { name, arguments: input = {} } = params
  const bound = { caller: ask.caller, request: canonicalHash([ask.query, name, input]).toString('base64url') }
  const state = mcpReq.requestState<string>()
  const begun = { deps, context, bound }
  if (state === undefined)
    return await keyed.once(ask, params, (named, repeats) => resume(params, { ...begun, ask: named, repeats }))
  // The state belongs to the call that it was issued for, also where that was named.
  return await resume(params, {
    ...begun,
    ask: { ...ask, operation: await states.redeem(state, bound) },
    repeats: true,
  })
}

async function resume(params: CallToolRequest['params'], { ask, deps, context, bound, repeats }: BegunCall) {
  const { service, states, tasks } = deps
  const { mcpReq } = context
  const { operation } = ask
  const { elicitation, extensions } = capabilitiesOf(context)
  const takesTask = extensions?.[TASKS] !== undefined && (await service.keeps(params.name, ask))
  const own = { ...ask, resumable: takesTask }
  // Who has paid on the page and then closes it in the client gets what was paid for.
  const isDeclined = mcpReq.requestState() !== undefined && hasDeclined(mcpReq.inputResponses)
  if (isDeclined && (await service.task(own, operation)) === null) return DECLINED
  const about = {
    params,
    repeats,
    opensPages: elicitation?.url !== undefined,
    hearsProgress: params._meta?.progressToken !== undefined,
    onProgress: progressOf(params, mcpReq),
  }
  const work = (signal: AbortSignal) => service.tools.call(own, { ...about, signal })
  try {
    if (!takesTask) return await work(mcpReq.signal)
    const as = { ...own, operation: (await service.taskOperation?.(own, params)) ?? operation }
    return await tasks.run(as, { gone: mcpReq.signal, repeats }, work)
  } catch (error) {
    if (!(error instanceof McpPageRequired)) throw error
    const page = inputRequired.elicitUrl({ url: error.url, message: error.message })
    const asked = inputRequired({ inputRequests: { page }, requestState: states.issue(operation, bound) })
    return { ...asked, _meta: { ...error.meta } }
  }
}

interface CallContext {
  ask: McpAsk
  deps: StatelessServerDeps
  context: ServerContext
}

interface BegunCall extends CallContext {
  bound: BoundRequest
  repeats: boolean
}

function progressOf({ _meta }: CallToolRequest['params'], { notify }: ServerContext['mcpReq']): McpCall['onProgress'] {
  return progressReporter(_meta?.progressToken, (params) => notify({ method: 'notifications/progress', params }))
}

function capabilitiesOf({ mcpReq }: ServerContext): ClientCapabilities {
  // Checked by the package, whose type does not name its fields.
  const envelope = mcpReq.envelope as Readonly<Record<string, ClientCapabilities>> | undefined
  return envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? {}
}

function assertTasks(context: ServerContext): void {
  if (capabilitiesOf(context).extensions?.[TASKS] !== undefined) return
  throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { extensions: { [TASKS]: {} } } })
}

/** Whether the person did not want what the page offers. Then the call is not made, even if it has become possible. */
function hasDeclined(responses: Readonly<Record<string, unknown>> = {}): boolean {
  return Object.values(responses).some((one) => refusal.safeParse(one).success)
}

const task = z.looseObject({ taskId: z.string().max(100) })
const refusal = z.looseObject({ action: z.enum(['decline', 'cancel']) })
const DECLINED = {
  isError: true,
  content: [
    { type: 'text' as const, text: 'The person declined the page, so the tool was not called. Nothing was charged.' },
  ],
}
/** Clients of earlier versions know this code. */
const RESOURCE_MISSING = -32_002
/** Prices and tools change rarely, and a call states its own price. */
const LISTS_LIVE_MS = 60_000
