import type { Api, Schemas } from './api.ts'
import { CoinslotError } from './errors.ts'
import { list, type List } from './list.ts'
import { isRetryable, pause, Transport, type ClientOptions, type RequestOptions } from './request.ts'
import { verify } from './webhooks.ts'

export { CoinslotError, SignatureError } from './errors.ts'
export { verify as verifyWebhook, type VerifyOptions, type WebhookEvent, type WebhookHeaders } from './webhooks.ts'
export type { Api, Schemas } from './api.ts'
export type { List, Page } from './list.ts'
export type { ClientOptions, RequestOptions } from './request.ts'

type Body<Name extends keyof Api> = Api[Name]['body']
type Query<Name extends keyof Api> = Api[Name]['query']
type ResultOf<Name extends keyof Api> = Api[Name]['answer']
type ItemOf<
  Name extends keyof Api,
  Field extends keyof ResultOf<Name>,
> = ResultOf<Name>[Field] extends readonly (infer Item)[] ? Item : never

export type Checkout = Schemas['Checkout']
export type Payment = Schemas['Payment']
export type PaymentWithRefunds = Schemas['PaymentWithRefunds']
export type Refund = Schemas['Refund']
export type Run = Schemas['Run']
export type RunSummary = Schemas['RunSummary']
export type RunResult = Schemas['RunResult']
export type WebhookEndpoint = Schemas['WebhookEndpoint']
export type Tool = ItemOf<'GET /tools/', 'tools'>
export type ToolResult = ResultOf<'POST /tools/{slug}'>
export type EventName = WebhookEndpoint['events'][number]
export type NewCheckout = Body<'POST /v1/checkouts'>
export type NewRun = Omit<Body<'POST /v1/run'>, 'async'>

export interface CallOptions extends RequestOptions {
  /** The most that the call may cost, in USDC. */
  maxCost?: number | undefined
}

/** The account or the agent that a key belongs to. */
export class Coinslot {
  readonly transport: Transport

  constructor(options: ClientOptions = {}) {
    this.transport = new Transport(options)
  }

  /** Any operation of the API by its name in the reference: `request('GET /v1/agents/{id}', { path: { id } })`. */
  request<Name extends keyof Api>(
    name: Name,
    input: { path?: Readonly<Record<string, string>>; query?: Query<Name>; body?: Body<Name> } = {},
    options: RequestOptions = {},
  ): Promise<ResultOf<Name>> {
    const [method = '', template = ''] = name.split(' ')
    const path = template.replace(/\{(\w+)\}/g, (_, field: string) => segment(input.path?.[field]))
    // Only a POST takes a key, and not every one, so a request is repeated only where the caller passes one.
    const isKeyed = method === 'POST' && options.idempotencyKey !== undefined
    const retries = method === 'GET' || isKeyed ? options.retries : 0
    const { query, body } = input
    return this.transport.send({ ...options, retries, method, path, query, body })
  }

  readonly checkouts = {
    /** The secret that signs the checkout's deliveries is only in this answer. */
    create: (checkout: NewCheckout, options?: RequestOptions): Promise<ResultOf<'POST /v1/checkouts'>> =>
      this.post('/v1/checkouts', checkout, options),
    get: async (id: string, options?: RequestOptions): Promise<Checkout> =>
      (await this.get<{ checkout: Checkout }>(`/v1/checkouts/${segment(id)}`, options)).checkout,
    list: (query?: Query<'GET /v1/checkouts'>, options?: RequestOptions): List<Checkout> =>
      list(this.transport, { path: '/v1/checkouts', field: 'checkouts', query }, options),
    /** Closes its link. */
    expire: (id: string, options?: RequestOptions): Promise<ResultOf<'DELETE /v1/checkouts/{id}'>> =>
      this.transport.send({ ...options, method: 'DELETE', path: `/v1/checkouts/${segment(id)}` }),
    /** Pays a checkout in test mode, as a customer with these inputs would. */
    testPayment: (
      id: string,
      body: Body<'POST /v1/checkouts/{id}/test-payment'>,
      options?: RequestOptions,
    ): Promise<ResultOf<'POST /v1/checkouts/{id}/test-payment'>> =>
      this.post(`/v1/checkouts/${segment(id)}/test-payment`, body, options),
  }

  readonly payments = {
    get: async (id: string, options?: RequestOptions): Promise<PaymentWithRefunds> =>
      (await this.get<{ payment: PaymentWithRefunds }>(`/v1/payments/${segment(id)}`, options)).payment,
    list: (query?: Query<'GET /v1/payments'>, options?: RequestOptions): List<Payment> =>
      list(this.transport, { path: '/v1/payments', field: 'payments', query }, options),
    refund: async (
      id: string,
      body: Body<'POST /v1/payments/{id}/refund'>,
      options?: RequestOptions,
    ): Promise<Refund> =>
      (await this.post<{ refund: Refund }>(`/v1/payments/${segment(id)}/refund`, body, options)).refund,
  }

  readonly runs = {
    /** Runs an asset and waits for its output. Only a success is charged. */
    create: (run: NewRun, options?: RequestOptions): Promise<RunResult> =>
      this.post('/v1/run', run, { timeoutMs: RUN_MS, ...options }),
    /** Starts a run in the background; `wait` or `stream` follows it. */
    start: async (run: NewRun, options?: RequestOptions): Promise<{ runId: string }> =>
      await this.post('/v1/run', { ...run, async: true }, options),
    get: async (id: string, options?: RequestOptions): Promise<Run> =>
      (await this.get<{ run: Run }>(`/v1/runs/${segment(id)}`, options)).run,
    list: (query?: Query<'GET /v1/runs'>, options?: RequestOptions): List<RunSummary> =>
      list(this.transport, { path: '/v1/runs', field: 'runs', query }, options),
    cancel: (id: string, options?: RequestOptions): Promise<ResultOf<'POST /v1/runs/{id}/cancel'>> =>
      this.post(`/v1/runs/${segment(id)}/cancel`, undefined, options),
    /**
     * The run at each of its states, until it has ended or `signal` ends it. Connects again when the connection breaks, at
     * most ten times in a row without an event, after the first connection.
     */
    stream: (id: string, options: RequestOptions = {}): AsyncGenerator<Run | RunSummary> => this.statesOf(id, options),
    /** The run once it has ended, also if it failed. */
    wait: async (id: string, options: RequestOptions = {}): Promise<Run> => {
      for await (const run of this.statesOf(id, options)) if (hasEnded(run)) break
      return await this.runs.get(id, options)
    },
  }

  readonly tools = {
    list: (query?: Query<'GET /tools/'>, options?: RequestOptions): List<Tool> =>
      list(this.transport, { path: '/tools', field: 'tools', query }, options),
    /** The tools that fit the words best, best first. */
    search: async (words: string, query?: Query<'GET /tools/'>, options?: RequestOptions): Promise<readonly Tool[]> =>
      (await this.tools.list({ ...query, search: words }, options)).items,
    /** Only a success is charged; a failure is a `CoinslotError`. With `maxCost` a call that costs more is refused. */
    call: (slug: string, input: Readonly<Record<string, unknown>>, options: CallOptions = {}): Promise<ToolResult> => {
      const { maxCost, ...sent } = options
      const query = maxCost === undefined ? undefined : { maxCost }
      const path = `/tools/${segment(slug)}`
      return this.transport.send({ timeoutMs: RUN_MS, ...sent, method: 'POST', path, query, body: input })
    },
  }

  readonly webhookEndpoints = {
    /** The secret that signs its events is only in this answer. */
    create: (
      endpoint: Body<'POST /v1/webhook-endpoints'>,
      options?: RequestOptions,
    ): Promise<ResultOf<'POST /v1/webhook-endpoints'>> => this.post('/v1/webhook-endpoints', endpoint, options),
    list: (query?: Query<'GET /v1/webhook-endpoints'>, options?: RequestOptions): List<WebhookEndpoint> =>
      list(this.transport, { path: '/v1/webhook-endpoints', field: 'webhookEndpoints', query }, options),
    delete: (id: string, options?: RequestOptions): Promise<void> =>
      this.transport.send({ ...options, method: 'DELETE', path: `/v1/webhook-endpoints/${segment(id)}` }),
    /** Sends a sample event with all fields. */
    test: (
      id: string,
      body: NonNullable<Body<'POST /v1/webhook-endpoints/{id}/test'>>,
      options?: RequestOptions,
    ): Promise<ResultOf<'POST /v1/webhook-endpoints/{id}/test'>> =>
      this.post(`/v1/webhook-endpoints/${segment(id)}/test`, body, options),
  }

  readonly webhooks = { verify }

  /**
   * `fetch` that pays: the server calls the address for you and pays what it costs by x402 or MPP, from the balance and
   * within the limits of the key's agent, but never more than `maxAmount` USDC. Where the address asked for money, the
   * answer has two more headers: `coinslot-payment` with the payment's id, and `coinslot-payment-status`. While that is
   * `pending`, the seller has not taken the money; if it never does, the money comes back.
   */
  async fetch(url: string | URL, init: PaidRequest): Promise<Response> {
    const { maxAmount, method = 'GET', headers = {}, body, ...options } = init
    const wanted = { url: String(url), method, headers, maxAmount, ...(body === undefined ? {} : { body }) }
    const paid = await this.post<ResultOf<'POST /v1/pay'>>('/v1/pay', wanted, { timeoutMs: RUN_MS, ...options })
    if (paid.response === null) throw noResponse(paid)
    if (!isStatus(paid.response.status)) throw noStatus(paid, paid.response.status)
    return toResponse(paid.response, paid.payment)
  }

  private get<Result>(path: string, options?: RequestOptions): Promise<Result> {
    return this.transport.send<Result>({ ...options, method: 'GET', path })
  }

  private post<Result>(path: string, body: unknown, options?: RequestOptions): Promise<Result> {
    return this.transport.send<Result>({ ...options, method: 'POST', path, body })
  }

  private async *statesOf(id: string, options: RequestOptions): AsyncGenerator<Run | RunSummary> {
    let last: string | null = null
    for (let broken = 0; ; broken++) {
      try {
        const request = { ...options, method: 'GET', path: `/v1/runs/${segment(id)}/events` }
        for await (const { data } of this.transport.stream(request)) {
          const run = data as Run | RunSummary
          broken = 0
          // A new connection begins with the present state.
          if (run.status !== last) yield run
          last = run.status
          if (hasEnded(run)) return
        }
      } catch (error) {
        if (broken >= BROKEN_MAX || (error instanceof CoinslotError && !isRetryable('GET', error.status))) throw error
      }
      // Also where each connection ends without an error and without an event.
      if (broken >= BROKEN_MAX) throw neverFollowed(id)
      await pause(1000, options.signal)
    }
  }
}

export interface PaidRequest extends RequestOptions {
  /** The most that the call may cost, in USDC. */
  maxAmount: number
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | undefined
  headers?: Readonly<Record<string, string>> | undefined
  /** Text is sent as it is, anything else as JSON. */
  body?: unknown
}

const RUN_MS = 200_000
const BROKEN_MAX = 10
const ENDED: ReadonlySet<string> = new Set(['succeeded', 'failed', 'canceled'])

function neverFollowed(id: string): CoinslotError {
  const message = `The events of ${id} end again and again before it has ended. Get it by its id, or try again later.`
  return new CoinslotError(message, { code: 'connection_failed' })
}

function hasEnded({ status }: Run | RunSummary): boolean {
  return ENDED.has(status)
}

/** One part of a path: an id must not lead to another path. */
function segment(value: string | undefined): string {
  if (value === undefined || value === '' || /^\.\.?$/.test(value)) {
    throw new CoinslotError('The id is missing or not valid. Pass the id of what you mean.', { code: 'invalid_id' })
  }
  return encodeURIComponent(value)
}

/** An earlier request with the same key decided it. */
function noResponse(paid: ResultOf<'POST /v1/pay'>): CoinslotError {
  if (paid.payment?.status !== 'returned') {
    const message = 'This was paid before, and the answer is no longer stored. Send it with a new key.'
    return new CoinslotError(message, { code: 'response_not_stored', body: paid })
  }
  const { id, reason } = paid.payment
  const message = `Payment ${id} was returned (${String(reason)}). Nothing was paid. Send it with a new key to try again.`
  return new CoinslotError(message, { code: 'payment_returned', body: paid })
}

/** Those that a `Response` can have: it throws for others, and the payment's id would be lost. */
function isStatus(status: number): boolean {
  return status >= 200 && status <= 599
}

function noStatus(paid: ResultOf<'POST /v1/pay'>, status: number): CoinslotError {
  const payment = paid.payment === null ? 'Nothing was paid.' : `The payment is ${paid.payment.id}.`
  const message = `The address answered with the status ${String(status)}, which is none of HTTP's. ${payment}`
  return new CoinslotError(message, { code: 'unexpected_answer', body: paid })
}

const PAYMENT = { id: 'coinslot-payment', status: 'coinslot-payment-status' } as const
/**
 * The body is decoded already, and its length is that of the decoded one. What became of the payment is not the seller's
 * to say.
 */
const NOT_PASSED_ON = new Set<string>([
  'content-encoding',
  'content-length',
  'transfer-encoding',
  ...Object.values(PAYMENT),
])
const WITHOUT_BODY = new Set([204, 205, 304])

function toResponse({ status, headers, body, encoding }: PaidResponse, payment: PaidCall | null): Response {
  const bytes = encoding === 'utf8' ? body : Uint8Array.from(atob(body), (character) => character.charCodeAt(0))
  const response = new Response(WITHOUT_BODY.has(status) ? null : bytes, { status })
  for (const [name, values] of Object.entries(headers)) {
    if (NOT_PASSED_ON.has(name.toLowerCase())) continue
    for (const value of [values].flat()) response.headers.append(name, value)
  }
  if (payment !== null) {
    response.headers.set(PAYMENT.id, payment.id)
    response.headers.set(PAYMENT.status, payment.status)
  }
  return response
}

type PaidCall = Schemas['PaidCall']

type PaidResponse = NonNullable<ResultOf<'POST /v1/pay'>['response']>
