import { createHash } from 'node:crypto'
import type { Request, Response, Router } from 'express'
import { assertPerson, type Caller } from '../kit/caller.ts'
import type { Clock } from '../kit/clock.ts'
import { tagContext, tagContextWith } from '../kit/context.ts'
import { helpHeaders } from '../kit/error-codes/catalogue.ts'
import { DomainError, waitsForPerson } from '../kit/errors.ts'
import { preferredWait, whenClosed } from '../kit/http.ts'
import { newId, type Id } from '../kit/ids.ts'
import { decode } from '../kit/decode.ts'
import { answerError, isOurFault } from './errors.ts'
import { accountOf, type Idempotency, type Outcome } from './idempotency.ts'
import { jsonOf, readBody } from './json.ts'
import type { RateLimit } from './limits.ts'
import { contextOf, limitKeyOf, readerOf, sendPage, wantsPage, type RequestContext } from './requests.ts'
import { incoming, sendFile } from './transfers.ts'
import { sendEvents, streamOwner, type StreamOwner } from './events.ts'
import type { AnyRoute, Reply } from './route.ts'

export interface Pipeline {
  clock: Clock
  bodyBytesMax: number
  idempotency: Idempotency
  limit: RateLimit
  /** For routes that name another limit. */
  limits: Readonly<Record<string, RateLimit>>
  identify(request: Request): Promise<Caller>
  /** Where a buyer with too little money can add funds; a refusal names it. */
  topUpUrl: string | undefined
  /**
   * Waits for a person's decision on a held operation: true when approved, false when the time is up; throws when
   * rejected.
   */
  awaitWord(held: DomainError, waitMs: number, by: { caller: Caller; gone: AbortSignal }): Promise<boolean>
}

/** Adds declared routes to a router, each behind the same steps in the same order. */
export function mount(router: Router, routes: readonly AnyRoute[], pipeline: Pipeline): void {
  for (const route of routes) {
    router[route.method](route.path, (request: Request, response: Response) =>
      serve(route, request, response, pipeline),
    )
  }
}

/** The same steps for each route, whether Express found it or `serveDirectly`. */
export async function serve(route: AnyRoute, request: Request, response: Response, pipeline: Pipeline): Promise<void> {
  const context = contextOf(response)
  // Includes the mount path, because two addresses may have a route of the same path.
  context.route = request.baseUrl + route.path
  let operation = newId('op', pipeline.clock.now())
  const { errorFields } = route
  context.errorFields = (error) => ({
    ...(TOO_LITTLE.has(error.code) && pipeline.topUpUrl !== undefined ? { topUpUrl: pipeline.topUpUrl } : {}),
    ...errorFields?.({ ...error, operation }),
  })
  if (route.errorPage !== undefined && wantsPage(request)) context.errorPage = route.errorPage
  const caller = await authenticate(route, request, pipeline)
  context.caller = caller
  const limited = await limitOf(route, caller, pipeline)(limitKey(caller, request))
  response.set(limited.headers)
  if (limited.refusal !== null) throw limited.refusal

  const bytesMax = Math.min(route.bodyBytesMax ?? Infinity, pipeline.bodyBytesMax)
  const rawBody = route.body === undefined ? NO_BODY : await readBody(request, bytesMax)
  const body = route.body === undefined ? undefined : jsonOf(request, rawBody)
  const key = !route.idempotent ? undefined : request.get('idempotency-key')
  const account = caller === null ? anyone(route, request) : accountOf(caller)
  const keyed = key !== undefined && account !== null
  const decoded = {
    caller,
    body: route.body === undefined ? undefined : decode(route.body, body, 'body'),
    query: route.query === undefined ? undefined : decode(route.query, request.query, 'query'),
    rawBody,
    upload: () => incoming(request, route.uploadBytesMax ?? 0),
    params: route.params === undefined ? undefined : decode(route.params, request.params, 'path'),
    address: addressOf(request),
    header: (name: string) => request.get(name),
    wantsPage: wantsPage(request),
    reader: readerOf(request),
    gone: () => goneOf(response),
  }
  for (const given of [decoded.params, decoded.body, decoded.query]) tagContextWith(given)
  const owner = caller === null ? null : streamOwner(caller, () => pipeline.identify(request))
  const act = (named: Id<'op'>, mayHaveBegun: boolean, keyHash: Buffer | null): Promise<Reply> => {
    operation = named
    tagContext(named)
    const asked = { ...decoded, operation, mayHaveBegun, keyHash }
    return heldWhileWaiting(() => route.handle(asked), { request, response, pipeline, caller })
  }

  if (!keyed) {
    send(response, await act(operation, false, null), owner)
    return
  }
  let live: Reply | null = null
  const answer = await pipeline.idempotency.once(
    {
      key,
      account,
      environment: caller?.environment ?? '',
      method: route.method,
      path: request.baseUrl + request.path,
      body,
      query: askedBeside(route, request),
    },
    async (named, mayHaveBegun, keyHash) => {
      const done = await outcome(() => act(named, mayHaveBegun, keyHash), context)
      if (route.idempotent !== 'payer') return done
      live = done
      return { ...done, keep: false }
    },
  )
  if (answer.replayed) response.set('Idempotency-Replayed', 'true')
  if (answer.status >= 400) {
    context.refused = codeOf(answer.body)
    response.set(helpHeaders(context.refused ?? ''))
  }
  // Uses the live reply with its headers, because headers are not stored.
  send(response, live ?? answer, owner)
}

/** What decides about the answer beside the body: the query, and in whose account a tool acts. */
function askedBeside({ query }: AnyRoute, request: Request): Record<string, unknown> | undefined {
  const asked = query === undefined ? undefined : request.query
  const connection = request.get('x-connection')
  return connection === undefined ? asked : { ...asked, connection }
}

/** The code of a stored refusal, which is replayed like any other answer. */
function codeOf(body: unknown): string | undefined {
  const { code } = (body ?? {}) as { code?: unknown }
  return typeof code === 'string' ? code : undefined
}

/**
 * A caller who sends `Prefer: wait=60` waits on the open connection until a person approves, and then gets the answer
 * as if no approval had been needed: the operation resumes under its own name.
 */
async function heldWhileWaiting(
  act: () => Promise<Reply>,
  { request, response, pipeline, caller }: Waiting,
): Promise<Reply> {
  try {
    return await act()
  } catch (error) {
    const waitSeconds = preferredWait(request.get('prefer'))
    if (!(error instanceof DomainError) || !waitsForPerson(error) || waitSeconds === 0 || caller === null) throw error
    const goesOn = await pipeline.awaitWord(error, waitSeconds * 1_000, { caller, gone: goneOf(response) })
    if (!goesOn) throw error
    return await act()
  }
}

interface Waiting {
  request: Request
  response: Response
  pipeline: Pipeline
  caller: Caller | null
}

/** Made only when a handler uses it. */
function goneOf(response: Response): AbortSignal {
  const gone = new AbortController()
  whenClosed(response, () => {
    if (!response.writableFinished) gone.abort()
  })
  return gone.signal
}

/** The 402 codes that a top-up of the wallet would have avoided. */
const TOO_LITTLE: ReadonlySet<string> = new Set(['insufficient_balance', 'insufficient_credits'])

const NO_BODY = Buffer.alloc(0)

/**
 * Refusals are stored as answers too, except those that may differ next time, such as insufficient balance before a
 * top-up.
 */
async function outcome(act: () => Promise<Reply>, context: RequestContext): Promise<Outcome> {
  try {
    const done = await act()
    return { ...done, keep: done.status < 500 }
  } catch (error) {
    if (isOurFault(error) || !(error instanceof DomainError) || mayPass(error)) throw error
    const { status, body } = answerError(error, context.requestId, context.errorFields)
    return { status, body, keep: true }
  }
}

/** A top-up or a wait may make the same request succeed. */
function mayPass({ kind, code, fields }: DomainError): boolean {
  return PASSING.has(kind) || code === 'connection_required' || (kind === 'unaffordable' && 'available' in fields)
}

/**
 * For a request without an account, knowing its idempotency key is enough to be taken for its sender. A payment header
 * counts as part of the request, like its body: with another payment, or with none yet, the same key names another
 * operation.
 */
function anyone(route: AnyRoute, request: Request): string | null {
  if (route.idempotent === 'anyone') return ''
  if (route.idempotent !== 'payer') return null
  const paid = PAYMENT_HEADERS.map((name) => request.get(name) ?? '')
  return createHash('sha256').update(JSON.stringify(paid)).digest('base64url')
}

const PAYMENT_HEADERS = [
  'authorization',
  'payment-authorization',
  'payment-signature',
  'x-payment',
  'x-payment-id',
  'x-payment-token',
  'x-pass',
]

function limitOf(route: AnyRoute, caller: Caller | null, pipeline: Pipeline): RateLimit {
  const name = caller === null ? (route.sells?.limit ?? route.limit) : route.limit
  if (name === undefined) return pipeline.limit
  if (name === null) return NO_LIMIT
  const limit = pipeline.limits[name]
  if (limit === undefined) throw new Error(`no limit is called ${name}`)
  return limit
}

const NO_LIMIT: RateLimit = () => Promise.resolve({ headers: {}, refusal: null })

const PASSING: ReadonlySet<string> = new Set(['held', 'limited', 'unavailable', 'late', 'upstream'])

async function authenticate(route: AnyRoute, request: Request, pipeline: Pipeline): Promise<Caller | null> {
  if (route.auth === 'anyone') return null
  if (route.auth === 'optional' && !saysWho(request, route.sells !== undefined)) return null
  const caller = await identify(request, pipeline)
  if (route.auth === 'person') assertPerson(caller)
  return caller
}

/** Wrong credentials count against the address they come from: guessing is limited like anything else. */
async function identify(request: Request, pipeline: Pipeline): Promise<Caller> {
  try {
    return await pipeline.identify(request)
  } catch (error) {
    if (!(error instanceof DomainError) || error.kind !== 'unauthenticated') throw error
    const { refusal } = await pipeline.limit(limitKey(null, request))
    throw refusal ?? error
  }
}

/**
 * Only our own session cookie identifies a caller; a cookie of another site does not. Where something is sold,
 * `Authorization: Payment` pays for it.
 */
function saysWho({ headers }: Request, isSold: boolean): boolean {
  const { authorization } = headers
  return (
    (authorization !== undefined && !(isSold && /^payment /i.test(authorization))) ||
    /(^|;\s*)(__Secure-)?coinslot\.session_token=/.test(headers.cookie ?? '')
  )
}

function limitKey(caller: Caller | null, request: Request): string {
  if (caller === null) return limitKeyOf(request)
  return caller.keyId ?? `${caller.issuer} ${caller.subject}`
}

function addressOf(request: Request): string {
  return request.ip ?? 'unknown'
}

function send(response: Response, answer: Reply, owner: StreamOwner | null): void {
  if (answer.whenSent !== undefined) watch(response, answer.whenSent)
  if (answer.headers !== undefined) response.set(answer.headers)
  response.status(answer.status)
  if (answer.events !== undefined) sendEvents(response, answer.events, owner)
  else if (answer.file !== undefined) sendFile(response, answer.file)
  else if (answer.page !== undefined) sendPage(response, answer.page)
  else if (answer.body === undefined) response.end()
  else if (response.req.method === 'POST' && !response.hasHeader('Content-Type')) sendJson(response, answer.body)
  else response.json(answer.body)
}

/** As `response.json`, which also looks for what only an answer to a GET, or another type than JSON, needs. */
function sendJson(response: Response, body: unknown): void {
  const text = JSON.stringify(body)
  response.setHeader('Content-Type', 'application/json; charset=utf-8')
  response.setHeader('Content-Length', Buffer.byteLength(text))
  response.end(text)
}

/** `finish` is emitted when the last byte was handed over, `close` alone when the connection broke earlier. */
function watch(response: Response, whenSent: (arrived: boolean) => Promise<void>): void {
  let told = false
  const tell = (arrived: boolean): void => {
    if (told) return
    told = true
    // The receiver of this call has its own time limit in case the call never comes.
    whenSent(arrived).catch(() => undefined)
  }
  if (response.closed || response.destroyed || response.socket?.destroyed === true) {
    tell(false)
    return
  }
  response.once('finish', () => {
    tell(true)
  })
  response.once('close', () => {
    tell(false)
  })
}
