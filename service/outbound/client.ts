import { Agent, type Dispatcher } from 'undici'
import type { StepAttributes, Tracer } from '../kit/tracer.ts'
import { assertNoTransaction } from '../kit/transaction.ts'
import { normalised, permitsPrivate, toTarget } from './addresses.ts'
import { CappedBody, toEncodings } from './body.ts'
import { guardedConnector } from './connector.ts'
import { startDeadline, type Deadline } from '../kit/deadline.ts'
import { addressUnresolvable, explain, redirectRefused, responseTimeout, responseTooLarge } from './errors.ts'
import { AGENT, checkHeaders, toAnswerHeaders, toMethod } from './headers.ts'
import { locate, systemResolve } from './lookup.ts'
import type { OutboundResponse, Limits, OutboundRequest, Policy, Resolve, StreamedResponse } from './model.ts'
import { follow, isRedirect, ledAstray, type Step } from './redirects.ts'

export interface Outbound {
  send(request: OutboundRequest): Promise<OutboundResponse>
  /** Streams the body as it arrives, under the same limits. */
  open(request: OutboundRequest): Promise<StreamedResponse>
  /** Checks an address when a user saves it, as far as possible at that time. Every call checks again. */
  checkAddress(url: string | URL): Promise<void>
  /** Waits for the calls in progress. */
  close(): Promise<void>
}

export interface OutboundOptions {
  readonly policy: Policy
  readonly limits?: Partial<Limits>
  readonly connectMs?: number
  readonly resolve?: Resolve
  /** Certificate authorities in PEM that replace the well-known ones. */
  readonly authorities?: string
  /**
   * A tracer follows each call. `passed` also sends the trace to the other side, which is only for servers that work
   * for us.
   */
  readonly tracing?: { readonly tracer: Tracer; readonly passed: boolean } | null
}

/** The only way to call an address that a user gave. */
export function outboundClient(options: OutboundOptions): Outbound {
  const policy = normalised(options.policy)
  const resolve = options.resolve ?? systemResolve
  const connectMs = options.connectMs ?? 5_000
  const limits: Limits = { ...LIMITS, ...options.limits }
  const agent = new Agent({
    connect: guardedConnector(policy, resolve, connectMs, options.authorities),
    connections: CONNECTIONS_PER_ORIGIN,
    maxHeaderSize: HEADER_BYTES,
  })

  const start = tracedBy(options.tracing ?? null, call)

  async function call(request: OutboundRequest): Promise<StreamedResponse & { body: CappedBody }> {
    assertNoTransaction('another server')
    const bounds: Limits = { ...limits, ...request.limits }
    const first = toStep(request, policy)
    const deadline = startDeadline(bounds.totalMs, () => responseTimeout(first.host), request.signal)
    const blame = (error: unknown) =>
      request.signal?.aborted === true ? toError(request.signal.reason) : explain(error, first.host)
    try {
      const [step, answer] = await walk(agent, first, {
        redirects: request.redirects ?? 0,
        policy,
        limits: bounds,
        deadline,
      })
      const body = toBody(step, answer, { truncate: request.truncate ?? false, limits: bounds, blame })
      body.once('close', () => {
        deadline.stop()
      })
      return { status: answer.statusCode, headers: toAnswerHeaders(answer.headers), body }
    } catch (error) {
      deadline.stop()
      throw blame(error)
    }
  }

  return {
    open: start,

    async send(request) {
      const { status, headers, body } = await start(request)
      const chunks: Buffer[] = []
      for await (const chunk of body) chunks.push(chunk as Buffer)
      return { status, headers, body: Buffer.concat(chunks), truncated: body.truncated }
    },

    async checkAddress(url) {
      const target = toTarget(url, policy)
      const late = () => addressUnresolvable(target.host, 'invalid')
      const deadline = startDeadline(connectMs, late, undefined)
      const hostname = target.hostname.replace(/^\[|\]$/g, '')
      try {
        await deadline.race(locate(resolve, hostname, permitsPrivate(policy, target), 'invalid'))
      } finally {
        deadline.stop()
      }
    },

    close: () => agent.close(),
  }
}

/**
 * The step ends when the response headers arrive. Only the address's host is reported, because the rest may contain a
 * key.
 */
function tracedBy(tracing: NonNullable<OutboundOptions['tracing']> | null, call: Call): Call {
  if (tracing === null) return call
  const { tracer, passed } = tracing
  return (request) => {
    const method = request.method ?? 'GET'
    const initial: StepAttributes = { 'http.request.method': method }
    return tracer.within({ name: `call ${method}`, kind: 'client', attributes: initial }, async (attributes) => {
      attributes['server.address'] = hostOf(request.url)
      const parent = passed ? tracer.parent() : undefined
      const headers = parent === undefined ? request.headers : { ...request.headers, traceparent: parent }
      const answer = await call(headers === undefined ? request : { ...request, headers })
      attributes['http.response.status_code'] = answer.status
      return answer
    })
  }
}

function hostOf(url: string | URL): string {
  const text = String(url)
  return URL.canParse(text) ? new URL(text).host : 'no address'
}

type Call = (request: OutboundRequest) => Promise<StreamedResponse & { body: CappedBody }>

function toStep(request: OutboundRequest, policy: Policy): Step {
  const headers = request.headers ?? {}
  checkHeaders(headers)
  const method = toMethod(request.method)
  const target = toTarget(request.url, policy)
  return { host: target.host, target, method, headers, body: request.body }
}

/** Returns the first response that is not a redirect to follow, and its request. */
async function walk(
  agent: Agent,
  first: Step,
  { redirects, policy, limits, deadline }: Walk,
): Promise<[Step, Dispatcher.ResponseData]> {
  let step = first
  let status = 0
  for (let hops = 0; ; hops++) {
    const answer = await deadline.race(ask(agent, step, limits, deadline.signal)).catch((error: unknown) => {
      throw hops === 0 ? error : ledAstray(error, step, status)
    })
    status = answer.statusCode
    const location = answer.headers['location']
    if (redirects === 'pass' || !isRedirect(status, location)) return [step, answer]
    discard(answer)
    if (hops >= redirects) throw redirectRefused(step.host, status, 'use the final address instead')
    step = follow(step, status, location, policy)
  }
}

interface Walk {
  redirects: number | 'pass'
  policy: Policy
  limits: Limits
  deadline: Deadline
}

function ask(agent: Agent, step: Step, limits: Limits, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
  return agent.request({
    origin: step.target.origin,
    path: step.target.pathname + step.target.search,
    method: step.method,
    headers: { ...step.headers, 'user-agent': AGENT, 'accept-encoding': 'gzip, br' },
    body: step.body ?? null,
    headersTimeout: limits.headersMs,
    bodyTimeout: limits.idleMs,
    signal,
  })
}

function toBody(
  step: Step,
  answer: Dispatcher.ResponseData,
  { truncate, limits, blame }: { truncate: boolean; limits: Limits; blame: (error: unknown) => Error },
): CappedBody {
  const host = step.host
  const bodiless = step.method === 'HEAD' || answer.statusCode === 204 || answer.statusCode === 304
  const encodings = bodiless ? [] : toEncodings(answer.headers['content-encoding'])
  const announced = bodiless || encodings.length > 0 ? 0 : Number(answer.headers['content-length'] ?? 0)
  if (announced > limits.bodyBytes && !truncate) {
    discard(answer)
    throw responseTooLarge(host, limits.bodyBytes)
  }
  return new CappedBody(answer.body, encodings, { host, bytes: limits.bodyBytes, truncate, explain: blame })
}

/** Closes the connection instead of reading the rest: an unread body may be endless. */
function discard(answer: Dispatcher.ResponseData): void {
  answer.body.on('error', () => undefined).destroy()
}

function toError(reason: unknown): Error {
  // Not `instanceof`: a signal's DOMException is not an Error in every runtime.
  return typeof reason === 'object' && reason !== null ? (reason as Error) : new Error(String(reason))
}

const LIMITS: Limits = { headersMs: 15_000, idleMs: 15_000, totalMs: 30_000, bodyBytes: 1_048_576 }

const HEADER_BYTES = 16_384
const CONNECTIONS_PER_ORIGIN = 128
