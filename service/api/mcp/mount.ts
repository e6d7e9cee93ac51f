import type { Request, RequestHandler, Response } from 'express'
import type { Caller } from '../../kit/caller.ts'
import { DomainError } from '../../kit/errors.ts'
import { isLocalAddress, isLocalHost } from '../../kit/http.ts'
import { streamOwner } from '../events.ts'
import { parseJson, readBody } from '../json.ts'
import { createCallers } from './callers.ts'
import { createKeyedCalls } from './keyed-calls.ts'
import { createLegacy } from './legacy.ts'
import { refuse, type McpDeps } from './parts.ts'
import { createRelay } from './relay.ts'
import { createRequestStates } from './request-states.ts'
import { withHelp } from './results.ts'
import { createSessions } from './sessions.ts'
import { createStateless, isStateless, STATELESS } from './stateless.ts'
import { createStreamable } from './streamable.ts'
import { createTasks } from './tasks.ts'
import { contextOf, limitKeyOf } from '../requests.ts'

/**
 * The Model Context Protocol under one path: its stateless version, Streamable HTTP with sessions, and the older HTTP+SSE
 * for a GET without a session. A session is only a signed name, so it survives restarts and every process can check it.
 */
export function mountMcp(mounted: McpDeps): { handler: RequestHandler; close(): Promise<void> } {
  const deps = { ...mounted, service: withHelp(mounted.service, mounted.address) }
  const { identified, authenticate } = createCallers(deps)
  const relay = createRelay(deps.redis, deps.log)
  const sessions = createSessions(deps)
  const keyed = createKeyedCalls(deps)
  const streamable = createStreamable({ ...deps, keyed, sessions, relay })
  const legacy = createLegacy({ ...deps, keyed, relay, sessions })
  const stateless = createStateless({
    ...deps,
    keyed,
    states: createRequestStates(deps),
    tasks: createTasks({ ...deps, relay }),
  })

  async function serve(request: Request, response: Response): Promise<void> {
    const context = contextOf(response)
    context.route = '/mcp'
    assertOrigin(request, deps)
    const isMessage = request.method === 'POST' && request.path === '/messages'
    if (request.path !== '/' && !isMessage) throw new DomainError('missing', 'not_found', 'Not found.')
    const query = queryOf(request)
    const caller = await authenticate(request, query, context)
    // Many guests share one name: each address has a limit of its own.
    const isGuest = caller === deps.guest
    if (!isGuest) context.caller = caller
    const limitKey = isGuest ? limitKeyOf(request) : (caller.keyId ?? `${caller.issuer} ${caller.subject}`)
    await count(limitKey, 1, response)
    if (isMessage) return await legacy.receive(caller, request, response)
    if (request.method === 'POST') return await post({ caller, query, limitKey }, request, response)
    if (request.get('mcp-protocol-version') === STATELESS) {
      response.set('Allow', 'POST')
      refuse(response, 405, -32_000, 'Method not allowed: this version of the protocol has only POST.')
      return
    }
    const session = await sessionOf(caller, request, response)
    if (session === UNKNOWN) return
    const owner = streamOwner(caller, () => identified(request, query))
    switch (request.method) {
      case 'GET':
        if (request.accepts('text/event-stream') === false) {
          refuse(response, 406, -32_000, 'Not Acceptable: Client must accept text/event-stream')
          return
        }
        if (session === null) return legacy.open({ caller, query, owner }, response)
        return streamable.listen({ caller, query, owner }, request, response)
      case 'DELETE':
        if (session === null) {
          refuse(response, 400, -32_000, 'Bad Request: Mcp-Session-Id header is required')
          return
        }
        await sessions.end(session)
        response.status(200).end()
        return
      default:
        response.set('Allow', 'GET, POST, DELETE')
        refuse(response, 405, -32_000, 'Method not allowed.')
    }
  }

  /** A message of either line of the protocol. */
  async function post({ limitKey, ...client }: Posted, request: Request, response: Response): Promise<void> {
    const bytes = await readBody(request, deps.bodyBytesMax)
    let body: unknown
    try {
      body = parseJson(bytes)
    } catch (error) {
      refuse(response, 400, -32_700, error instanceof DomainError ? error.message : 'This is not a JSON-RPC message.')
      return
    }
    const messages = Array.isArray(body) ? body.length : 1
    // Refused without being counted: it would use up the whole minute, in every minute in which it is tried again.
    if (deps.messagesMax !== null && messages > deps.messagesMax) {
      refuse(response, 400, -32_600, tooLong(messages, deps.messagesMax))
      return
    }
    // The request itself was counted before its body was read; a batch counts as the messages that it has.
    if (messages > 1) await count(limitKey, messages - 1, response)
    if (isStateless(request, body)) return await stateless({ ...client, body }, request, response)
    const session = await sessionOf(client.caller, request, response)
    if (session !== UNKNOWN) await streamable.post({ ...client, session, body }, request, response)
  }

  /** The caller's session, or null without one. Refuses a session that has ended or belongs to another caller. */
  async function sessionOf(caller: Caller, request: Request, response: Response) {
    const session = request.get('mcp-session-id')
    if (session === undefined) return null
    if (await sessions.check(session, caller)) return session
    refuse(response, 404, -32_001, 'Session not found: start a new one with initialize.')
    return UNKNOWN
  }

  async function count(key: string, messages: number, response: Response): Promise<void> {
    const { headers, refusal } = await deps.limit(key, messages)
    response.set(headers)
    if (refusal !== null) throw refusal
  }

  return {
    // The API's CORS settings already expose the headers that a browser needs to follow a session.
    handler: (request, response) => serve(request, response),
    async close() {
      legacy.close()
      await relay.close()
    },
  }
}

interface Client {
  caller: Caller
  query: Readonly<Record<string, string>>
}

interface Posted extends Client {
  /** Under which its messages are counted. */
  limitKey: string
}

function tooLong(messages: number, most: number): string {
  return `This batch has ${String(messages)} messages, and at most ${String(most)} are allowed a minute. Send smaller batches.`
}

const UNKNOWN = Symbol('unknown session')

/**
 * A page of another origin may make a browser send requests here, also through a host name that it has pointed at this
 * machine.
 */
function assertOrigin(request: Request, { origins, address }: McpDeps): void {
  const { origin } = request.headers
  if (origin === undefined || origins.includes(origin) || origin === new URL(address).origin) return
  if (isLocalOrigin(origin) && isLocalHost(request.get('host') ?? '')) return
  throw new DomainError(
    'forbidden',
    'foreign_origin',
    'Pages of this origin may not call this server. Add the origin to CORS_ORIGINS.',
  )
}

function isLocalOrigin(origin: string): boolean {
  return URL.canParse(origin) && isLocalAddress(origin)
}

function queryOf({ query, params }: Request): Record<string, string> {
  return Object.fromEntries(
    Object.entries({ ...query, ...params }).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, value]] : [],
    ),
  )
}
