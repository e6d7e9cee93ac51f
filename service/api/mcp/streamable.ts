import { createHash } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type { EventStore } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import {
  isInitializeRequest,
  isJSONRPCNotification,
  isJSONRPCRequest,
  JSONRPCMessageSchema,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type RequestId,
} from '@modelcontextprotocol/sdk/types.js'
import type { Request, Response } from 'express'
import type { Caller } from '../../kit/caller.ts'
import { isRecord } from '../../kit/schema/merge.ts'
import { isId, newId, timeOf, type Id } from '../../kit/ids.ts'
import { sendEvents, type StreamOwner } from '../events.ts'
import { limitKeyOf } from '../requests.ts'
import type { ServerEvent } from '../route.ts'
import { askForEach, refuse, type McpAsk, type McpDeps } from './parts.ts'
import { serverFor, type ServerDeps } from './server.ts'
import type { Relay } from './relay.ts'
import type { Sessions } from './sessions.ts'

/** Streamable HTTP: each request gets its own server, which closes after the answer. */
export function createStreamable(deps: StreamableDeps) {
  const { clock, log, guest, service, sessions, relay, keyed } = deps

  async function post({ caller, query, session, body }: Post, request: Request, response: Response): Promise<void> {
    const parsed = JSONRPCMessageSchema.array().safeParse(Array.isArray(body) ? body : [body])
    if (!parsed.success) {
      refuse(response, 400, -32_700, 'This is not a JSON-RPC message.')
      return
    }
    const messages = parsed.data
    const first: unknown = messages.find(isInitializeRequest)
    if (isInitializeRequest(first)) {
      const opensPages = first.params.capabilities.elicitation?.url !== undefined
      response.setHeader('Mcp-Session-Id', sessions.begin(caller, opensPages))
    } else if (session !== null) response.setHeader('Mcp-Session-Id', session)
    await relayCancels(session, messages)

    const [only] = messages
    const named = messages.length === 1 && only !== undefined && isJSONRPCRequest(only) ? only : null
    const guestAddress = caller === guest ? limitKeyOf(request) : null
    // A guest fetches a lost answer with the payment's token.
    const pageSession = session === null ? null : sessions.pagesOf(session)
    const pages = pageSession === null ? {} : { pageSession }
    const key = named === null ? undefined : request.get('idempotency-key')
    const fresh = newId('op', clock.now())
    const asked = { caller, guest: guestAddress, query, operation: fresh, resumable: false, ...pages }
    const about = key === undefined ? asked : { ...asked, idempotencyKey: key }
    // The events of the answer name the operation before the call begins.
    const operation = (named?.method === CALL ? await keyed.operationOf(about, named.params) : null) ?? fresh
    const resumable = guestAddress === null && session !== null && named !== null && (await keepsAnswer(named, about))
    // The client has disconnected, and nothing was begun for it.
    if (response.closed) return
    const server = serverFor(named === null ? askForEach(about, clock) : { ...about, operation, resumable }, deps)
    const transport = new StreamableHTTPServerTransport({
      ...(resumable ? { eventStore: numbering(operation, named.id), retryInterval: RETRY_MS } : {}),
    })
    server.server.onerror = (error) => {
      log.info({ reason: error.message }, 'an MCP client sent an invalid message')
    }
    await server.connect(transport)
    const forget =
      session === null || named === null ? null : hearCancel(session, named.id, transport, () => server.close())
    response.once('close', () => {
      // A lost connection does not cancel a resumable call: its client can come back for the answer. Any other call
      // ends.
      if (response.writableFinished || !resumable) void server.close()
      forget?.()
    })
    leaveConnection(response)
    await transport.handleRequest(request, response, body)
  }

  /** A cancel arrives as a separate request, perhaps at another process than the one that runs the call. */
  async function relayCancels(session: string | null, messages: readonly JSONRPCMessage[]): Promise<void> {
    if (session === null) return
    for (const message of messages) {
      if (!isJSONRPCNotification(message) || message.method !== 'notifications/cancelled') continue
      const id = message.params?.['requestId']
      if (typeof id === 'string' || typeof id === 'number') await relay.send(cancelName(session, id), message)
    }
  }

  function hearCancel(
    session: string,
    id: RequestId,
    transport: StreamableHTTPServerTransport,
    close: () => Promise<void>,
  ): () => void {
    return relay.receive(cancelName(session, id), (message) => {
      transport.onmessage?.(message as JSONRPCMessage)
      // No answer follows, so nothing else would end the stream.
      void close()
    })
  }

  /**
   * Opens a stream for messages that the server itself starts, of which there are none, or delivers the answer that a
   * client lost when its connection broke.
   */
  function listen({ caller, query, owner }: Listener, request: Request, response: Response): void {
    const last = request.get('last-event-id')
    const event = last === undefined ? null : fromEventId(last)
    if (last !== undefined && event === null) {
      refuse(response, 400, -32_000, 'Invalid event ID format')
      return
    }
    const version = request.get('mcp-protocol-version') ?? ''
    const about = { client: { caller, query }, isPrimed: version >= FIRST_WITHOUT_DATA }
    sendEvents(response, (gone) => (event === null ? nothing(gone) : lost({ ...about, event }, gone)), owner)
  }

  async function* lost({ client, event, isPrimed }: Lost, gone: AbortSignal): AsyncGenerator<ServerEvent> {
    // A client resumes from the last event of the stream that broke. Without one, it could come back only once.
    if (isPrimed) yield { id: toEventId(event), event: 'message', data: null, text: '' }
    const until = Math.min(clock.now().getTime(), timeOf(event.operation).getTime()) + PATIENCE_MS
    const id = toEventId({ ...event, place: event.place + 1 })
    while (!gone.aborted) {
      const { operation } = event
      const task = await service.task({ ...client, guest: null, operation, resumable: true }, operation)
      if (task !== null && 'result' in task) {
        yield { id, event: 'message', data: { jsonrpc: '2.0', id: event.request, result: task.result } }
        return
      }
      // A call whose money is held may still be charged, so its client waits until it has ended.
      const isMissing = task === null && clock.now().getTime() > until
      if (task?.status === 'failed' || isMissing) {
        const error = { code: -32_000, message: isMissing ? MISSING : INTERRUPTED }
        yield { id, event: 'message', data: { jsonrpc: '2.0', id: event.request, error } }
        return
      }
      await wait(LOOK_MS, undefined, { signal: gone }).catch(() => undefined)
    }
  }

  /** Look-ups can be repeated. The results of paid calls are stored. */
  async function keepsAnswer({ method, params }: JSONRPCRequest, ask: McpAsk): Promise<boolean> {
    return method === CALL && (await service.keeps(params?.['name'], ask))
  }

  return { post, listen }
}

export interface StreamableDeps extends ServerDeps, Pick<McpDeps, 'clock' | 'guest'> {
  sessions: Sessions
  relay: Relay
}

interface Client {
  caller: Caller
  query: Readonly<Record<string, string>>
}

interface Post extends Client {
  session: string | null
  /** As parsed from JSON. */
  body: unknown
}

interface Listener extends Client {
  owner: StreamOwner
}

interface Lost {
  client: Client
  event: EventId
  /** The client accepts an event that has an id and no data. */
  isPrimed: boolean
}

/** Names the call and the request that an event belongs to: enough for any process to find the answer again. */
interface EventId {
  operation: Id<'op'>
  request: RequestId
  place: number
}

/** Stores no events, only the answers of calls; progress that the client missed is not sent later. */
function numbering(operation: Id<'op'>, request: RequestId): EventStore {
  let place = 0
  return {
    storeEvent: () => Promise.resolve(toEventId({ operation, request, place: place++ })),
    replayEventsAfter: () => Promise.reject(new Error('this store does not replay events')),
  }
}

function toEventId({ operation, request, place }: EventId): string {
  return Buffer.from(JSON.stringify([operation, request, place])).toString('base64url')
}

function fromEventId(text: string): EventId | null {
  try {
    const [operation, request, place] = JSON.parse(Buffer.from(text, 'base64url').toString()) as unknown[]
    if (typeof operation !== 'string' || !isId('op', operation) || typeof place !== 'number') return null
    return typeof request === 'string' || typeof request === 'number' ? { operation, request, place } : null
  } catch {
    return null
  }
}

/**
 * The SDK announces that the connection is kept, also in the last answer that the server gives on it. Its client would
 * send one more request, which is refused.
 */
function leaveConnection(response: Response): void {
  const write = response.writeHead.bind(response) as (...given: unknown[]) => Response
  response.writeHead = (...given: unknown[]) => write(...given.map(withoutConnection))
}

function withoutConnection(given: unknown): unknown {
  if (!isRecord(given)) return given
  return Object.fromEntries(Object.entries(given).filter(([name]) => name.toLowerCase() !== 'connection'))
}

function cancelName(session: string, id: RequestId): string {
  return `cancel:${createHash('sha256')
    .update(JSON.stringify([session, id]))
    .digest('base64url')}`
}

async function* nothing(gone: AbortSignal): AsyncGenerator<ServerEvent> {
  yield* []
  if (!gone.aborted) {
    await new Promise((resolve) => {
      gone.addEventListener('abort', resolve, { once: true })
    })
  }
}

const CALL = 'tools/call'
/** Clients of earlier versions cannot read an event without data. */
const FIRST_WITHOUT_DATA = '2025-11-25'
const RETRY_MS = 1_000
const LOOK_MS = 200
/** How long after its beginning a call may hold its money. Shorter than clients wait, which is a minute. */
const PATIENCE_MS = 30_000
const INTERRUPTED = 'The answer of this call is not stored. Nothing was charged for it.'
// Another process may have been too slow to hold the money, so this does not say that nothing will be charged.
const MISSING = 'No charge for this call is known, and no answer. Check the balance before you call again.'
