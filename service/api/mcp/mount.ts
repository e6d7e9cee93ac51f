import type { Request, RequestHandler, Response } from 'express'
import type { Caller } from '../../kit/caller.ts'
import { DomainError } from '../../kit/errors.ts'
import { streamOwner } from '../events.ts'
import { readBody } from '../json.ts'
import { createLegacy } from './legacy.ts'
import { refuse, type McpDeps } from './parts.ts'
import { createRelay } from './relay.ts'
import { createSessions } from './sessions.ts'
import { createStreamable } from './streamable.ts'
import { contextOf, limitKeyOf, type RequestContext } from '../requests.ts'

/**
 * The Model Context Protocol under one path: Streamable HTTP, and the older HTTP+SSE for a GET without a session. A
 * session is only a signed name, so it survives restarts and every process can check it.
 */
export function mountMcp(deps: McpDeps): { handler: RequestHandler; close(): Promise<void> } {
  const relay = createRelay(deps.redis, deps.log)
  const sessions = createSessions({ ...deps, secret: deps.sessionSecret })
  const streamable = createStreamable({ ...deps, sessions, relay })
  const legacy = createLegacy({ ...deps, relay, sessions })

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
    await count(isGuest ? limitKeyOf(request) : (caller.keyId ?? `${caller.issuer} ${caller.subject}`), response)
    if (isMessage) return await legacy.receive(caller, request, response)
    const session = request.get('mcp-session-id')
    const owner = streamOwner(caller, () => identified(request, query))
    const known = session === undefined ? null : await sessions.check(session, caller)
    if (known === false) {
      refuse(response, 404, -32_001, 'Session not found: start a new one with initialize.')
      return
    }
    switch (request.method) {
      case 'POST': {
        const body = await readBody(request, deps.bodyBytesMax)
        return await streamable.post({ caller, query, session: session ?? null, body }, request, response)
      }
      case 'GET':
        if (request.accepts('text/event-stream') === false) {
          refuse(response, 406, -32_000, 'Not Acceptable: Client must accept text/event-stream')
          return
        }
        if (session === undefined) return legacy.open({ caller, query, owner }, response)
        return streamable.listen({ caller, owner }, request, response)
      case 'DELETE':
        if (session === undefined) {
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

  async function count(key: string, response: Response): Promise<void> {
    const { headers, refusal } = await deps.limit(key)
    response.set(headers)
    if (refusal !== null) throw refusal
  }

  /** Identifies the caller by the header, or by the key in the address for clients that can send no header. */
  async function identified(request: Request, { key, auth }: Readonly<Record<string, string>>): Promise<Caller> {
    const authorization = request.get('authorization') ?? (key === undefined ? undefined : `Bearer ${key}`)
    // A guest gets answers and holds no stream open: streams are limited by account, and all guests are one.
    const isCall = request.method === 'POST' && request.path === '/'
    const isGuest = authorization === undefined && isCall && auth !== 'oauth'
    if (isGuest && deps.guest !== null) return deps.guest
    return await deps.identify(authorization, request)
  }

  async function authenticate(
    request: Request,
    query: Readonly<Record<string, string>>,
    context: RequestContext,
  ): Promise<Caller> {
    try {
      return await identified(request, query)
    } catch (error) {
      if (!(error instanceof DomainError) || error.kind !== 'unauthenticated') throw error
      const isWrong = request.get('authorization') !== undefined || query['key'] !== undefined
      context.challenge = `Bearer resource_metadata="${deps.resourceMetadata}"${isWrong ? ', error="invalid_token"' : ''}`
      const { refusal } = await deps.limit(limitKeyOf(request))
      throw refusal ?? error
    }
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

/**
 * A page of another origin may make a browser send requests here, also through a host name that it has pointed at this
 * machine.
 */
function assertOrigin(request: Request, { origins, address }: McpDeps): void {
  const { origin } = request.headers
  if (origin === undefined || origins.includes(origin) || origin === new URL(address).origin) return
  if (isLoopback(origin) && isLoopback(`http://${request.get('host') ?? ''}`)) return
  throw new DomainError(
    'forbidden',
    'foreign_origin',
    'Pages of this origin may not call this server. Add the origin to CORS_ORIGINS.',
  )
}

function isLoopback(origin: string): boolean {
  return URL.canParse(origin) && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(origin).hostname)
}

function queryOf(request: Request): Record<string, string> {
  return Object.fromEntries(
    Object.entries(request.query).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  )
}
