import { CoinslotError } from './errors.ts'
import { readEvents, readText, type ServerEvent } from './stream.ts'

export interface ClientOptions {
  /** An API key: `csk_live_…`, `csk_test_…`. */
  key?: string | undefined
  /** The server's address without a path. Required: there is no server that everybody uses. */
  baseUrl?: string | undefined
  /** How long one attempt may take, in milliseconds; 60 s when absent. */
  timeoutMs?: number | undefined
  /** How often a failed request is sent again; 2 when absent. */
  retries?: number | undefined
  /** The function that sends requests, in place of the global `fetch`. */
  fetch?: typeof fetch | undefined
}

/** What every method accepts as its last argument. */
export interface RequestOptions {
  signal?: AbortSignal | undefined
  timeoutMs?: number | undefined
  retries?: number | undefined
  /** Repeating a request with the same key does not do it twice. The client makes one for each call. */
  idempotencyKey?: string | undefined
}

export interface Request extends RequestOptions {
  method: string
  path: string
  query?: object | undefined
  body?: unknown
}

/** Sends requests, and sends them again when that is safe. */
export class Transport {
  readonly baseUrl: string
  private readonly options: ClientOptions

  constructor(options: ClientOptions) {
    this.options = options
    this.baseUrl = (options.baseUrl ?? '').replace(/\/$/, '')
    if (!URL.canParse(this.baseUrl)) {
      throw new CoinslotError('baseUrl is not the address of a server. Use one such as http://localhost:4020.', {
        code: 'invalid_options',
      })
    }
  }

  async send<Answer>(request: Request): Promise<Answer> {
    // Every attempt has the same key, so the server does the work at most once.
    const key = request.method === 'POST' ? (request.idempotencyKey ?? crypto.randomUUID()) : undefined
    const retries = Math.min(RETRIES_MAX, request.retries ?? this.options.retries ?? 2)
    let mayBeDone = false
    if (request.signal?.aborted === true) throw aborted(request.signal)
    for (let attempt = 0; ; attempt++) {
      const outcome = await this.attempt<Answer>(request, key)
      if ('answer' in outcome) return outcome.answer
      // A retry may be refused before its key is looked for, as by 429: that says nothing about the earlier attempts.
      mayBeDone ||= !isFinal(outcome.error)
      if (attempt >= retries || !outcome.retryable) throw mayBeDone ? withKey(outcome.error, key) : outcome.error
      await pause(waitMs(attempt, outcome.retryAfterMs), request.signal).catch((error: unknown) => {
        throw mayBeDone && error instanceof CoinslotError ? withKey(error, key) : error
      })
    }
  }

  /** Events of one connection, from its answer on. */
  async *stream(request: Request): AsyncGenerator<ServerEvent> {
    // The server writes every 15 seconds, so a connection that is silent for longer is dead.
    const limit = new TimeLimit(SILENT_MS, request.signal)
    try {
      const response = await this.call(request, undefined, limit.signal)
      if (!response.ok || response.body === null) throw errorOf(response, await readText(response, limit.signal))
      yield* readEvents(response.body, limit.signal, () => limit.restart())
    } catch (error) {
      throw request.signal?.aborted === true ? aborted(request.signal) : error
    } finally {
      limit.end()
    }
  }

  private async attempt<Answer>(request: Request, key: string | undefined): Promise<Outcome<Answer>> {
    const limit = new TimeLimit(request.timeoutMs ?? this.options.timeoutMs ?? 60_000, request.signal)
    try {
      const response = await this.call(request, key, limit.signal)
      const text = await readText(response, limit.signal)
      if (response.ok) return { answer: bodyOf(response, text) as Answer }
      return {
        error: errorOf(response, text),
        retryable: isRetryable(request.method, response.status),
        retryAfterMs: retryAfterMs(response.headers.get('retry-after'), Date.now()),
      }
    } catch (error) {
      if (request.signal?.aborted === true) {
        return { error: aborted(request.signal), retryable: false, retryAfterMs: 0 }
      }
      if (error instanceof CoinslotError) return { error, retryable: false, retryAfterMs: 0 }
      const late = limit.signal.aborted
      const message = late
        ? `${this.baseUrl} did not answer in time. Try again, or raise timeoutMs.`
        : `${this.baseUrl} cannot be reached. Check baseUrl and your connection.`
      const code = late ? 'timeout' : 'connection_failed'
      return { error: new CoinslotError(message, { code, cause: error }), retryable: true, retryAfterMs: 0 }
    } finally {
      limit.end()
    }
  }

  private async call(
    { method, path, query, body }: Request,
    key: string | undefined,
    signal: AbortSignal,
  ): Promise<Response> {
    const url = new URL(this.baseUrl + path)
    for (const [name, value] of Object.entries(query ?? {})) {
      if (value !== undefined && value !== null) url.searchParams.set(name, String(value))
    }
    const headers: Record<string, string> = { accept: 'application/json, text/event-stream' }
    if (this.options.key !== undefined) headers['authorization'] = `Bearer ${this.options.key}`
    if (body !== undefined) headers['content-type'] = 'application/json'
    if (key !== undefined) headers['idempotency-key'] = key
    const send = this.options.fetch ?? fetch
    const sent = body === undefined ? null : JSON.stringify(body)
    // The key must not follow a redirect to another server. Not 'error': workers of Cloudflare refuse that.
    const response = await send(url, { method, headers, body: sent, redirect: 'manual', signal })
    if (isRedirect(response)) throw redirected(response)
    return response
  }
}

/** Aborts when the time is over, or when the caller does. `restart` begins the time anew. */
export class TimeLimit {
  private readonly controller = new AbortController()
  private readonly ms: number
  private readonly caller: AbortSignal | undefined
  private timer: ReturnType<typeof setTimeout>

  constructor(ms: number, caller: AbortSignal | undefined) {
    this.ms = ms
    this.caller = caller
    this.timer = this.begin()
    if (caller?.aborted === true) this.pass()
    else caller?.addEventListener('abort', this.pass)
  }

  get signal(): AbortSignal {
    return this.controller.signal
  }

  restart(): void {
    clearTimeout(this.timer)
    this.timer = this.begin()
  }

  end(): void {
    clearTimeout(this.timer)
    this.caller?.removeEventListener('abort', this.pass)
  }

  private readonly pass = (): void => this.controller.abort(this.caller?.reason)

  private begin(): ReturnType<typeof setTimeout> {
    return setTimeout(() => this.controller.abort(), this.ms)
  }
}

type Outcome<Answer> = { answer: Answer } | { error: CoinslotError; retryable: boolean; retryAfterMs: number }

/** These did nothing yet, or are repeated safely by the key. A failed run or call is final: it is not sent again. */
const RETRYABLE: ReadonlySet<number> = new Set([408, 429, 503])
const RETRIES_MAX = 10
const SILENT_MS = 45_000
const WAIT_MS_MAX = 30_000

export function isRetryable(method: string, status: number | null): boolean {
  return status !== null && (RETRYABLE.has(status) || (method === 'GET' && status >= 502))
}

/** Doubles from half a second, with jitter, so that clients that failed together do not return together. */
function waitMs(attempt: number, retryAfter: number): number {
  return Math.min(WAIT_MS_MAX, Math.max(retryAfter, 500 * 2 ** attempt * (0.5 + Math.random() / 2)))
}

/** In seconds or as a date: a proxy before the server may write either. */
export function retryAfterMs(header: string | null, now: number): number {
  const text = header?.trim() ?? ''
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : text.endsWith(' GMT') ? Date.parse(text) - now : 0
  return Number.isFinite(ms) ? Math.max(0, ms) : 0
}

/** Ends early when the caller gives up. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const give = (): void => {
      clearTimeout(timer)
      reject(aborted(signal))
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', give)
      resolve()
    }, ms)
    if (signal?.aborted === true) give()
    else signal?.addEventListener('abort', give, { once: true })
  })
}

function aborted(signal: AbortSignal | undefined): CoinslotError {
  return new CoinslotError('The call was ended by its caller.', { code: 'aborted', cause: signal?.reason })
}

function bodyOf(response: Response, text: string): unknown {
  if (response.status === 204 || text === '') return undefined
  const body = parsed(text)
  if (body === undefined) {
    throw new CoinslotError('The answer is not JSON. Check that baseUrl is the address of a Coinslot server.', {
      code: 'unexpected_answer',
      status: response.status,
    })
  }
  // 202 has two meanings: work that goes on, or a person has to approve it first.
  if (response.status === 202 && isError(body)) throw errorOf(response, text)
  return body
}

function isError(body: unknown): body is { error: string; code: string } {
  if (typeof body !== 'object' || body === null) return false
  const { error, code } = body as { error?: unknown; code?: unknown }
  return typeof error === 'string' && typeof code === 'string'
}

/** Browsers hide what it is: its status is 0 then. */
function isRedirect({ type, status, headers }: Response): boolean {
  return type === 'opaqueredirect' || (status >= 300 && status < 400 && headers.has('location'))
}

function redirected({ status, body }: Response): CoinslotError {
  void body?.cancel().catch(() => undefined)
  return new CoinslotError('The server answered with a redirect, which is not followed. Check baseUrl.', {
    code: 'unexpected_answer',
    status: status === 0 ? null : status,
  })
}

function errorOf(response: Response, text: string): CoinslotError {
  const { status } = response
  const body = parsed(text)
  if (isError(body)) {
    return new CoinslotError(body.error, { code: body.code, status, body: { ...body }, docUrl: helpOf(response) })
  }
  return new CoinslotError(`The server answered ${String(status)} without a reason. Check baseUrl, or try again.`, {
    code: 'unexpected_answer',
    status,
  })
}

/** Whether the service says that nothing was done, or that what was done has failed and is not charged. */
function isFinal({ status, body: { code, paymentId } }: CoinslotError): boolean {
  if (status === null) return false
  if (code === undefined) return status >= 300 && status < 500
  return status < 500 || (status !== 503 && code !== 'internal' && paymentId === undefined)
}

function withKey(error: CoinslotError, idempotencyKey: string | undefined): CoinslotError {
  const { message, code, status, body, docUrl, cause } = error
  return new CoinslotError(message, { code, status, body, docUrl, cause, idempotencyKey })
}

/** The target of `Link: <…>; rel="help"`. Its form is the service's own, so this reads no other one. */
function helpOf({ headers, url }: Response): string | null {
  const target = /^<([^>]*)>; rel="help"$/.exec(headers.get('link') ?? '')?.[1]
  return target !== undefined && URL.canParse(target, url) ? new URL(target, url).href : null
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
