import type { CheckoutPage, PassState, PaymentState, SimulatedOutcome } from '../../model.ts'
import type { PaymentPayload } from '../pay/authorization.ts'
import { loadFormatting } from '../answer/Answer.tsx'
import { say } from '../words/say.ts'
import { retryAfterMs } from '../../../kit/retry-after.ts'
import { isRecord, type Hex } from '../../../ui-kit/provider.ts'
import type { Choice, Refusal, Wish } from './form.ts'
import type { Handover } from './state.ts'

/** A wallet's signature in place of a payment. */
export interface WalletProof {
  address: Hex
  expires: string
  signature: Hex
}

/** What is bought: the form's input, or an order of an assistant. */
export type Bought = { input: Record<string, unknown>; choice?: Choice } | { order: string }

export type PayCall = Bought & { email?: string; language?: string } & (
    | { quoteId?: string; token?: string; paymentPayload: PaymentPayload }
    | { quoteId?: string; token: string; simulate: true; outcome: SimulatedOutcome }
    | { quoteId: string; token: string; free: true }
    | { token: string; pass: string }
    | { token: string; proof: WalletProof }
  )

/**
 * `refused` is a definite answer: nothing was taken. `unknown` means that there is no answer, or none that can be
 * trusted: the payment may be under way, and the same call sent again returns it.
 */
export type Outcome =
  | { kind: 'payment'; state: PaymentState }
  | { kind: 'refused'; refusal: Refusal }
  | { kind: 'unknown'; retryAfterMs: number | null }

/** The URLs below the page's own. */
export interface Api {
  page(): Promise<CheckoutPage | 'gone' | 'unknown'>
  /** What a wish costs. */
  quote(wish: Wish): Promise<Quoted | Refusal | 'unknown'>
  /** The key identifies a repeated simulation; a signed authorization identifies itself. */
  pay(call: PayCall, key: string | null): Promise<Outcome>
  payment(id: string, token: string | null): Promise<Outcome>
  /** What is left of a pass, or of the trial of a wallet. */
  left(of: { token: string } | { address: string }): Promise<Left | 'unknown'>
  /** Stores the form for another device; null where there was no room or no answer. */
  putDraft(token: string, content: string): Promise<Handover | null>
  /** What another device has stored; null where it has expired. */
  draft(token: string): Promise<string | null>
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
    async quote(wish) {
      const answer = await ask(`${at}/quote`, { body: wish })
      if (answer?.status === 200) return answer.body as unknown as Quoted
      return (answer === null ? null : refusalOf(answer)) ?? 'unknown'
    },
    async pay(call, key) {
      const headers = key === null ? {} : { 'idempotency-key': key }
      // Loaded meanwhile: most of what is bought here is an answer.
      void loadFormatting()
      return await shownOutcome(await ask(`${at}/pay`, { body: call, headers }))
    },
    async left(of) {
      const answer =
        'token' in of
          ? await ask(`${at}/pass`, { headers: { 'x-pass': of.token } })
          : await ask(`${at}/pass?address=${of.address}`, {})
      if (answer?.status === 404) return { pass: null, trialRunsLeft: null }
      return answer?.status === 200 ? (answer.body as unknown as Left) : 'unknown'
    },
    async putDraft(token, content) {
      const answer = await ask(`${at}/drafts`, { body: { token, content } })
      return answer?.status === 201 ? (answer.body as unknown as Handover) : null
    },
    async draft(token) {
      const answer = await ask(`${at}/draft`, { headers: { 'x-draft': token } })
      return answer?.status === 200 ? String(answer.body['content']) : null
    },
    payment: async (id, token) => await shownOutcome(await ask(paymentAt(id, token), {})),
    follow: (id, token, told) => follow(paymentAt(id, token), told),
  }
}

/** Null where nothing is left, or nothing was asked for. */
export interface Left {
  pass: PassState | null
  trialRunsLeft: number | null
}

/** The part of a page that a wish changes. */
export type Quoted = Pick<CheckoutPage, 'quote' | 'lines' | 'paymentRequirements' | 'prepared'>

interface ApiRequest {
  /** Sent by POST. */
  body?: object | undefined
  headers?: Readonly<Record<string, string>>
  timeoutMs?: number
}

export interface ApiResponse {
  status: number
  body: Record<string, unknown>
  retryAfterMs: number | null
}

/** Null without an answer that can be read. */
export async function ask(
  url: string,
  { body, headers = {}, timeoutMs = TIMEOUT_MS }: ApiRequest,
): Promise<ApiResponse | null> {
  try {
    const response = await fetch(url, {
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
      headers: {
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      cache: 'no-store',
      signal: AbortSignal.timeout(timeoutMs),
    })
    const answer: unknown = await response.json()
    return {
      status: response.status,
      body: isRecord(answer) ? answer : {},
      retryAfterMs: retryAfterMs(response.headers.get('retry-after'), { now: Date.now(), maxMs: WAIT_MS_MAX }),
    }
  } catch {
    return null
  }
}

/** With what shows the answer, if there is one. */
async function shownOutcome(answer: ApiResponse | null): Promise<Outcome> {
  const outcome = outcomeOf(answer)
  if (outcome.kind === 'payment' && hasAnswer(outcome.state)) await loadFormatting()
  return outcome
}

/** Whether a text is to be shown that may be formatted. */
export function hasAnswer({ delivery, result }: PaymentState): boolean {
  return delivery?.answer != null || result?.kind === 'text'
}

function outcomeOf(answer: ApiResponse | null): Outcome {
  if (answer === null) return { kind: 'unknown', retryAfterMs: null }
  if (answer.status < 300 && isState(answer.body)) return { kind: 'payment', state: answer.body }
  const refusal = refusalOf(answer)
  return refusal === null ? { kind: 'unknown', retryAfterMs: answer.retryAfterMs } : { kind: 'refused', refusal }
}

/** Null for an answer that is not definite. */
function refusalOf(answer: ApiResponse): Refusal | null {
  if (!isDefinite(answer)) return null
  const { status, body } = answer
  const sentence = typeof body['error'] === 'string' ? body['error'] : say('error.impossible')
  return { status, code: String(body['code']), sentence, details: texts(body['details']) }
}

/**
 * Whether an answer says that nothing was taken. A limit, a fault of the server and another server's page leave open what
 * became of an attempt before it.
 */
export function isDefinite({ status, body }: Pick<ApiResponse, 'status' | 'body'>): boolean {
  const code = typeof body['code'] === 'string' ? body['code'] : ''
  return (code !== '' && status >= 400 && status < 500 && status !== 408 && status !== 429) || NOTHING_TAKEN.test(code)
}

/**
 * The server answers with these before it has accepted anything. Once it has accepted a payment it always returns that
 * payment.
 */
const NOTHING_TAKEN = /^(workflow|network|rpc)_unavailable$|gas_budget_spent$|^gas_too_dear$|out_of_gas$/
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
    if (!isRecord(state) || !isState(state)) return
    if (!hasAnswer(state)) told(state)
    // The last state, so that no other can come before it.
    else {
      void loadFormatting().then(() => {
        if (!over) told(state)
      })
    }
  })
  source.addEventListener('error', () => {
    // It reconnects by itself unless the server refused it, or a proxy answered in its place.
    if (source.readyState === EventSource.CLOSED && timer === undefined) void poll()
  })
  const poll = async (): Promise<void> => {
    const outcome = await shownOutcome(await ask(url, {}))
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
/** The longest wait before a payment is asked about again, whatever a server says. */
export const WAIT_MS_MAX = 60_000
