import type { CheckoutPage, PaymentState, SimulatedOutcome } from '../../model.ts'
import type { PaymentPayload } from '../pay/authorization.ts'
import { isRecord } from '../../../ui-kit/provider.ts'

/** What is bought: the form's input, or an order of an assistant. */
export type Bought = { input: Record<string, unknown> } | { order: string }

export type PayCall = Bought &
  (
    | { quoteId?: string; token?: string; paymentPayload: PaymentPayload }
    | { quoteId?: string; token: string; simulate: true; outcome: SimulatedOutcome }
  )

/**
 * `refused` is a definite answer: nothing was taken. `unknown` means that there is no answer, or none that can be
 * trusted: the payment may be under way, and the same call sent again returns it.
 */
export type Outcome =
  | { kind: 'payment'; state: PaymentState }
  | { kind: 'refused'; refusal: Refusal }
  | { kind: 'unknown'; retryAfterMs: number | null }

export interface Refusal {
  status: number
  code: string
  sentence: string
  /** By field, as the server names it: `input.email`. */
  details: Readonly<Record<string, string>>
}

/** The URLs below the page's own. */
export interface Api {
  page(): Promise<CheckoutPage | 'gone' | 'unknown'>
  /** The key identifies a repeated simulation; a signed authorization identifies itself. */
  pay(call: PayCall, key: string | null): Promise<Outcome>
  payment(id: string, token: string | null): Promise<Outcome>
  /** Reports each state until there is no more change; the returned function ends it early. */
  follow(id: string, token: string | null, told: (state: PaymentState) => void): () => void
}

export function openApi(at: string): Api {
  const paymentAt = (id: string, token: string | null): string =>
    `${at}/payments/${encodeURIComponent(id)}${token === null ? '' : `?token=${encodeURIComponent(token)}`}`
  return {
    async page() {
      const answer = await ask(at, {})
      if (answer?.status === 200) return answer.body as unknown as CheckoutPage
      return answer?.body['code'] === 'checkout_not_found' ? 'gone' : 'unknown'
    },
    async pay(call, key) {
      const body = JSON.stringify(call)
      const headers = { 'content-type': 'application/json', ...(key === null ? {} : { 'idempotency-key': key }) }
      return outcomeOf(await ask(`${at}/pay`, { method: 'POST', body, headers }))
    },
    payment: async (id, token) => outcomeOf(await ask(paymentAt(id, token), {})),
    follow: (id, token, told) => follow(paymentAt(id, token), told),
  }
}

interface ApiRequest {
  method?: 'POST'
  body?: string
  headers?: Readonly<Record<string, string>>
}

interface ApiResponse {
  status: number
  body: Record<string, unknown>
  retryAfterMs: number | null
}

async function ask(url: string, init: ApiRequest): Promise<ApiResponse | null> {
  try {
    const response = await fetch(url, {
      ...init,
      headers: { accept: 'application/json', ...init.headers },
      cache: 'no-store',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    const body: unknown = await response.json()
    const retryAfter = Number(response.headers.get('retry-after') ?? NaN)
    return {
      status: response.status,
      body: isRecord(body) ? body : {},
      retryAfterMs: Number.isFinite(retryAfter) ? retryAfter * 1000 : null,
    }
  } catch {
    return null
  }
}

function outcomeOf(answer: ApiResponse | null): Outcome {
  if (answer === null) return { kind: 'unknown', retryAfterMs: null }
  const { status, body } = answer
  if (status < 300 && isState(body)) return { kind: 'payment', state: body }
  const code = typeof body['code'] === 'string' ? body['code'] : ''
  const final = status >= 400 && status < 500 && status !== 408 && status !== 429
  if ((!final || code === '') && !NOTHING_TAKEN.has(code)) return { kind: 'unknown', retryAfterMs: answer.retryAfterMs }
  const sentence =
    typeof body['error'] === 'string' ? body['error'] : 'Payment is not possible right now. Try again later.'
  return { kind: 'refused', refusal: { status, code, sentence, details: texts(body['details']) } }
}

/**
 * The server answers with these before it has accepted anything. Once it has accepted a payment it always returns that
 * payment.
 */
const NOTHING_TAKEN = new Set([
  'workflow_unavailable',
  'network_unavailable',
  'rpc_unavailable',
  'gas_budget_spent',
  'gas_too_dear',
])
/** Longer than the server waits for a chain. */
const TIMEOUT_MS = 60_000

function isState(body: Record<string, unknown>): body is PaymentState & Record<string, unknown> {
  return isRecord(body['payment']) && typeof body['payment']['id'] === 'string'
}

function texts(details: unknown): Record<string, string> {
  if (!isRecord(details)) return {}
  return Object.fromEntries(
    Object.entries(details).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )
}

/** Uses server-sent events, or polling if those do not get through. */
function follow(url: string, told: (state: PaymentState) => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let over = false
  const source = new EventSource(url)
  source.addEventListener('state', (event) => {
    const state: unknown = JSON.parse((event as MessageEvent<string>).data)
    if (isRecord(state) && isState(state)) told(state)
  })
  source.addEventListener('error', () => {
    // It reconnects by itself unless the server refused it, or a proxy answered in its place.
    if (source.readyState === EventSource.CLOSED && timer === undefined) void poll()
  })
  const poll = async (): Promise<void> => {
    const outcome = outcomeOf(await ask(url, {}))
    if (over) return
    if (outcome.kind === 'payment') told(outcome.state)
    if (!over) timer = setTimeout(() => void poll(), POLL_MS)
  }
  return () => {
    over = true
    source.close()
    clearTimeout(timer)
  }
}

const POLL_MS = 3_000
