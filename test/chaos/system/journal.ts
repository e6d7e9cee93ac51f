import type { Dispatcher } from 'undici'
import { request } from 'undici'

/** Everything that clients requested and every response they got: the final state must agree with it. */
export interface Act {
  readonly kind: Kind
  /** Its idempotency key; every server along the way sees it. */
  readonly name: string
  readonly request: ActRequest
  readonly replies: Reply[]
  /** How often it was sent, with or without a response. */
  sent: number
  /** How long each answer took. */
  readonly waits: { atMs: number; ms: number }[]
  /** The response after which the client stops asking. */
  final: Reply | null
  /**
   * The request that returns the final result if the first response was only an acknowledgement: repeating the key
   * would only repeat that.
   */
  follow: Pick<ActRequest, 'method' | 'path' | 'headers' | 'body'> | null
  /** Sent once, with any outcome. */
  readonly once: boolean
}

export const KINDS = [
  'checkout',
  'settle',
  'run',
  'tool',
  'tool-x402',
  'gate-exact',
  'gate-prepaid',
  'gate-draw',
  'pay',
  'deposit',
  'withdraw',
] as const
export type Kind = (typeof KINDS)[number]

export interface ActRequest {
  method: 'GET' | 'POST'
  path: string
  headers: Readonly<Record<string, string>>
  body: unknown
  /** The nonce of the authorization in the request, if there is one. */
  nonce: string | null
  amount: bigint
  /** The address that pays or receives the money. */
  address: string | null
}

export interface Reply {
  status: number
  headers: Readonly<Record<string, string | string[] | undefined>>
  // oxlint-disable-next-line typescript/no-explicit-any -- looked into field by field, as in other tests
  body: any
}

/** Sends it once more. Null means no response: the connection broke, or the response came from the proxy. */
export async function send(origin: string, act: Act, dispatcher: Dispatcher, waitMs: number): Promise<Reply | null> {
  const { method, path, headers, body } = act.follow ?? act.request
  act.sent++
  const atMs = Date.now()
  try {
    const answer = await request(origin + path, {
      method,
      dispatcher,
      headers: { ...(body === null ? {} : { 'content-type': 'application/json' }), ...headers },
      body: body === null ? null : JSON.stringify(body),
      headersTimeout: waitMs,
      bodyTimeout: waitMs,
    })
    const text = await answer.body.text()
    act.waits.push({ atMs, ms: Date.now() - atMs })
    const reply: Reply = { status: answer.statusCode, headers: answer.headers, body: parsed(text) }
    if (reply.status >= 500 && typeof reply.body?.requestId !== 'string' && reply.headers['x-request-id'] === undefined)
      return null
    act.replies.push(reply)
    act.follow ??= followOf(act, reply)
    return reply
  } catch {
    return null
  }
}

function followOf({ kind, request }: Act, { status, body }: Reply): Act['follow'] {
  if (kind === 'checkout' && status === 202) {
    const { pathname, search } = new URL(String(body.payment.statusUrl))
    return { method: 'GET', path: pathname + search, headers: {}, body: null }
  }
  if (kind === 'settle' && body?.status === 'pending') return { ...request, headers: {} }
  return null
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
