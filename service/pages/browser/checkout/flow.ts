import type { CheckoutPage, PaymentState, Requirements, SimulatedOutcome } from '../../model.ts'
import { randomHex, randomToken, stillPays, type PaymentPayload } from '../pay/authorization.ts'
import type { PayCall } from './api.ts'
import { draftOf, dropDraft } from './draft.ts'
import { delayOf, findPayment, linkOf, lookForOrdered, moveTo, wait, type FlowDeps } from './found.ts'
import { check, errorsOf, isReachable, RECEIPT, type Choice, type Raw, type Refusal, type Wish } from './form.ts'
import { nameOf, type Saved, type SavedCall, type SavedPayment } from './kept.ts'
import { hashOf } from './order.ts'
import { signTerms } from './wallets.ts'
import { isSame, openPricing, pricedPage, wishOf } from './wish.ts'
import {
  hurdleOf,
  isAsked,
  isCouponFault,
  isOver,
  isPaid,
  priceOf,
  withoutCharge,
  type Progress,
  type State,
} from './state.ts'
import { language, say } from '../words/say.ts'
import { sentenceOf } from '../words/reasons.ts'
import type { Hex } from '../../../ui-kit/provider.ts'
import type { Watched } from '../../../ui-kit/watched.ts'

/** The signatures made while this page is open. */
interface Signed {
  /** A signature that was refused before anything was taken: the next attempt reuses it. */
  spare: PaymentPayload | null
  /** What is awaited. */
  sending: Saved | null
}

/** From a filled form to a payment that has reached its final state. */
export function openFlow(deps: FlowDeps) {
  const { store, keeper, home } = deps
  const signed: Signed = { spare: null, sending: null }
  const { arrived, unfollow } = openTracking(deps, signed)
  const { send, isUnfinished } = openSending(deps, signed, arrived)
  const pricing = openPricing(deps)
  const isPriced = () => isPricedNow(store, pricing)

  async function pay(raw: Raw): Promise<void> {
    const { account, doing, page } = store.read()
    if (doing !== null || account === null || hurdleOf(store.read()) === 'wrong-network') return
    const input = filled(store, raw)
    if (input === null) return
    if ((await isUnfinished()) || !(await isPriced())) return
    if (await isOutdated(deps, page)) return
    const terms = store.read().page.paymentRequirements?.v2
    if (terms === undefined) return
    // The wallet may take minutes, in which the customer may have paid in another tab.
    const kept = await keeper.writeFirst(async () => {
      const paymentPayload = await signatureFor(deps, signed, account.address, terms)
      if (paymentPayload === null) return null
      const { quoteId } = store.read().page.quote
      const { order, wish, email } = store.read()
      const ordered = order === null ? { choice: wish.choice } : { order: order.text }
      return { input, ...ordered, paymentPayload, quoteId, token: randomToken(), email, payment: null }
    })
    if (kept !== null) await send(kept)
  }

  const find = (id: string, token: string | null) => findPayment(deps, { id, token, arrived, send })

  return {
    pay,
    ...openUncharged(deps, { isPriced, isUnfinished, send }),
    enterEmail: (email: string) => store.change({ email: email.trim() }),
    choose(raw: Raw, choice?: Choice) {
      pricing.choose(wishOf(store.read(), raw, choice))
    },
    /** Shows the price of a choice that the customer did not make here. */
    preset: (wish: Wish) => {
      pricing.choose(wish)
    },
    /** A quote expires after ten minutes, so an open page fetches a new one. */
    async renew() {
      await renew(deps)
    },
    order: async (raw: Raw) => await ordered(store, raw, isPriced),
    /** A payment that was made in another tab. */
    show: (id: string, token: string | null) => void find(id, token),
    /** Continues this page's payment, or the one that it started before a reload. */
    resume(payment: PaymentState | null) {
      if (payment !== null) {
        arrived(payment, !isOver({ state: payment, slow: false, live: false }))
        return
      }
      const query = new URLSearchParams(location.search)
      // Older links have the payment id after a hash, and no token.
      const id = query.get('payment') ?? /^#payment=(pay_[0-9A-Za-z]+)$/.exec(location.hash)?.[1]
      const kept = keeper.read()
      if (id !== undefined) void find(id, query.get('token') ?? kept?.token ?? null)
      else if (kept !== null) void send(kept)
      else void lookForOrdered(deps, arrived)
    },
    /** Returns to the form after a failure. */
    again() {
      unfollow()
      moveTo(store.read(), home)
      store.change({ progress: null, transfer: null, notice: null, errors: {} })
      void renew(deps)
    },
  }
}

/** What is stored is sent, until its end is known. */
function openSending(deps: FlowDeps, signed: Signed, arrived: (state: PaymentState, live: boolean) => void) {
  const { store, keeper, now } = deps

  /** Another tab has signed and is not finished: a second signature could pay twice. */
  async function isUnfinished(): Promise<boolean> {
    const kept = keeper.read()
    if (kept !== null) await send(kept)
    return kept !== null
  }

  function ended(kept: Saved): void {
    signed.sending = null
    keeper.forget((other) => nameOf(other) === nameOf(kept))
  }

  async function send(kept: Saved): Promise<void> {
    signed.sending = kept
    await ('call' in kept ? sendCall(kept) : sendSigned(kept))
  }

  async function sendCall(kept: SavedCall): Promise<void> {
    const refusal = await ask(kept.call, kept.key)
    if (refusal === null) return
    ended(kept)
    if (refusal.code === 'quote_expired') await renew(deps, true)
    else refuse(store, refusal)
  }

  async function sendSigned(kept: SavedPayment): Promise<void> {
    const { input, choice = {}, order, paymentPayload, quoteId, token, email = '' } = kept
    const what = { ...(order === undefined ? { input, choice } : { order }), ...receiptAt(email) }
    const proof = token === undefined ? {} : { token }
    signed.spare = paymentPayload
    let refusal = await ask({ ...what, paymentPayload, quoteId, ...proof }, null)
    if (refusal?.code === 'quote_expired') {
      const changed = await renew(deps, true)
      const { page } = store.read()
      const terms = page.paymentRequirements?.v2
      if (terms !== undefined && stillPays(paymentPayload, terms, now())) {
        refusal = await ask({ ...what, paymentPayload, quoteId: page.quote.quoteId, ...proof }, null)
      } else if (changed) {
        // The page already shows the new price; a customer who agrees signs again.
        ended(kept)
        return
      }
    }
    if (refusal === null) return
    ended(kept)
    if (!isAboutInput(refusal) && refusal.status < 500) signed.spare = null
    refuse(store, refusal)
  }

  /** Null once there is a payment. */
  async function ask(call: PayCall, key: string | null): Promise<Refusal | null> {
    const result = await repeat(deps, call, key)
    if (!('payment' in result)) return result
    arrived(result, true)
    return null
  }

  return { send, isUnfinished }
}

/** What the form orders at the price that it shows; null where it has faults. */
async function ordered(store: FlowDeps['store'], raw: Raw, isPriced: () => Promise<boolean>) {
  const input = filled(store, raw)
  if (input === null || !(await isPriced())) return null
  const { wish, email } = store.read()
  return { input, choice: wish.choice, ...(email === '' ? {} : { email }) }
}

/** A customer pays only what the page shows for what they chose. */
async function isPricedNow(
  store: FlowDeps['store'],
  pricing: Pick<ReturnType<typeof openPricing>, 'isCurrent'>,
): Promise<boolean> {
  store.change({ doing: 'sending' })
  const isCurrent = await pricing.isCurrent()
  store.change({ doing: null })
  const { page, wish, priced, wishFault } = store.read()
  // Without an answer its price is not known.
  const isAnswered = isSame(wish, priced)
  if (!isCurrent && (wishFault === null || !isAnswered)) {
    const text = isAnswered ? say('pay.priceChanged', { price: priceOf(page) }) : say('receipt.noAnswer')
    store.change({ notice: { tone: 'plain', text } })
  }
  return isCurrent
}

/** What is sent without a payment: a simulated one, or the right to a run. */
function openUncharged(deps: FlowDeps, { isPriced, isUnfinished, send }: UnchargedDeps) {
  const { store, keeper, now } = deps

  const simulate = (raw: Raw, outcome: SimulatedOutcome): Promise<void> => take(raw, { simulate: true, outcome })
  /** A code takes off the whole price. */
  const takeFree = (raw: Raw): Promise<void> => take(raw, { free: true })

  async function take(raw: Raw, how: { simulate: true; outcome: SimulatedOutcome } | { free: true }): Promise<void> {
    if (store.read().doing !== null) return
    const input = filled(store, raw)
    if (input === null || (await isUnfinished()) || !(await isPriced())) return
    const { order, page, wish, email } = store.read()
    const { quoteId } = page.quote
    const ordered = order === null ? { input, choice: wish.choice } : { order: order.text }
    const what = { ...ordered, ...receiptAt(email) }
    await once(async () => ({ ...what, quoteId, token: randomToken(), ...how }))
  }

  /** A pass or a trial takes the place of a payment. */
  async function use(raw: Raw, how: 'pass' | 'trial'): Promise<void> {
    if (store.read().doing !== null) return
    const input = filled(store, raw)
    if (input === null || (await isUnfinished())) return
    await once(async () => {
      const { pass } = store.read().ahead
      // Loaded with the page where there are trials.
      const proof = how === 'trial' ? await (await import('./passes.ts')).proofFor(store, input, now()) : null
      const right = proof !== null ? { proof } : how === 'pass' && pass !== null ? { pass: pass.token } : null
      return right === null ? null : { input, ...right, ...receiptAt(store.read().email), token: randomToken() }
    })
  }

  async function once(make: () => Promise<PayCall | null>): Promise<void> {
    const kept = await keeper.writeFirst(async () => {
      const call = await make()
      return call === null ? null : { call, key: randomHex(), token: call.token, payment: null }
    })
    if (kept !== null) await send(kept)
  }

  return { simulate, takeFree, use }
}

interface UnchargedDeps {
  isPriced: () => Promise<boolean>
  isUnfinished: () => Promise<boolean>
  send: (kept: Saved) => Promise<void>
}

/** Follows an existing payment; the payment's own URL shows its progress. */
function openTracking({ store, api, keeper, home }: FlowDeps, signed: Signed) {
  let end: () => void = () => undefined

  function show(progress: Progress, id: string): void {
    store.change({ progress })
    // From here on the payment's own URL shows everything; a new visit to the checkout's link starts over.
    if (isPaid(progress) || isOver(progress)) {
      signed.spare = null
      keeper.forget(({ payment }) => payment === id)
      if (isPaid(progress) && store.read().order === null) dropDraft(draftOf(store.read()))
    }
    if (isOver(progress) && !isAsked(progress)) end()
  }

  function arrived(state: PaymentState, live: boolean): void {
    end()
    end = () => undefined
    const { id, token } = state.payment
    moveTo(store.read(), linkOf(home, id, token) + hashOf(store.read().order))
    if (signed.sending !== null) keeper.write({ ...signed.sending, payment: id })
    signed.sending = null
    show({ state, slow: false, live }, id)
    if (isOver({ state, slow: false, live }) && !isAsked({ state, slow: false, live })) return
    const slowly = setTimeout(() => {
      const { progress } = store.read()
      if (progress?.state != null && !isOver(progress)) {
        store.change({ progress: { ...progress, slow: true } })
      }
    }, SLOW_MS)
    const stop = api.follow(id, token, (next) => {
      show({ state: next, slow: store.read().progress?.slow === true, live }, id)
    })
    end = () => {
      clearTimeout(slowly)
      stop()
    }
  }

  return { arrived, unfollow: (): void => end() }
}

/** Repeats the call until there is an answer: without one it is unknown whether the money moves. */
async function repeat(deps: FlowDeps, call: PayCall, key: string | null): Promise<PaymentState | Refusal> {
  const { store, api } = deps
  store.change({ doing: 'sending', notice: null, errors: {}, progress: { state: null, slow: false, live: true } })
  for (let attempt = 0; ; attempt++) {
    const outcome = await api.pay(call, key)
    if (outcome.kind === 'payment') {
      store.change({ doing: null })
      return outcome.state
    }
    if (outcome.kind === 'refused') {
      store.change({ doing: null, progress: null })
      return outcome.refusal
    }
    if (attempt >= 1) store.change({ progress: { state: null, slow: true, live: true } })
    await wait(delayOf(outcome.retryAfterMs, attempt))
  }
}

/** The spare signature if it still pays these terms, else a new one; null if the wallet did not sign. */
async function signatureFor({ store, now }: FlowDeps, signed: Signed, from: Hex, terms: Requirements) {
  const { spare } = signed
  const usable = spare?.payload.authorization.from === from && stillPays(spare, terms, now())
  if (!usable) signed.spare = await signTerms(store, from, now())
  return signed.spare
}

/** A customer signs only for the price on the button that they clicked. */
async function isOutdated(deps: FlowDeps, page: CheckoutPage): Promise<boolean> {
  // The escrow's terms have absolute times, so they are fetched right before the signature.
  const lasts = Date.parse(page.quote.expiresAt) - deps.now() >= RENEW_BEFORE_MS
  if (lasts && page.prepared == null) return false
  deps.store.change({ doing: 'sending' })
  const changed = await renew(deps)
  deps.store.change({ doing: null })
  return changed
}

/** True if the page now asks for other terms than the customer has seen. */
async function renew({ store, api }: FlowDeps, forced = false): Promise<boolean> {
  const { page: before, progress, wish } = store.read()
  if (!forced && progress !== null) return false
  const shown = await api.page()
  if (shown === 'gone') store.change({ gone: true })
  if (typeof shown === 'string') return shown === 'gone'
  const page = await pricedPage(api, shown, wish)
  if (page === 'unknown') return false
  if ('status' in page) {
    store.change({ page: shown, priced: wish, wishFault: page })
    return true
  }
  store.change({ page, priced: wish, wishFault: null })
  const was = before.paymentRequirements?.v2
  const is = page.paymentRequirements?.v2
  if (was?.amount === is?.amount && was?.network === is?.network) return false
  store.change({ notice: { tone: 'plain', text: say('pay.priceChanged', { price: priceOf(page) }) } })
  return true
}

function refuse(store: Watched<State>, refusal: Refusal): void {
  const { page, order, wish } = store.read()
  const errors = errorsOf(page.checkout.fields, refusal.details)
  if (refusal.code === 'checkout_not_found') store.change({ gone: true })
  else if (refusal.code === 'order_expired') store.change({ orderEnd: 'expired' })
  else if (Object.keys(errors).length > 0 && order === null) store.change({ errors })
  // The code was used up meanwhile: the customer takes it away, and sees the price without it.
  else if (isCouponFault(refusal)) store.change({ priced: wish, wishFault: refusal })
  else if (refusal.code === 'workflow_unavailable') store.change({ page: { ...page, available: false } })
  else store.change({ notice: { tone: 'bad', text: withoutCharge(sentenceOf(refusal)) } })
}

/** What the call says about the receipt. */
function receiptAt(email: string): Pick<PayCall, 'email' | 'language'> {
  return email === '' ? {} : { email, language: language() }
}

/** The form's values, or the order's; null if one of them is invalid. */
function filled(store: Watched<State>, raw: Raw): Record<string, unknown> | null {
  const { order, email } = store.read()
  const atEmail = isReachable(email) ? {} : { [RECEIPT]: say('form.email', { example: 'name@example.com' }) }
  if (order !== null) {
    store.change({ errors: atEmail, notice: null })
    return isReachable(email) ? order.input : null
  }
  const { input, errors: atFields } = check(store.read().page.checkout.fields, raw)
  const errors = { ...atFields, ...atEmail }
  store.change({ errors, notice: null })
  return Object.keys(errors).length === 0 ? input : null
}

const SLOW_MS = 20_000
/** A quote must stay valid while the customer reads and signs. */
const RENEW_BEFORE_MS = 120_000

function isAboutInput({ details }: Refusal): boolean {
  return Object.keys(details).some((name) => name.startsWith('input.'))
}
