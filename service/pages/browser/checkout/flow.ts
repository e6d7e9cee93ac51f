import type { CheckoutPage, PaymentState, SimulatedOutcome } from '../../model.ts'
import { randomHex, randomToken, stillPays, type PaymentPayload } from '../pay/authorization.ts'
import type { Api, PayCall, Refusal } from './api.ts'
import { dropDraft } from './draft.ts'
import { check, errorsOf, type Raw } from './form.ts'
import type { Keeper, Kept } from './kept.ts'
import { signTerms } from './wallets.ts'
import { hurdleOf, isOver, isPaid, priceOf, withoutCharge, type State } from './state.ts'
import type { Watched } from '../../../ui-kit/watched.ts'

/** From a filled form to a payment that has come to rest. */
export interface Flow {
  /** Goes on with the payment that this page is about, or that an earlier life of it began. */
  resume(payment: PaymentState | null): void
  pay(raw: Raw): Promise<void>
  simulate(raw: Raw, outcome: SimulatedOutcome): Promise<void>
  /** After a failure: back to the form. */
  again(): void
  /** The price holds ten minutes; a page that stays open asks anew. */
  renew(): Promise<void>
}

interface Parts {
  store: Watched<State>
  api: Api
  keeper: Keeper
  /** The checkout's own path. */
  home: string
  /** The server's, as far as this page knows it. */
  now(): number
}

export function openFlow({ store, api, keeper, home, now }: Parts): Flow {
  /** Signed, and refused before anything was taken: good for the next attempt instead of another signature. */
  let spare: PaymentPayload | null = null
  /** What the payment that is awaited was signed with. */
  let sending: Kept | null = null
  let unfollow: () => void = () => undefined

  async function pay(raw: Raw): Promise<void> {
    const { account, doing, page } = store.read()
    if (doing !== null || account === null || hurdleOf(store.read()) === 'wrong-network') return
    const input = filled(page, raw)
    if (input === null) return
    const under = keeper.read()
    if (under !== null) {
      // Another tab has signed, and is not done: one more signature could pay twice.
      await send(under)
      return
    }
    if (await outdated(page)) return
    const terms = store.read().page.paymentRequirements?.v2
    if (terms === undefined) return
    if (spare === null || !stillPays(spare, terms, now()) || spare.payload.authorization.from !== account.address) {
      spare = await signTerms(store, account.address, now())
    }
    if (spare === null) return
    const kept: Kept = {
      input,
      paymentPayload: spare,
      quoteId: store.read().page.quote.quoteId,
      token: randomToken(),
      payment: null,
    }
    keeper.write(kept)
    await send(kept)
  }

  /** Nobody signs for another price than the one on the button that was clicked. */
  async function outdated(page: CheckoutPage): Promise<boolean> {
    if (Date.parse(page.quote.expiresAt) - now() >= RENEW_BEFORE_MS) return false
    store.change({ doing: 'sending' })
    const changed = await renew()
    store.change({ doing: null })
    return changed
  }

  async function simulate(raw: Raw, outcome: SimulatedOutcome): Promise<void> {
    if (store.read().doing !== null) return
    const input = filled(store.read().page, raw)
    if (input === null) return
    const { quoteId } = store.read().page.quote
    const refusal = await ask({ input, quoteId, token: randomToken(), simulate: true, outcome }, randomHex())
    if (refusal?.code === 'quote_expired') await renew(true)
    else if (refusal !== null) refuse(refusal)
  }

  async function send(kept: Kept): Promise<void> {
    const { input, paymentPayload, quoteId, token } = kept
    const proof = token === undefined ? {} : { token }
    spare = paymentPayload
    sending = kept
    const forget = (): void => keeper.forget((other) => nonceOf(other) === nonceOf(kept))
    let refusal = await ask({ input, paymentPayload, quoteId, ...proof }, null)
    if (refusal?.code === 'quote_expired') {
      const changed = await renew(true)
      const { page } = store.read()
      const terms = page.paymentRequirements?.v2
      if (terms !== undefined && stillPays(paymentPayload, terms, now())) {
        refusal = await ask({ input, paymentPayload, quoteId: page.quote.quoteId, ...proof }, null)
      } else if (changed) {
        // The page says the new price already; whoever agrees to it signs anew.
        sending = null
        forget()
        return
      }
    }
    if (refusal === null) return
    sending = null
    forget()
    if (!isAboutInput(refusal) && refusal.status < 500) spare = null
    refuse(refusal)
  }

  /** Asks until there is an answer: without one, nobody knows whether the money moves, and the page says just that. */
  async function ask(call: PayCall, key: string | null): Promise<Refusal | null> {
    store.change({ doing: 'sending', notice: null, errors: {}, progress: { state: null, slow: false, live: true } })
    for (let attempt = 0; ; attempt++) {
      const outcome = await api.pay(call, key)
      if (outcome.kind === 'payment') {
        store.change({ doing: null })
        arrived(outcome.state, true)
        return null
      }
      if (outcome.kind === 'refused') {
        store.change({ doing: null, progress: null })
        return outcome.refusal
      }
      if (attempt >= 1) store.change({ progress: { state: null, slow: true, live: true } })
      await wait(outcome.retryAfterMs ?? Math.min(1_000 * 2 ** attempt, 15_000))
    }
  }

  function refuse(refusal: Refusal): void {
    const errors = errorsOf(store.read().page.checkout.fields, refusal.details)
    if (refusal.code === 'checkout_not_found') store.change({ gone: true })
    else if (Object.keys(errors).length > 0) store.change({ errors })
    else if (refusal.code === 'workflow_unavailable') store.change({ page: { ...store.read().page, available: false } })
    else store.change({ notice: { tone: 'bad', text: withoutCharge(refusal.sentence) } })
  }

  function filled(page: CheckoutPage, raw: Raw): Record<string, unknown> | null {
    const { input, errors } = check(page.checkout.fields, raw)
    store.change({ errors, notice: null })
    return Object.keys(errors).length === 0 ? input : null
  }

  function arrived(state: PaymentState, live: boolean): void {
    unfollow()
    const { id, token } = state.payment
    history.replaceState(history.state, '', linkOf(home, id, token))
    if (sending !== null) keeper.write({ ...sending, payment: id })
    sending = null
    const told = (next: PaymentState): void => {
      const progress = { state: next, slow: false, live }
      store.change({ progress })
      // From here on the payment's own address says everything; a new visit to the link begins anew.
      if (isPaid(progress) || isOver(progress)) {
        spare = null
        keeper.forget(({ payment }) => payment === id)
        if (isPaid(progress)) dropDraft(store.read().page.checkout.id)
      }
      if (isOver(progress)) unfollow()
    }
    unfollow = () => undefined
    told(state)
    if (isOver({ state, slow: false, live })) return
    const slowly = setTimeout(() => {
      const { progress } = store.read()
      if (progress?.state !== null && progress !== null && !isOver(progress)) {
        store.change({ progress: { ...progress, slow: true } })
      }
    }, SLOW_MS)
    const end = api.follow(id, token, told)
    unfollow = () => {
      clearTimeout(slowly)
      end()
    }
  }

  async function find(id: string, token: string | null): Promise<void> {
    store.change({ progress: { state: null, slow: false, live: false } })
    for (let attempt = 0; ; attempt++) {
      const outcome = await api.payment(id, token)
      if (outcome.kind === 'payment') {
        arrived(outcome.state, !isOver({ state: outcome.state, slow: false, live: false }))
        return
      }
      if (outcome.kind === 'refused') {
        history.replaceState(history.state, '', home)
        store.change({ progress: null })
        const kept = keeper.read()
        if (kept !== null) await send(kept)
        return
      }
      await wait(outcome.retryAfterMs ?? Math.min(1_000 * 2 ** attempt, 15_000))
    }
  }

  /** Answers whether something else is asked for now than the customer has seen. */
  async function renew(forced = false): Promise<boolean> {
    const { page: before, progress } = store.read()
    if (!forced && progress !== null) return false
    const page = await api.page()
    if (page === 'gone') store.change({ gone: true })
    if (typeof page === 'string') return page === 'gone'
    store.change({ page })
    const was = before.paymentRequirements?.v2
    const is = page.paymentRequirements?.v2
    if (was?.amount === is?.amount && was?.network === is?.network) return false
    store.change({ notice: { tone: 'plain', text: `The price has changed. It is now ${priceOf(page)}.` } })
    return true
  }

  return {
    pay,
    simulate,
    async renew() {
      await renew()
    },
    resume(payment) {
      if (payment !== null) {
        arrived(payment, !isOver({ state: payment, slow: false, live: false }))
        return
      }
      const asked = new URLSearchParams(location.search)
      // Links of before had the payment behind a hash, and no token.
      const id = asked.get('payment') ?? /^#payment=(pay_[0-9A-Za-z]+)$/.exec(location.hash)?.[1]
      const kept = keeper.read()
      if (id !== undefined) void find(id, asked.get('token') ?? kept?.token ?? null)
      else if (kept !== null) void send(kept)
    },
    again() {
      unfollow()
      history.replaceState(history.state, '', home)
      store.change({ progress: null, notice: null, errors: {} })
      void renew()
    },
  }
}

const SLOW_MS = 20_000
/** A quote must outlive the customer's reading and signing. */
const RENEW_BEFORE_MS = 120_000

function linkOf(home: string, payment: string, token: string | null): string {
  return `${home}?${new URLSearchParams({ payment, ...(token === null ? {} : { token }) }).toString()}`
}

function nonceOf({ paymentPayload }: Kept): string {
  return paymentPayload.payload.authorization.nonce
}

function isAboutInput({ details }: Refusal): boolean {
  return Object.keys(details).some((name) => name.startsWith('input.'))
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
