import type { CheckoutPage } from '../../model.ts'
import type { Api } from './api.ts'
import { NO_WISH, type Choice, type Raw, type Refusal, type Wish } from './form.ts'
import type { State } from './state.ts'
import type { Watched } from '../../../ui-kit/watched.ts'

/** With the values that the form has now, and a change of what was chosen. */
export function wishOf({ page, wish }: Pick<State, 'page' | 'wish'>, raw: Raw, chosen: Choice = {}): Wish {
  const { pricing } = page.checkout
  const value = pricing?.kind === 'byField' ? raw[pricing.field] : undefined
  const input = pricing?.kind === 'byField' && value !== undefined && value !== '' ? { [pricing.field]: value } : {}
  return { input, choice: { ...wish.choice, ...chosen } }
}

/** What an address of the page asks for. The service says whether it can be had. */
export function choiceIn(search: string): Choice {
  const query = new URLSearchParams(search)
  const quantity = Number(query.get('quantity') ?? NaN)
  const amount = Number(query.get('amount') ?? NaN)
  const coupon = query.get('coupon') ?? ''
  return {
    ...(Number.isInteger(quantity) && quantity > 0 ? { quantity } : {}),
    ...(Number.isFinite(amount) && amount > 0 ? { amount } : {}),
    ...(coupon === '' ? {} : { coupon }),
  }
}

/** The page with the price of a wish, or why there is none. `unknown`: there is no answer. */
export async function pricedPage(
  api: Api,
  page: CheckoutPage,
  wish: Wish,
): Promise<CheckoutPage | Refusal | 'unknown'> {
  if (isPlain(wish)) return page
  const quoted = await api.quote(wish)
  return quoted === 'unknown' || 'status' in quoted ? quoted : { ...page, ...quoted }
}

function isPlain(wish: Wish): boolean {
  return isSame(wish, NO_WISH)
}

/** Keeps the price of the page the one of what is chosen. */
export function openPricing({ store, api }: { store: Watched<State>; api: Api }) {
  let timer: ReturnType<typeof setTimeout> | undefined
  let turn = 0

  async function quote(): Promise<void> {
    clearTimeout(timer)
    const mine = ++turn
    const { page, wish } = store.read()
    const priced = isPlain(wish) ? await api.page() : await pricedPage(api, page, wish)
    if (mine !== turn) return
    if (priced === 'gone') store.change({ gone: true })
    else if (typeof priced === 'string') timer = setTimeout(() => void quote(), AGAIN_MS)
    else if ('status' in priced) store.change({ priced: wish, wishFault: priced })
    else store.change({ page: priced, priced: wish, wishFault: null })
  }

  return {
    /** The price follows after a moment, so that typing does not ask for each letter. */
    choose(wish: Wish): void {
      if (isSame(wish, store.read().wish)) return
      store.change({ wish })
      clearTimeout(timer)
      timer = setTimeout(() => void quote(), PAUSE_MS)
    },
    /** Whether the page shows the price of what is chosen. If not, it does from now on, as far as there is one. */
    async isCurrent(): Promise<boolean> {
      const { wish, priced, wishFault, page } = store.read()
      if (isSame(wish, priced)) return wishFault === null
      await quote()
      const now = store.read()
      return now.wishFault === null && isSame(now.wish, now.priced) && now.page.lines?.total === page.lines?.total
    },
  }
}

/** Whether two ask for the same. */
export function isSame(one: Wish, other: Wish): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

const PAUSE_MS = 200
const AGAIN_MS = 2_000
