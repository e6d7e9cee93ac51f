import type { NextFunction, Request, RequestHandler, Response } from 'express'
import type { Logger } from 'pino'
import type { Caller } from '../identity/model.ts'
import type { Clock } from '../kit/clock.ts'
import { DomainError } from '../kit/errors.ts'
import { newId, type Id } from '../kit/ids.ts'
import { answerError, isOurFault, type MoreFields } from './errors.ts'
import type { RateLimit } from './limits.ts'
import type { Metrics } from './metrics.ts'
import type { AnyRoute, Page } from './route.ts'

/** What is known of a request while it is served; goes into its log line. */
export interface RequestContext {
  requestId: Id<'req'>
  /** The declared path, with its parameters unfilled: a metric's label must not grow without end. */
  route: string
  caller: Caller | null
  /** What this route's error bodies have in addition. */
  errorFields?: MoreFields | undefined
  /** Set where this error goes to a person's browser. */
  errorPage?: AnyRoute['errorPage'] | undefined
}

/** First of all: a name for the request, and a line and a measure when it is done. */
export function openRequest(clock: Clock, log: Logger, metrics: Metrics): RequestHandler {
  return (request, response, next) => {
    const started = process.hrtime.bigint()
    const context: RequestContext = { requestId: newId('req', clock.now()), route: 'none', caller: null }
    response.locals['context'] = context
    response.set('X-Request-Id', context.requestId)
    response.on('close', () => {
      const seconds = Number(process.hrtime.bigint() - started) / 1e9
      metrics.requestDone(request.method, context.route, response.statusCode, seconds)
      log.info(
        {
          requestId: context.requestId,
          method: request.method,
          path: request.baseUrl + request.path,
          status: response.statusCode,
          ms: Math.round(seconds * 1e6) / 1e3,
          userId: context.caller?.user?.id,
          keyId: context.caller?.keyId ?? undefined,
        },
        'request',
      )
    })
    next()
  }
}

export function contextOf(response: Response): RequestContext {
  return response.locals['context'] as RequestContext
}

/** For what is not a declared route: asks of one address, by this method or any. */
export function limitAddresses(limit: RateLimit, method?: string): RequestHandler {
  return async (request, response, next) => {
    if (method === undefined || request.method === method) {
      const { headers, refusal } = await limit(`address ${request.ip ?? 'unknown'}`)
      response.set(headers)
      if (refusal !== null) throw refusal
    }
    next()
  }
}

/**
 * A browser sends its session cookie along also when another site, or a neighbouring host, made it ask. Then
 * it says who did, and only our own pages may change something by cookie. Programs send no Origin.
 */
export function assertOrigin(request: Request, own: ReadonlySet<string>): void {
  const { origin, authorization } = request.headers
  if (authorization !== undefined || origin === undefined || own.has(origin)) return
  if (request.method === 'GET' || request.method === 'HEAD') return
  throw new DomainError('forbidden', 'foreign_origin', 'This page may not act for whoever is signed in.')
}

export const notFound: RequestHandler = (request) => {
  throw new DomainError(
    'missing',
    'not_found',
    `There is nothing at ${request.method} ${request.baseUrl}${request.path}.`,
  )
}

/** Last of all: whatever was thrown becomes an answer. */
export function answerErrors(log: Logger) {
  // Express knows an error handler by its four parameters.
  return (error: unknown, request: Request, response: Response, next: NextFunction): void => {
    const { requestId, errorFields, errorPage } = contextOf(response)
    const told = fromExpress(error)
    if (isOurFault(told)) log.error({ requestId, err: told }, 'request failed')
    if (response.headersSent) {
      next(error)
      return
    }
    const { status, headers, body } = answerError(told, requestId, errorFields)
    // A body that was not read to its end would be taken for the next request on this connection.
    if (!request.complete) response.set('Connection', 'close')
    response.set(headers).status(status)
    if (errorPage === undefined) response.json(body)
    else sendPage(response, errorPage({ status, code: String(body['code']), sentence: String(body['error']) }))
  }
}

export function sendPage(response: Response, page: Page): void {
  if (page.headers !== undefined) response.set(page.headers)
  response.type(page.type).send(page.content)
}

/** A browser names HTML first; a program that takes anything gets JSON. */
export function wantsPage(request: Request): boolean {
  return request.accepts(['json', 'html']) === 'html'
}

/** Express speaks of a broken path or a cut-off body in errors of its own, with a status. */
function fromExpress(error: unknown): unknown {
  if (error instanceof DomainError || !(error instanceof Error)) return error
  const status = (error as { status?: unknown }).status
  if (typeof status !== 'number' || status < 400 || status > 499) return error
  return new DomainError('invalid', 'bad_request', 'The request cannot be read.', {}, error)
}
