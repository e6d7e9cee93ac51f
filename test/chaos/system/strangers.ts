import { randomBytes } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { request } from 'undici'
import { Stranger, type ReceivedRequest } from '../../harness/stranger.ts'
import type { Network } from '../../../service/chain/networks.ts'

export type Mood = 'honest' | 'fails' | 'hangs' | 'hangs-up' | 'slow'
export const MOODS: readonly Mood[] = ['fails', 'hangs', 'hangs-up', 'slow']

/** A server with a fault mode. */
abstract class FaultyServer extends Stranger {
  mood: Mood = 'honest'
  private readonly held = new Set<ServerResponse>()

  protected async answer(received: ReceivedRequest, response: ServerResponse): Promise<void> {
    if (this.mood === 'hangs') return void this.held.add(response)
    if (this.mood === 'hangs-up') return void response.destroy()
    if (this.mood === 'fails') return respond(response, 500, { error: 'not today' })
    if (this.mood === 'slow') await wait(2_000)
    try {
      await this.serve(received, response)
    } catch {
      response.destroy()
    }
  }

  /** Requests that were held get no response. */
  heal(): void {
    this.mood = 'honest'
    for (const response of this.held) response.destroy()
    this.held.clear()
  }

  protected abstract serve(received: ReceivedRequest, response: ServerResponse): void | Promise<void>
}

/** The path of a workflow that takes its time, and how long that is. */
export const WORK = '/work'
export const WORK_MS = 3_000

/** A workflow, or an endpoint for events: accepts every delivery. */
export class Receiver extends FaultyServer {
  /** The deliveries that it accepted, by webhook-id. */
  readonly accepted = new Map<string, unknown[]>()

  protected async serve({ path, body, headers }: ReceivedRequest, response: ServerResponse): Promise<void> {
    if (path === WORK) await wait(WORK_MS)
    const id = headers['webhook-id']
    if (body !== '' && typeof id === 'string') {
      this.accepted.set(id, [...(this.accepted.get(id) ?? []), JSON.parse(body)])
    }
    respond(response, 200, { message: 'ready' })
  }
}

/**
 * The server behind tools, assets and gates. It returns the request's name, so that a response that reaches the wrong
 * caller is noticed, and a secret that only this response has.
 */
export class Echo extends FaultyServer {
  /** By the request's name: a secret for each time that the request was served. */
  readonly served = new Map<string, string[]>()
  private readonly waiters = new Map<string, () => void>()

  /** Resolves when a request with this name has arrived, or after the time is up. */
  async waitFor(name: string, withinMs: number): Promise<boolean> {
    return await new Promise<boolean>((resolve) => {
      const done = (arrived: boolean): void => {
        clearTimeout(timer)
        this.waiters.delete(name)
        resolve(arrived)
      }
      const timer = setTimeout(() => done(false), withinMs)
      this.waiters.set(name, () => done(true))
    })
  }

  protected override async answer(received: ReceivedRequest, response: ServerResponse): Promise<void> {
    this.waiters.get(nameIn(received))?.()
    await super.answer(received, response)
  }

  protected async serve(received: ReceivedRequest, response: ServerResponse): Promise<void> {
    const name = nameIn(received)
    // Thieves hang up at this moment, as they would on a slow server.
    if (name.includes('-thief-')) await wait(THOUGHT_MS)
    const secret = `secret-${randomBytes(12).toString('hex')}`
    // The request is carried out here, even if its caller has hung up.
    this.served.set(name, [...(this.served.get(name) ?? []), secret])
    if (received.path === '/agent') return respond(response, 200, { status: 'completed', output: `${name} ${secret}` })
    const usage = { input_tokens: 1_000, output_tokens: 2_000 }
    respond(response, 200, { echo: name, secret, ...(received.path === '/metered' ? { usage } : {}) })
  }
}

const THOUGHT_MS = 400

function nameIn({ path, query, body }: ReceivedRequest): string {
  if (path === '/agent') return (JSON.parse(body) as { inputs: { topic: string } }).inputs.topic
  return query.get('act') ?? (JSON.parse(body) as { act: string }).act
}

/** The path of a document with a thousand operations. */
export const GIANT = '/giant.json'

function giant(): Record<string, unknown> {
  const operation = (place: number): Record<string, unknown> => ({
    ...{ operationId: `giant${String(place)}`, summary: 'Giant '.repeat(50) },
    responses: { 200: { description: 'Done' } },
  })
  const paths = Array.from({ length: 1_000 }, (_, place) => [`/giant/${String(place)}`, { get: operation(place) }])
  return { openapi: '3.1.0', info: { title: 'Giant', version: '1' }, paths: Object.fromEntries(paths) as unknown }
}

/** Holds every request until it is released: a thief puts this behind an asset to fill the queues. */
export class Sink extends FaultyServer {
  override mood: Mood = 'hangs'

  protected override async answer(received: ReceivedRequest, response: ServerResponse): Promise<void> {
    if (received.path === GIANT) return respond(response, 200, giant())
    await super.answer(received, response)
  }

  protected serve(_request: ReceivedRequest, response: ServerResponse): void {
    respond(response, 500, { error: 'no' })
  }
}

/** A stock seller: asks for money, has its facilitator settle the payment, and serves when the facilitator confirms. */
export class Seller extends FaultyServer {
  /** The payments it was shown, and whether its facilitator has confirmed the money. */
  readonly payments = new Map<string, { payload: unknown; sold: boolean }>()
  /** Called before the buyer gets an answer. */
  onSold: ((path: string, payer: string) => void) | null = null
  private readonly network: Network
  private readonly recipient: string
  private readonly facilitator: string

  constructor(network: Network, recipient: string, facilitator: string) {
    super()
    this.network = network
    this.recipient = recipient
    this.facilitator = facilitator
  }

  protected async serve({ headers, path }: ReceivedRequest, response: ServerResponse): Promise<void> {
    const signature = headers['payment-signature']
    if (typeof signature !== 'string') {
      const required = { x402Version: 2, error: 'pay', resource: { url: this.origin + path }, accepts: [this.offer()] }
      response
        .writeHead(402, { 'payment-required': Buffer.from(JSON.stringify(required)).toString('base64') })
        .end('{}')
      return
    }
    this.payments.set(path, { payload: JSON.parse(Buffer.from(signature, 'base64').toString()), sold: false })
    for (let again = 0; again < 4 && !(await this.settle(path)); again++) await wait(1_000)
    if (this.payments.get(path)?.sold === true) respond(response, 200, { sold: path })
    else respond(response, 502, { error: 'the facilitator does not answer' })
  }

  /** Settles on chain the payment that it was shown here. */
  async settle(path: string): Promise<boolean> {
    const payment = this.payments.get(path)
    if (payment === undefined) throw new Error(`nothing was shown at ${path}`)
    const settlement = await request(`${this.facilitator}/settle`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': path },
      body: JSON.stringify({ x402Version: 2, paymentPayload: payment.payload, paymentRequirements: this.offer() }),
      headersTimeout: 25_000,
      bodyTimeout: 25_000,
    })
      .then(({ body }) => body.json())
      .catch(() => null)
    payment.sold ||= (settlement as { success?: boolean } | null)?.success === true
    const { payload } = payment.payload as { payload: { authorization: { from: string } } }
    if (payment.sold) this.onSold?.(path, payload.authorization.from)
    return payment.sold
  }

  private offer(): Record<string, unknown> {
    const { usdc, caip2 } = this.network
    return {
      scheme: 'exact',
      network: caip2,
      asset: usdc.checksummed,
      payTo: this.recipient,
      amount: '30000',
      maxTimeoutSeconds: 60,
      extra: { name: usdc.name, version: usdc.version },
    }
  }
}

function respond(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
