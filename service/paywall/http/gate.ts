import type { IncomingMessage } from 'node:http'
import type { Duplex, Readable } from 'node:stream'
import type { NextFunction, Request, RequestHandler, Response } from 'express'
import type { Page } from '../../api/route.ts'
import { DomainError } from '../../kit/errors.ts'
import { whenClosed } from '../../kit/http.ts'
import type { Reader } from '../../kit/language.ts'
import { toWire } from '../../kit/money.ts'
import type { Owner } from '../../kit/owner.ts'
import { paywallMissing } from '../errors.ts'
import type { CallUpstream, UpstreamCall, GateRequest, HeaderList, Offer, Outcome, UpstreamAnswer } from '../model.ts'
import { passes, readAs, toClient, toUpstream } from '../rules/headers.ts'
import type { Opened, Paywalls } from '../service/paywalls.ts'
import { answer, refuseUpgrade, tunnel } from './answer.ts'
import { OF_PAGE, shownOnPage } from './page.ts'
import { presentsPayment } from '../../x402/payload.ts'
import { SIGN_IN } from '../../x402/sign-in.ts'

export interface GateSetting {
  /** The path under which gates are served. */
  path: string
  /**
   * The host, if gates have an address of their own without a path, because other hosts are served here too. Null
   * otherwise.
   */
  host: string | null
  relay: Relay
  /** Rate limit by client address, for requests whose signatures the gate has to check, or whose sale it has to find. */
  limit(address: string): Promise<{ headers: Readonly<Record<string, string>>; refusal: DomainError | null }>
  /** The page for a browser that has not paid. */
  page(offer: Offer, owner: Owner, reader: Reader): Promise<Page>
  errorAnswer(error: unknown): { status: number; headers: Readonly<Record<string, string>>; body: unknown }
}

/** Sends requests to upstreams. Users supply their addresses, so the caller must pass a guarded client. */
export interface Relay {
  pass(request: Passed): Promise<UpstreamAnswer>
  upgrade(request: Omit<Passed, 'body'> & { protocol: string }): Promise<UpstreamAnswer>
}

interface Passed {
  origin: string
  path: string
  method: string
  headers: HeaderList
  body: Readable | null
  signal: AbortSignal
}

/** `/gate/{slug}/…` with any method. */
export function gateHandler(paywalls: Paywalls, setting: GateSetting): RequestHandler {
  return async (request: Request, response: Response, next: NextFunction) => {
    if (!isOurs(setting, request)) {
      next()
      return
    }
    const [slug, rest] = split(request.url)
    if (slug === ASSETS) {
      next()
      return
    }
    if (slug === 'payments') {
      await tellPayment(paywalls, request, response, rest)
      return
    }
    if (isPreflight(request)) {
      response.set(PREFLIGHT)
      const asked = request.get('access-control-request-headers')
      if (asked !== undefined) response.set('Access-Control-Allow-Headers', asked)
      response.status(204).end()
      return
    }
    for (const [name, value] of FENCE) response.setHeader(name, value)
    const limited = wantsALook(request) ? await setting.limit(request.ip ?? 'unknown') : null
    if (limited !== null) response.set(limited.headers)
    if (limited?.refusal) throw limited.refusal
    const opened = await paywalls.gateOf(slug)
    const gone = new AbortController()
    whenClosed(response, () => {
      if (!response.writableFinished) gone.abort(new DomainError('late', 'client_gone', 'The client hung up.'))
    })
    // A connection that is no upgrade for Node can become no tunnel, whatever its headers say.
    const asked = toRequest(request, rest, { gone: gone.signal, address: request.ip ?? 'unknown', upgrade: false })
    const headers = headersOf(request)
    const ask = callUpstream(opened, setting.relay, { headers, asked })
    let outcome: Outcome
    try {
      outcome = await paywalls.serve(opened.gate, asked, ask, passes(headers))
    } catch (error) {
      // The client has disconnected, so there is no answer to send.
      if (gone.signal.aborted) return
      next(error)
      return
    }
    if (outcome.offer !== undefined && wantsPage(request)) {
      const {
        type,
        content,
        headers = {},
      } = await setting.page(outcome.offer, opened.gate.owner, {
        // A parameter in the address belongs to the seller's API.
        lang: null,
        accepted: request.get('accept-language'),
      })
      response.status(402).set(headers)
      for (const [name, value] of outcome.headers) if (!/^content-type$/i.test(name)) response.set(name, value)
      response.type(type).send(content)
      return
    }
    await answer(request, response, request.get(OF_PAGE) === undefined ? outcome : shownOnPage(outcome))
  }
}

/** The same for WebSocket upgrades. */
export function gateUpgrades(paywalls: Paywalls, setting: GateSetting) {
  return (request: IncomingMessage, socket: Duplex, head: Buffer, address: string): void => {
    const gone = new AbortController()
    socket.once('close', () => {
      gone.abort(new DomainError('late', 'client_gone', 'The client hung up.'))
    })
    const serve = async (): Promise<void> => {
      const [slug, rest] = split((request.url ?? '').slice(setting.path.length))
      const { refusal } = await setting.limit(address)
      if (refusal !== null) throw refusal
      const opened = await paywalls.gateOf(slug)
      const upgrade = request.headers.upgrade?.toLowerCase() === 'websocket' && request.method === 'GET'
      const asked = toRequest(request, rest, { gone: gone.signal, address, upgrade })
      const headers = headersOf(request)
      const ask = callUpstream(opened, setting.relay, { headers, asked })
      const outcome = await paywalls.serve(opened.gate, asked, ask, passes(headers))
      if (outcome.tunnel === undefined) await refuseUpgrade(socket, outcome)
      else tunnel(socket, head, outcome, outcome.tunnel)
    }
    serve().catch((error: unknown) => {
      const { status, headers, body } = setting.errorAnswer(error)
      const list: HeaderList = [...Object.entries(headers), ['Content-Type', 'application/json; charset=utf-8']]
      const told = { status, headers: list, body: Buffer.from(JSON.stringify(body)) }
      refuseUpgrade(socket, told).catch(() => socket.destroy())
    })
  }
}

/** Whether `gateHandler` answers this request in any case, and leaves it to no other handler. */
export function isAnswered(setting: Pick<GateSetting, 'host' | 'path'>, request: IncomingMessage): boolean {
  return isOurs(setting, request) && request.url?.startsWith(`${setting.path}/${ASSETS}`) === false
}

/** Whether a request is for the gates, judged by its host alone. */
export function isOurs({ host }: Pick<GateSetting, 'host'>, { headers }: IncomingMessage): boolean {
  return host === null || headers.host?.toLowerCase() === host
}

/** Splits off the slug and leaves the rest unchanged. */
function split(url: string): [slug: string, rest: { path: string; query: string }] {
  const mark = url.indexOf('?')
  const path = mark < 0 ? url : url.slice(0, mark)
  const slash = path.indexOf('/', 1)
  const slug = slash < 0 ? path.slice(1) : path.slice(1, slash)
  if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(slug)) throw paywallMissing()
  return [slug, { path: slash < 0 ? '/' : path.slice(slash), query: mark < 0 ? '' : url.slice(mark) }]
}

function toRequest(
  request: IncomingMessage,
  { path, query }: { path: string; query: string },
  { gone, address, upgrade }: { gone: AbortSignal; address: string; upgrade: boolean },
): GateRequest {
  const { headers } = request
  const body = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
  return {
    method: request.method ?? 'GET',
    path,
    query,
    header(name) {
      const value = headers[name]
      return Array.isArray(value) ? value.join(', ') : value
    },
    body: body ? request : null,
    upgrade,
    clientAddress: address,
    gone,
  }
}

/** What a client sent, by whatever way it came. */
interface Received {
  headers: HeaderList
  asked: GateRequest
}

/** Passes a client's request on to the upstream. */
export function callUpstream(
  { headers: owned, upstream, publicly, sign }: Opened,
  relay: Relay,
  { headers: given, asked }: Received,
): CallUpstream {
  return async ({ body, payment, plain, signal }: UpstreamCall) => {
    const sent = toUpstream(given, { address: asked.clientAddress, ...publicly }, owned)
    const { origin } = upstream
    const path = upstream.path + asked.path + asked.query
    const { method } = asked
    const headers = [...(plain ? unpacked(sent) : sent), sign(payment)]
    const answered = asked.upgrade
      ? await relay.upgrade({ origin, path, method, headers, signal, protocol: 'websocket' })
      : await relay.pass({ origin, path, method, headers, signal, body })
    const { status, body: answer, trailers, tunnel } = answered
    return {
      status,
      headers: toClient(answered.headers),
      body: answer,
      trailers: () => Object.fromEntries(toClient(Object.entries(trailers()))),
      tunnel,
    }
  }
}

/** The gate must read a measured answer, so it must not be compressed. */
function unpacked(headers: HeaderList): HeaderList {
  const others = headers.filter(([name]) => readAs(name) !== 'accept-encoding')
  return [...others, ['Accept-Encoding', 'identity']]
}

function headersOf({ rawHeaders }: IncomingMessage): HeaderList {
  return Array.from({ length: rawHeaders.length / 2 }, (_, place): [string, string] => [
    rawHeaders[2 * place] ?? '',
    rawHeaders[2 * place + 1] ?? '',
  ])
}

/** Payment status, for buyers that were referred to the status URL. */
async function tellPayment(
  paywalls: Paywalls,
  request: Request,
  response: Response,
  { path }: { path: string },
): Promise<void> {
  if (request.method !== 'GET' && request.method !== 'HEAD') throw paywallMissing()
  const payment = await paywalls.payment(path.slice(1))
  response.set({ ...CORS, 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' })
  response.json({
    payment: {
      id: payment.id,
      paywallId: payment.paywallId,
      status: payment.state,
      amount: toWire(payment.amount),
      currency: 'USDC',
      network: payment.network,
      payer: payment.payer,
      txHash: payment.txHash,
      reason: payment.reason,
      delivered: payment.delivery !== 'none',
      testMode: payment.simulated,
      createdAt: payment.createdAt.toISOString(),
      endedAt: payment.endedAt?.toISOString() ?? null,
    },
  })
}

function isPreflight(request: Request): boolean {
  return request.method === 'OPTIONS' && request.get('access-control-request-method') !== undefined
}

/** What requires a query of the chain or for a sale is rate limited; a buyer that spends a balance is not. */
function wantsALook(request: Request): boolean {
  return presentsPayment((name) => request.get(name)) || LOOKED_UP.some((name) => request.get(name) !== undefined)
}

const LOOKED_UP = [SIGN_IN, 'x-payment-id'] as const

function wantsPage(request: Request): boolean {
  return (
    (request.method === 'GET' || request.method === 'HEAD') &&
    !wantsALook(request) &&
    request.accepts(['json', 'html']) === 'html'
  )
}

/** Files of the page for browsers; no paywall has this slug. */
const ASSETS = 'assets'

const CORS = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': '*' }
/** Scripts in browsers pay too. The gate uses no cookies, so every origin may send requests. */
const PREFLIGHT = {
  ...CORS,
  'Access-Control-Allow-Methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
  'Access-Control-Max-Age': '600',
}

/**
 * Upstream answers come from third parties on an address that paywalls share, so no browser may run them as a page of
 * this service.
 */
const FENCE: HeaderList = [
  ['Content-Security-Policy', "default-src 'none'; sandbox"],
  ['X-Content-Type-Options', 'nosniff'],
  ['Cross-Origin-Resource-Policy', 'cross-origin'],
  ['Referrer-Policy', 'no-referrer'],
  ...Object.entries(CORS),
]
