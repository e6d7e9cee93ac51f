import { loadFormatting } from '../answer/Answer.tsx'
import type { CheckoutPage, Requirements } from '../../model.ts'
import { randomToken, stillPays, type PaymentPayload } from '../pay/authorization.ts'
import { retryAfterMs } from '../../../kit/retry-after.ts'
import { isRecord } from '../../../ui-kit/provider.ts'
import { say } from '../words/say.ts'
import { sentenceOf } from '../words/reasons.ts'
import { nameOf, type Keeper, type SavedPayment } from '../checkout/kept.ts'
import { isDefinite, WAIT_MS_MAX } from '../checkout/api.ts'
import { delayOf, wait } from '../checkout/found.ts'
import { signTerms } from '../checkout/wallets.ts'
import { firstState, hurdleOf, withoutCharge, type State } from '../checkout/state.ts'
import type { Watched } from '../../../ui-kit/watched.ts'

/** A checkout's wallet and price, with the API's answer in place of a receipt. */
export interface GateState extends State {
  /** Sent and not answered yet; `slow` once that takes long. */
  sent: 'no' | 'yes' | 'slow'
  answer: Bought | null
}

export interface Bought {
  /** Null if it is not text, so that it can only be saved. */
  text: string | null
  /** An object URL in this page's memory, or the address at which it is. */
  href: string
  /** Where the API has put it; null where it is in the answer itself. */
  host: string | null
  name: string
  paymentId: string | null
}

export function firstGateState(page: CheckoutPage, onramp?: string | null): GateState {
  return { ...firstState(page, null, { onramp }), sent: 'no', answer: null }
}

interface Parts {
  store: Watched<GateState>
  keeper: Keeper
  /** The requested resource, by path and query. */
  resource: string
  /** The server's time, as far as this page knows it. */
  now(): number
}

/** From a click to the purchased answer. The signature is stored until then, and a retry sends the same one. */
export function openGateFlow({ store, keeper, resource, now }: Parts) {
  async function pay(): Promise<void> {
    const { account, doing, page } = store.read()
    if (doing !== null || account === null || hurdleOf(store.read()) === 'wrong-network') return
    const terms = page.paymentRequirements?.v2
    if (terms === undefined) return
    const kept = keeper.read()
    if (kept !== null) {
      // What has arrived, or may have, is sent until it is answered, whatever the price is now.
      const isOpen = kept.payment !== null || kept.free !== true
      if (isOpen || stillPays(kept.paymentPayload, terms, now())) {
        await send({ ...kept, free: false })
        return
      }
      forget(kept)
    }
    const first = await keeper.writeFirst(async () => {
      const paymentPayload = await signTerms(store, account.address, now())
      return paymentPayload && { input: {}, paymentPayload, quoteId: '', token: randomToken(), payment: null }
    })
    if (first === null) return
    // An answer that has come is delivered once, and forgotten with that.
    if (first.payment !== null && keeper.read() === null) {
      store.change({ notice: { tone: 'plain', text: say('gate.otherTab') } })
    } else await send({ ...first, free: false })
  }

  function forget(kept: SavedPayment): void {
    keeper.forget((other) => nameOf(other) === nameOf(kept))
  }

  /** Repeats the request until there is an answer: without one it is unknown whether the money moves. */
  async function send(kept: SavedPayment): Promise<void> {
    const { paymentPayload, token } = kept
    keeper.write(kept)
    store.change({ doing: 'sending', notice: null, sent: 'yes' })
    for (let attempt = 0; ; attempt++) {
      const response = await request(resource, signedHeaders(paymentPayload, token))
      if (response !== null && (await isAnswer(response))) {
        await arrived(response, kept)
        return
      }
      if (attempt >= 2) store.change({ sent: 'slow' })
      const limits = { now: Date.now(), maxMs: WAIT_MS_MAX }
      await wait(delayOf(retryAfterMs(response?.headers.get('retry-after'), limits), attempt))
    }
  }

  /** In test mode nothing is signed, so the request may simply be repeated. */
  async function simulate(testToken: string): Promise<void> {
    if (store.read().doing !== null) return
    const token = testToken.trim()
    // A header accepts no other characters, and a test token has no other form.
    if (!/^test_[\w-]{1,128}$/.test(token)) {
      store.change({ notice: { tone: 'bad', text: say('gate.wrongToken') } })
      return
    }
    store.change({ doing: 'sending', notice: null, sent: 'yes' })
    const response = await request(resource, { 'X-Payment-Token': token })
    if (response === null || response.status === 400) {
      const text = response === null ? say('gate.unreachable') : await refusalIn(response)
      store.change({ doing: null, sent: 'no', notice: { tone: 'bad', text } })
    } else await arrived(response, null)
  }

  async function arrived(response: Response, kept: SavedPayment | null): Promise<void> {
    if (response.ok) {
      await show(response, kept)
      return
    }
    store.change({ doing: null, sent: 'no' })
    const body = await bodyOf(response)
    const paid = paymentIn(response, body)
    const isOwed = paid !== null && response.status !== 402 && body['deliverable'] !== false
    if (kept !== null) {
      if (isOwed) keeper.write({ ...kept, payment: paid })
      else if (response.status < 500) forget(kept)
      // Failures behind the gate are free, and the same signature may be used again: by a click, not by a reload.
      else keeper.write({ ...kept, free: true })
    }
    if (response.status === 402) renew(store, response)
    const isUncharged = paid === null && response.status !== 409
    const sentence = paid === null ? inWords(body) : paidWords(body, paid)
    store.change({ notice: { tone: 'bad', text: isUncharged ? withoutCharge(sentence) : sentence } })
  }

  /** The payment is forgotten once its whole answer is here. */
  async function show(response: Response, kept: SavedPayment | null): Promise<void> {
    if (kept !== null) keeper.write({ ...kept, payment: response.headers.get('x-payment-id') })
    const answer = await toAnswer(response, resource).catch(() => null)
    if (answer !== null && kept !== null) forget(kept)
    const text = say(kept === null ? 'gate.unreachable' : 'gate.brokenOff')
    store.change({ doing: null, sent: 'no', answer, notice: answer === null ? { tone: 'bad', text } : null })
  }

  return {
    pay: () => void pay(),
    simulate,
    /** Sends the payment again that this page signed before a reload, unless its payer was answered that it was free. */
    resume(): void {
      const kept = keeper.read()
      if (kept !== null && kept.free !== true) void send(kept)
    },
    again(): void {
      store.change({ answer: null, notice: null })
    },
  }
}

function signedHeaders(payload: PaymentPayload, token: string | undefined): Record<string, string> {
  return { 'PAYMENT-SIGNATURE': encoded(payload), ...(token === undefined ? {} : { 'X-Payment-Token': token }) }
}

async function request(resource: string, headers: Record<string, string>): Promise<Response | null> {
  try {
    return await fetch(resource, {
      headers: { Accept: '*/*', 'Coinslot-Page': '1', ...headers },
      cache: 'no-store',
      redirect: 'follow',
    })
  } catch {
    return null
  }
}

/** The price differs from the page's: it is the payer's own tier, or the current price. */
function renew(store: Watched<GateState>, response: Response): void {
  const { page } = store.read()
  const v2 = requirementsIn(response.headers.get('payment-required'))
  if (v2 === null || page.paymentRequirements === null) return
  const price = Number(v2.amount) / 1_000_000
  store.change({ page: { ...page, checkout: { ...page.checkout, price }, paymentRequirements: { v2 } } })
}

async function refusalIn(response: Response): Promise<string> {
  const body = await bodyOf(response)
  const { details } = body
  return isRecord(details) && 'x-payment-token' in details ? say('gate.wrongToken') : inWords(body)
}

/** The payment that has arrived, by its id; null if none is known to have. */
function paymentIn({ headers }: Response, { paid, paymentId }: Record<string, unknown>): string | null {
  if (paid === true) return String(paymentId)
  return headers.get('x-payment-status') === 'paid' ? headers.get('x-payment-id') : null
}

/** Why a payment that has arrived has no answer yet, or gets none. */
function paidWords(body: Record<string, unknown>, payment: string): string {
  if (body['deliverable'] === false) return say('gate.undeliverable', { payment })
  if (body['paid'] === true) return say('gate.arrived')
  // It went into the payer's balance, which is too small for the call.
  if (body['code'] === 'payment_refused') return inWords(body)
  return `${inWords(body)} ${say('gate.arrived')}`
}

function inWords({ code, error }: Record<string, unknown>): string {
  if (typeof error !== 'string') return say('gate.invalidAnswer')
  return sentenceOf({ code: typeof code === 'string' ? code : '', sentence: error })
}

/** The API's own answer, or the gate's end of the attempt. All else leaves open whether the money moves. */
async function isAnswer(response: Response): Promise<boolean> {
  const { ok, status, headers } = response
  if (ok || headers.has('x-payment-id') || headers.has('x-payment-balance')) return true
  const body = await bodyOf(response.clone())
  if (body['code'] === 'payment_processing') return false
  return body['paid'] === true || OVER.has(body['code']) || isDefinite({ status, body })
}

/** What a gate answers for a payment that it has released, or has not taken. */
const OVER: ReadonlySet<unknown> = new Set(['upstream_error', 'upstream_timeout', 'paywall_paused', 'gate_loop'])

async function bodyOf(response: Response): Promise<Record<string, unknown>> {
  try {
    const body: unknown = await response.json()
    return isRecord(body) ? body : {}
  } catch {
    return {}
  }
}

async function toAnswer(response: Response, resource: string): Promise<Bought> {
  const name = resource.split('?')[0]?.split('/').at(-1) ?? 'answer'
  const paymentId = response.headers.get('x-payment-id')
  const place = placeIn(response)
  if (place !== null) return { text: null, href: place.href, host: place.host, name, paymentId }
  const type = response.headers.get('content-type') ?? ''
  const blob = await response.blob()
  const isText = /^text\/|json|xml|javascript|csv/i.test(type) && blob.size < SHOWN_MAX
  if (isText) await loadFormatting()
  return {
    text: isText ? await blob.text() : null,
    href: URL.createObjectURL(blob),
    host: null,
    name,
    paymentId,
  }
}

/** Where the API redirects to. */
function placeIn({ headers, url }: Response): URL | null {
  const location = headers.get('coinslot-location')
  if (location === null || !URL.canParse(location, url)) return null
  const place = new URL(location, url)
  return /^https?:$/.test(place.protocol) ? place : null
}

function requirementsIn(header: string | null): Requirements | null {
  try {
    const text = new TextDecoder().decode(Uint8Array.from(atob(header ?? ''), (sign) => sign.charCodeAt(0)))
    return (JSON.parse(text) as { accepts: Requirements[] }).accepts[0] ?? null
  } catch {
    return null
  }
}

function encoded(payload: PaymentPayload): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(JSON.stringify(payload))))
}

const SHOWN_MAX = 1_000_000
