import { hostname } from 'node:os'
import { CoinslotError } from '../errors.ts'
import { pause, TimeLimit } from '../request.ts'
import type { Coinslot, EventName, WebhookEndpoint } from '../coinslot.ts'
import { clientOf, oneOf, parse, shown, UsageError, type Command, type Terminal } from './terminal.ts'
import { saveSecret, secretOf } from './settings.ts'

/** Forwards the account's events to a local address, with the headers and the signature of production. */
export const listen: Command = async (terminal, words) => {
  const { values } = parse(words, {
    'forward-to': { type: 'string' },
    events: { type: 'string' },
    since: { type: 'string' },
    name: { type: 'string' },
  })
  if (values['forward-to'] === undefined) throw new UsageError('Say where to: --forward-to localhost:3000/hook.')
  const address = addressOf(values['forward-to'])
  const since = values.since === undefined ? null : sinceOf(values.since)
  const client = clientOf(terminal)
  const events = values.events?.split(',').map((name) => name.trim() as EventName)
  const { endpoint, secret } = await endpointOf(terminal, client, { name: nameOf(values.name), events: events ?? ALL })
  const path = { id: endpoint.id }
  if (since !== null) {
    const body = { since: since.toISOString() }
    const { replayed } = await client.request('POST /v1/webhook-endpoints/{id}/events/replay', { path, body })
    terminal.note(`${String(replayed)} events are sent again.`)
  }
  terminal.note(`Forwarding to ${address.href}. Its events are signed with ${secret}`)
  await new Following(terminal, client, endpoint.id, (delivery) => forward(terminal, address, delivery)).run()
}

/** Sends a sample event to `coinslot listen`. */
export const trigger: Command = async (terminal, words) => {
  const { values, positionals } = parse(words, { name: { type: 'string' } })
  const event = oneOf(positionals, 'event') as EventName
  const client = clientOf(terminal)
  const endpoint = await find(client, nameOf(values.name))
  if (endpoint === null) throw new UsageError('Nothing listens under this name. Start coinslot listen first.')
  const { deliveries } = await client.webhookEndpoints.test(endpoint.id, { event })
  for (const each of deliveries) terminal.print(terminal.json ? JSON.stringify(each) : `${each.id}  ${each.event}`)
}

export interface Delivery {
  id: string
  /** Grows with every redelivery and replay. An older server does not send it. */
  turn?: number
  headers: Readonly<Record<string, string>>
  body: string
}

/** One event after the other, and no turn of one twice: the service keeps what was not confirmed. */
export class Following {
  private readonly handled = new Map<string, number>()
  private unconfirmed: Confirmation[] = []
  private readonly terminal: Terminal
  private readonly client: Coinslot
  private readonly endpoint: string
  /** The answer to the event: a status. */
  private readonly handle: (delivery: Delivery) => Promise<number>

  constructor(terminal: Terminal, client: Coinslot, endpoint: string, handle: (delivery: Delivery) => Promise<number>) {
    this.terminal = terminal
    this.client = client
    this.endpoint = endpoint
    this.handle = handle
  }

  async run(): Promise<void> {
    const { stopped } = this.terminal
    const confirming = this.confirmUntil(stopped)
    while (!stopped.aborted) {
      try {
        await this.follow()
      } catch (error) {
        if (stopped.aborted) break
        if (error instanceof CoinslotError && FINAL.has(error.status ?? 0)) throw error
        this.terminal.note(`${error instanceof Error ? error.message : 'The connection broke.'} Trying again.`)
      }
      // The next connection gets everything unconfirmed again, freshly signed.
      await pause(RECONNECT_MS, stopped).catch(() => undefined)
    }
    await confirming
  }

  private async follow(): Promise<void> {
    const path = `/v1/webhook-endpoints/${this.endpoint}/events`
    for await (const { event, data } of this.client.transport.stream({
      method: 'GET',
      path,
      signal: this.terminal.stopped,
    })) {
      if (event !== 'delivery') continue
      const delivery = data as Delivery
      // Handled already where its confirmation got lost; not where it is redelivered or replayed.
      const status = this.handled.get(keyOf(delivery)) ?? (await this.handle(delivery))
      this.remember(delivery, status)
    }
  }

  private remember(delivery: Delivery, status: number): void {
    const { id, turn } = delivery
    this.handled.set(keyOf(delivery), status)
    if (this.handled.size > HANDLED_MAX) this.handled.delete(this.handled.keys().next().value ?? '')
    this.unconfirmed.push(turn === undefined ? { id, status } : { id, turn, status })
  }

  /** Together, so that a thousand events do not use up the key's rate limit. */
  private async confirmUntil(stopped: AbortSignal): Promise<void> {
    for (let last = false; !last;) {
      last = stopped.aborted
      const deliveries = this.unconfirmed.slice(0, CONFIRM_MAX)
      if (deliveries.length > 0) {
        const request = { path: { id: this.endpoint }, body: { deliveries } }
        const confirmed = await this.client
          .request('POST /v1/webhook-endpoints/{id}/events/confirm', request, { timeoutMs: 10_000 })
          .then(() => true)
          // They are streamed again, and confirmed then.
          .catch(() => false)
        if (confirmed) this.unconfirmed = this.unconfirmed.slice(deliveries.length)
      }
      if (!last) await pause(CONFIRM_MS, stopped).catch(() => undefined)
    }
  }
}

interface Confirmation {
  id: string
  turn?: number
  status: number
}

function keyOf({ id, turn }: Delivery): string {
  return `${id} ${String(turn ?? '')}`
}

async function forward(terminal: Terminal, address: URL, { id, headers, body }: Delivery): Promise<number> {
  const begun = performance.now()
  const limit = new TimeLimit(FORWARD_MS, terminal.stopped)
  const sent = Object.fromEntries(Object.entries(headers).filter(([name]) => !NOT_FORWARDED.test(name)))
  const request = { method: 'POST', headers: sent, body, redirect: 'manual', signal: limit.signal } as const
  const response = await fetch(address, request)
    .catch((error: unknown) => {
      throw new Error(`${address.href} cannot be reached.`, { cause: error })
    })
    .finally(() => limit.end())
  await response.body?.cancel()
  const { event } = eventIn(body)
  const ms = Math.round(performance.now() - begun)
  const line = { id, event: typeof event === 'string' ? event : '', status: response.status, ms }
  const text = `${String(response.status)}  ${shown(line.event)}  ${shown(id)}  ${String(ms)} ms`
  terminal.print(terminal.json ? JSON.stringify(line) : text)
  return response.status
}

/** The fields of an event. One without any is an event all the same, and was handled. */
export function eventIn(body: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(body)) as Record<string, unknown>
  } catch {
    return {}
  }
}

/** No delivery has them: a server must not name the host that is called here, sign in there, or break the request. */
const NOT_FORWARDED =
  /^(?:host|cookie|authorization|origin|referer|connection|content-length|transfer-encoding|expect|upgrade|forwarded|x-forwarded-.*|proxy-.*|sec-.*)$/i

const RECONNECT_MS = 1_000
const FORWARD_MS = 30_000
const HANDLED_MAX = 10_000
const CONFIRM_MS = 200
const CONFIRM_MAX = 100
/** Trying again changes nothing about these. */
const FINAL: ReadonlySet<number> = new Set([401, 403, 404, 409])

/** The compiler names any that is missing. */
export const ALL = Object.keys({
  'payment.completed': true,
  'payment.failed': true,
  'payment.refunded': true,
  'refund.failed': true,
  'dispute.opened': true,
  'dispute.closed': true,
  'customer.first_payment': true,
  'revenue.milestone': true,
  'pricing.tier_changed': true,
  'run.completed': true,
  'run.failed': true,
  'checkout.paused': true,
  'pass.created': true,
  'pass.ending': true,
  'pass.ended': true,
  'agent.spending.warning': true,
  'agent.spending.exceeded': true,
  'agent.paused': true,
  'connection.expired': true,
  'wallet.low_balance': true,
  'delivery.unconfirmed': true,
  'delivery.stopped': true,
  'delivery.exhausted': true,
  'endpoint.disabled': true,
} satisfies Record<EventName, true>) as EventName[]

/** The endpoint of this name, and its secret. The API shows a secret once: one that is not stored here is replaced. */
export async function endpointOf(
  { settings }: Terminal,
  client: Coinslot,
  { name, events }: { name: string; events: readonly EventName[] },
): Promise<{ endpoint: WebhookEndpoint; secret: string }> {
  const found = await find(client, name)
  let secret: string | null
  let endpoint: WebhookEndpoint
  if (found === null) {
    const made = await client.webhookEndpoints.create({ url: `listen:${name}`, events: [...events] })
    endpoint = made.webhookEndpoint
    secret = made.secret
  } else {
    const change = { path: { id: found.id }, body: { events: [...events], status: 'enabled' as const } }
    endpoint = (await client.request('PATCH /v1/webhook-endpoints/{id}', change)).webhookEndpoint
    secret = secretOf(settings, found.id) ?? null
  }
  const path = { id: endpoint.id }
  secret ??= (await client.request('POST /v1/webhook-endpoints/{id}/rotate-secret', { path })).secret
  if (secret === null) throw new Error('The secret could not be read. Try again.')
  saveSecret(settings, endpoint.id, secret)
  return { endpoint, secret }
}

async function find(client: Coinslot, name: string): Promise<WebhookEndpoint | null> {
  for await (const endpoint of client.webhookEndpoints.list({ limit: 50 })) {
    if (endpoint.url === `listen:${name}`) return endpoint
  }
  return null
}

export function nameOf(wanted: string | undefined): string {
  const name =
    wanted ??
    hostname()
      .replaceAll(/[^\w.-]/g, '-')
      .slice(0, 64)
  if (!/^[\w.-]{1,64}$/.test(name))
    throw new UsageError('--name must be letters, digits, dots and hyphens, at most 64.')
  return name
}

function addressOf(text: string): URL {
  const url = text.includes('://') ? text : `http://${text}`
  const address = URL.canParse(url) ? new URL(url) : null
  // With a name and a password in it, no request can be sent.
  if (address === null || !/^https?:$/.test(address.protocol) || address.username !== '' || address.password !== '')
    throw new UsageError('--forward-to must be an address, such as localhost:3000/hook.')
  return address
}

function sinceOf(text: string): Date {
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  const ago = count === undefined ? null : Number(count) * (UNIT_MS[unit ?? ''] ?? 0)
  const since = ago === null ? new Date(text) : new Date(Date.now() - ago)
  if (Number.isNaN(since.getTime())) throw new UsageError('--since must be like 30m, 2h, 1d, or 2026-01-31T12:00:00Z.')
  return since
}

const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
