import type { NextFunction, Request, RequestHandler, Response } from 'express'
import type { Logger } from 'pino'
import type { Caller } from '../kit/caller.ts'
import { addressGroup, isOfAnotherSite } from '../kit/http.ts'
import type { Clock } from '../kit/clock.ts'
import { within, type Context } from '../kit/context.ts'
import { DomainError, invalid } from '../kit/errors.ts'
import { newId, type Id } from '../kit/ids.ts'
import type { Reader } from '../kit/language.ts'
import type { Tracer } from '../kit/tracer.ts'
import { answerError, isOurFault, type MoreFields } from './errors.ts'
import type { RateLimit } from './limits.ts'
import type { Metrics } from './metrics.ts'
import type { AnyRoute, Page } from './route.ts'

/** Data about a request while it is served; it goes into the log line. */
export interface RequestContext {
  requestId: Id<'req'>
  /** The declared path, with its parameters unfilled: a metric's label must not grow without end. */
  route: string
  caller: Caller | null
  /** Extra fields in this route's error bodies. */
  errorFields?: MoreFields | undefined
  /** Set when the error is shown in a person's browser. */
  errorPage?: AnyRoute['errorPage'] | undefined
  /** The WWW-Authenticate header of a 401, where it says more than the scheme. */
  challenge?: string
  /** The reason code of a refusal. */
  refused?: string | undefined
}

/**
 * The first handler. It gives the request an id, which is on every log line of the request, and writes a log line and a
 * metric when the request ends. The trace mentions a `traceparent` header, but continues it only if the operator trusts
 * the proxy in front of the service: otherwise any client could decide which traces are stored.
 */
export function openRequest(
  clock: Clock,
  log: Logger,
  metrics: Metrics,
  tracing: { tracer: Tracer; trusted: boolean } | null = null,
): RequestHandler {
  return (request, response, next) => {
    const started = process.hrtime.bigint()
    const context: RequestContext = { requestId: newId('req', clock.now()), route: 'none', caller: null }
    const kept: Context = { tags: { requestId: context.requestId } }
    response.locals['context'] = context
    response.setHeader('X-Request-Id', context.requestId)
    response.on('close', () => {
      const seconds = Number(process.hrtime.bigint() - started) / 1e9
      metrics.requestDone(request.method, context.route, response.statusCode, seconds)
      if (context.refused !== undefined) metrics.refused(context.refused)
      if (!log.isLevelEnabled('info')) return
      within(kept, () => {
        log.info(
          {
            method: request.method,
            path: request.baseUrl + request.path,
            status: response.statusCode,
            code: context.refused,
            ms: Math.round(seconds * 1e6) / 1e3,
            userId: context.caller?.user?.id,
            keyId: context.caller?.keyId ?? undefined,
          },
          'request',
        )
      })
    })
    within(kept, () => {
      if (tracing === null) next()
      else followed(tracing, request, response, next).catch(next)
    })
  }
}

/** Traces the request from its start until the answer is complete. */
async function followed(
  { tracer, trusted }: { tracer: Tracer; trusted: boolean },
  request: Request,
  response: Response,
  next: NextFunction,
): Promise<void> {
  const context = contextOf(response)
  const traceparent = request.get('traceparent')
  await tracer.step(
    {
      name: () => `${request.method} ${context.route}`,
      kind: 'server',
      attributes: { 'http.request.method': request.method, 'coinslot.request_id': context.requestId },
      from: traceparent === undefined ? undefined : { traceparent, trusted },
    },
    (said) =>
      new Promise<void>((resolve) => {
        response.on('close', () => {
          said['http.route'] = context.route
          said['http.response.status_code'] = response.statusCode
          if (response.statusCode >= 500) said['error.type'] = context.refused ?? String(response.statusCode)
          resolve()
        })
        next()
      }),
  )
}

/** A metric's label must not grow without end, so a handler without declared routes is labelled by its mount path. */
export function labelled(path: string): RequestHandler {
  return (_request, response, next) => {
    contextOf(response).route = path
    next()
  }
}

export function contextOf(response: Response): RequestContext {
  return response.locals['context'] as RequestContext
}

/** Limits requests per network address, for handlers without declared routes; only for `method` where one is set. */
export function limitAddresses(limit: RateLimit, method?: string): RequestHandler {
  return async (request, response, next) => {
    if (method === undefined || request.method === method) {
      const { headers, refusal } = await limit(limitKeyOf(request))
      response.set(headers)
      if (refusal !== null) throw refusal
    }
    next()
  }
}

/** The rate limit key of a network address. */
export function limitKeyOf(request: Request): string {
  return `address ${addressGroup(request.ip ?? 'unknown')}`
}

/**
 * A browser sends its session cookie also when another site, or a neighbouring host, made it send the request. It then
 * names that origin, and only our own pages may change something by cookie. Programs send no Origin header.
 */
export function assertOrigin(request: Request, own: ReadonlySet<string>): void {
  const { origin, authorization } = request.headers
  if (authorization !== undefined || (origin !== undefined && own.has(origin))) return
  if (request.method === 'GET' || request.method === 'HEAD') return
  // A browser's request without an Origin still names the site of its page, in Sec-Fetch-Site.
  if (origin === undefined && !isOfAnotherSite(request.headers['sec-fetch-site'])) return
  throw new DomainError(
    'forbidden',
    'foreign_origin',
    'This request came from another site. Open the dashboard and try again.',
  )
}

/** HTTP/1.1 requires exactly one Host header. Given two, a proxy in front of us may have used the other one. */
export const assertHost: RequestHandler = (request, _response, next) => {
  const { rawHeaders } = request
  let hosts = 0
  for (let place = 0; place < rawHeaders.length; place += 2) {
    const name = rawHeaders[place]
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts++
  }
  if (hosts > 1 || (hosts === 0 && request.httpVersion !== '1.0')) {
    throw invalid({ host: 'must appear only once' }, 'bad_request')
  }
  next()
}

/** No handler serves TRACE, and a web-standard `Request` cannot even be built with it. */
export const assertMethod: RequestHandler = (request, response, next) => {
  if (request.method === 'TRACE') notFound(request, response, next)
  else next()
}

/** No name in this API contains a NUL character, and PostgreSQL cannot store one in a text. */
export const assertPath: RequestHandler = (request, _response, next) => {
  if (request.url.includes('%00')) throw invalid({ [whereNulIs(request.url)]: 'must not contain %00' }, 'bad_request')
  next()
}

/** The name of the query parameter with the NUL character, or `path`. */
function whereNulIs(url: string): string {
  const [path = '', query = ''] = url.split('?', 2)
  if (path.includes('%00')) return 'path'
  const [name = 'query'] = [...new URLSearchParams(query)].find(([, value]) => value.includes('\0')) ?? []
  return name
}

/** A browser gets a page; a program gets the usual JSON error. */
export function answerMissing(pageOf: (path: string) => Page): RequestHandler {
  return (request, response, next) => {
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    if (isRead && wantsPage(request)) contextOf(response).errorPage = () => pageOf(request.baseUrl + request.path)
    notFound(request, response, next)
  }
}

const notFound: RequestHandler = (request) => {
  throw new DomainError(
    'missing',
    'not_found',
    `There is no endpoint ${request.method} ${request.baseUrl}${request.path}.`,
  )
}

/** The last handler. It turns every error into an answer. */
export function answerErrors(log: Logger) {
  // Express recognises an error handler by its four parameters.
  return (error: unknown, request: Request, response: Response, next: NextFunction): void => {
    const context = contextOf(response)
    const { requestId, errorFields, errorPage, challenge } = context
    const told = fromExpress(error, request)
    if (isOurFault(told)) log.error({ requestId, err: told }, 'request failed')
    if (response.headersSent) {
      next(error)
      return
    }
    const { status, headers, body } = answerError(told, requestId, errorFields)
    context.refused = String(body['code'])
    // The unread rest of a body would be taken for the next request on this connection.
    if (!request.complete) response.set('Connection', 'close')
    response.set(headers).set('Cache-Control', 'no-store').status(status)
    if (status === 401 && challenge !== undefined) response.set('WWW-Authenticate', challenge)
    if (errorPage === undefined) response.json(body)
    else {
      const shown = { status, code: String(body['code']), sentence: String(body['error']) }
      sendPage(response, errorPage(shown, readerOf(request)))
    }
  }
}

export function sendPage(response: Response, page: Page): void {
  if (page.headers !== undefined) response.set(page.headers)
  response.type(page.type).send(page.content)
}

export function readerOf(request: Request): Reader {
  return { lang: request.query['lang'], accepted: request.get('accept-language') }
}

/** A browser names HTML first; a program that takes anything gets JSON. */
export function wantsPage(request: Request): boolean {
  return request.accepts(['json', 'html']) === 'html'
}

/** Express reports a malformed path or a truncated body with its own errors, which have a status. */
function fromExpress(error: unknown, request: Request): unknown {
  if (error instanceof DomainError) return error
  // The client has disconnected, which is not our fault.
  if (request.destroyed && !request.complete) {
    return new DomainError('invalid', 'bad_request', 'The body ended before it was complete.').causedBy(error)
  }
  if (!(error instanceof Error)) return error
  const status = (error as { status?: unknown }).status
  if (typeof status !== 'number' || status < 400 || status > 499) return error
  return new DomainError('invalid', 'bad_request', 'The request cannot be read.').causedBy(error)
}
