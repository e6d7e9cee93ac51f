import { jsonOrUndefined } from '../../kit/json-shape.ts'
import { createHash, randomBytes } from 'node:crypto'
import type { Writable } from 'node:stream'
import { finished } from 'node:stream/promises'
import type { NextFunction, Request, RequestHandler, Response } from 'express'
import { countTokens as countWithTables } from '../../models/tokens.ts'
import type { Address, Hex } from '../../chain/model.ts'
import { NETWORKS } from '../../chain/networks.ts'
import { recoverMessage } from '../../chain/messages.ts'
import { DomainError, type Kind } from '../../kit/errors.ts'
import { whenClosed } from '../../kit/http.ts'
import { answer } from '../http/answer.ts'
import { paymentMissing } from '../errors.ts'
import type { CallUpstream, Gate, GateRequest, HeaderList, Outcome } from '../model.ts'
import type { PaymentJournal } from '../service/deps.ts'
import { NO_FAILPOINTS } from '../../kit/failpoints.ts'
import { createPaymentTokens } from '../../sales/service/proof.ts'
import { paymentOf } from '../rules/payment.ts'
import { NOT_CACHED, overrides, tellsCaches } from '../rules/headers.ts'
import { isPriced, routeOf, segmentsOf } from '../rules/routes.ts'
import { createGate } from '../service/gate.ts'
import type { RemoteDeps } from '../../methods/remote/deps.ts'
import { offerRemote } from '../../methods/remote/offer.ts'
import { remoteMethod } from '../../methods/remote/settle.ts'
import { credentialText } from '../../mpp/credential.ts'
import { createDialects } from '../../x402/dialects.ts'
import { sharedInProcess } from './authorizations.ts'
import { bodyOf } from './body.ts'
import { capture } from './capture.ts'
import { lookingAgain } from './look-again.ts'
import { memoryBooks, type PaymentEvent } from './memory.ts'
import { readOptions, type GivenOptions, type ReadOptions } from './options.ts'
import { rpcVerifier, seldom } from './rpc.ts'
import { usdc } from '../../kit/money.ts'
import { withoutTrailing } from '../../kit/text.ts'

export interface PaywallOptions extends GivenOptions {
  /** The address of an x402 facilitator, with its path. */
  facilitator: string
  /**
   * An RPC endpoint of the network. With it, the chain must confirm everything that the facilitator reports about
   * money; without it, a payment whose outcome is lost stays pending until its authorization has expired.
   */
  rpc?: string
  /** The limit for a request's body that no parser before the paywall has read; 10 MB when absent. */
  bodyBytesMax?: number
  /** The time limit for the facilitator; 25 seconds when absent. */
  timeoutMs?: number
  /** Kept in memory and lost with the process, unless you pass a persistent journal. */
  books?: PaymentJournal
  /**
   * Makes the challenges of MPP and of sign-ins, of 32 characters or more. Processes that share an address need the same
   * one; random for each process when absent.
   */
  secret?: string
  onEvent?: (event: PaymentEvent) => void
  /** For answers that do not report their usage; the tables of o200k_base when absent. */
  countTokens?: (text: string) => Promise<number>
  /**
   * Called with errors that occur outside the requests' own answers, and at most once in ten minutes with what stops all sales:
   * `rpc` or `facilitator` does not answer, or `rpc` is of another chain.
   */
  onProblem?: (problem: unknown, sentence: string) => void
  now?: () => Date
}

/** Sells routes of an Express server. Requests that match no route pass through unchanged. */
export function paywall(options: PaywallOptions): RequestHandler {
  const terms = readOptions(options)
  const { routes, milestones, origin } = terms
  const { timeoutMs = 25_000, bodyBytesMax = BODY_BYTES_MAX } = options
  const now = options.now ?? (() => new Date())
  const clock = { now }
  const tell = (fields: Record<string, unknown>, sentence: string): void => {
    options.onProblem?.(fields, sentence)
  }
  const facilitator = withoutTrailing(options.facilitator, '/')
  // Tokens and challenges are only valid for this process: after a restart the payments are lost too.
  const tokens = createPaymentTokens(randomBytes(32))
  const dialects = createDialects({ key: keyOf(options.secret), clock, signer: null })
  const books = sharedInProcess(options.books ?? memoryBooks({ onEvent: options.onEvent, milestones, now }), now)
  const problem = seldom(options.onProblem, clock)
  const verifier = options.rpc === undefined ? null : rpcVerifier(options.rpc, problem)
  // Before its first buyer.
  void verifier?.check(NETWORKS[terms.network]).catch(() => undefined)
  const remote: RemoteDeps = {
    post: (url, body, operation) => post(url, body, operation, timeoutMs),
    verifier,
    digestOf: ({ chainId }, { from, nonce }) => nameOf(chainId, from, nonce),
    digestBy: ({ chainId }, payer, nonce) => nameOf(chainId, payer, nonce),
    clock,
  }
  const method = remoteMethod(remote, facilitator)
  const running = {
    methods: { of: () => method },
    clock,
    log: { info: () => undefined, warn: tell, error: tell },
    measures: { count: () => undefined },
    failpoints: NO_FAILPOINTS,
  }
  const engine = createGate({
    ...running,
    journal: lookingAgain(books, { ...running, settleMs: timeoutMs }).journal,
    method: offerRemote(remote, facilitator),
    dialects,
    tally: { count: () => undefined },
    countTokens: options.countTokens ?? countWithTables,
    tokens,
    recoverMessage,
    addresses: { facilitator, signInOrigin: origin, statusOf: (payment) => STATUS_PATH + payment },
    limits: {
      // A parser's body has the parser's own limit, and raw bytes are limited while they are read.
      bodyBytes: Infinity,
      keptBytes: 1_048_576,
      gatherMs: 1_000,
      wholeMs: 30_000,
      workMs: WORK_MS,
      paymentMin: PAYMENT_MIN,
      settleMs: timeoutMs,
    },
  })

  return async (request: Request, response: Response, next: NextFunction) => {
    const mark = request.originalUrl.indexOf('?')
    const path = mark < 0 ? request.originalUrl : request.originalUrl.slice(0, mark)
    const wire: Wire = { to: response, reset: () => undefined }
    const send = (outcome: Outcome): Promise<void> => {
      wire.reset()
      for (const [header] of outcome.headers) response.removeHeader(header)
      const isPrivate = outcome.headers.includes(NOT_CACHED)
      for (const name of response.getHeaderNames()) if (isPrivate && tellsCaches(name)) response.removeHeader(name)
      return answer(request, response, outcome, wire.to)
    }
    try {
      if (path.startsWith(STATUS_PATH)) {
        await send(await statusOf(books, path.slice(STATUS_PATH.length)))
        return
      }
      const segments = segmentsOf(path)
      if (routeOf(routes, request.method, segments) === null) {
        // A handler after this one must not read the request as one with another method, which has a price.
        if (isPriced(routes, segments)) dropOverrides(request)
        next()
        return
      }
      const address = `${request.protocol}://${request.get('host') ?? 'localhost'}`
      const query = mark < 0 ? '' : request.originalUrl.slice(mark)
      const { asked, ask } = served(request, response, next, { path, query, wire, bodyBytesMax })
      await send(await engine.serve(gateAt(address, terms), asked, ask))
    } catch (error) {
      // The client has disconnected, so there is no answer to send.
      if (response.destroyed) return
      if (error instanceof DomainError) {
        if (error.code === 'facilitator_unavailable') problem(error, NO_FACILITATOR)
        await send(refusalOf(error))
      } else if (wire.to === response) next(error)
      else {
        // The response is captured, so an error page of the server's own handlers would not reach the client.
        options.onProblem?.(error, 'a paid request failed')
        await send(told(500, { error: 'Something went wrong on our side.', code: 'internal' }))
      }
    }
  }
}

function dropOverrides({ headers }: Request): void {
  for (const name of Object.keys(headers)) if (overrides(name)) Reflect.deleteProperty(headers, name)
}

function gateAt(address: string, { routes, milestones, recipient, network, name }: ReadOptions): Gate {
  const began = new Date(0)
  return {
    id: 'pwl_own',
    owner: { userId: 'own', environment: 'production' },
    slug: 'own',
    name,
    upstreamUrl: address,
    upstreamHeaders: [],
    routes,
    recipient,
    network,
    testMode: false,
    testToken: null,
    status: 'active',
    milestones,
    version: 1,
    address,
    earlier: [],
    createdAt: began,
    updatedAt: began,
  }
}

function keyOf(secret: string | undefined): Buffer {
  if (secret === undefined) return randomBytes(32)
  if (secret.length < 32) throw new Error("The paywall's options are wrong: secret must have at least 32 characters.")
  return Buffer.from(secret)
}

/** The stream for the actual answer, and the function that clears the response for it. */
interface Wire {
  to: Writable
  reset(): void
}

const STATUS_PATH = '/.coinslot/payments/'
const NO_FACILITATOR = 'The facilitator does not answer: no payment is taken.'

async function statusOf(books: PaymentJournal, id: string): Promise<Outcome> {
  const sale = await books.findById(id)
  if (sale === null) return refusalOf(paymentMissing())
  const { state: status, txHash, reason, delivery } = paymentOf(sale)
  return told(200, { payment: { id, status, txHash, reason, delivered: delivery !== 'none' } })
}

function told(status: number, body: unknown, headers: HeaderList = []): Outcome {
  const type = ['Content-Type', 'application/json; charset=utf-8'] as const
  return { status, headers: [type, ['Cache-Control', 'no-store'], ...headers], body: Buffer.from(JSON.stringify(body)) }
}

/** Uses the rest of the server as the upstream. */
function served(
  request: Request,
  response: Response,
  next: NextFunction,
  { path, query, wire, bodyBytesMax }: { path: string; query: string; wire: Wire; bodyBytesMax: number },
): { asked: GateRequest; ask: CallUpstream } {
  const gone = new AbortController()
  whenClosed(response, () => {
    gone.abort(new DomainError('late', 'client_gone', 'The client hung up.'))
  })
  const ask: CallUpstream = async ({ payment, body, plain, signal }) => {
    // The body is only hashed: the handlers have it already, or read it afterwards. They start once the payment is
    // bound to it.
    if (body !== null && payment.state !== 'free') await finished(body.resume())
    dropOverrides(request)
    // A measured answer is read, so nothing may compress it.
    if (plain) request.headers['accept-encoding'] = 'identity'
    // A payment of MPP is no sign-in at the server's own handlers.
    Reflect.deleteProperty(request.headers, 'payment-authorization')
    if (credentialText(request.headers.authorization) !== null) delete request.headers.authorization
    const captured = capture(response)
    wire.to = captured.wire
    wire.reset = captured.reset
    response.locals['payment'] = payment
    next()
    return await Promise.race([captured.answer, ended(signal)])
  }
  const asked: GateRequest = {
    method: request.method,
    path,
    query,
    header: (name) => request.get(name),
    body: bodyOf(request, bodyBytesMax),
    upgrade: false,
    clientAddress: request.ip ?? 'unknown',
    gone: gone.signal,
  }
  return { asked, ask }
}

const BODY_BYTES_MAX = 10_485_760

/** Facilitators refuse smaller amounts. */
const PAYMENT_MIN = usdc(100n)

/** Handlers have no time limit of their own; an authorization has to outlast what most of them take. */
const WORK_MS = 60_000

function ended(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const fail = (): void => {
      reject(signal.reason as Error)
    }
    if (signal.aborted) fail()
    else signal.addEventListener('abort', fail, { once: true })
  })
}

function refusalOf({ kind, code, message, fields: all }: DomainError): Outcome {
  const { retryAfterSeconds, ...fields } = all
  const headers: HeaderList = typeof retryAfterSeconds === 'number' ? [['Retry-After', String(retryAfterSeconds)]] : []
  return told(STATUS[kind] ?? 500, { error: message, code, ...fields }, headers)
}

/** HTTP statuses for the engine's errors. */
const STATUS: Partial<Record<Kind, number>> = {
  invalid: 400,
  missing: 404,
  conflict: 409,
  expired: 410,
  'too-large': 413,
  upstream: 502,
  unavailable: 503,
  late: 504,
}

async function post(
  url: string,
  body: unknown,
  operation: string | null,
  timeoutMs: number,
): Promise<{ status: number; json: unknown }> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(operation === null ? {} : { 'idempotency-key': operation }) },
    body: JSON.stringify(body),
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  })
  const text = await response.text()
  return { status: response.status, json: jsonOrUndefined(text) }
}

/** A payer can use a nonce only once per chain, so chain, payer and nonce identify an authorization. */
function nameOf(chainId: number, from: Address, nonce: Hex): Hex {
  return `0x${createHash('sha256')
    .update(`${String(chainId)} ${from} ${nonce}`)
    .digest('hex')}`
}
