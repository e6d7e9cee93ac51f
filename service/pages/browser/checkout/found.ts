import type { PaymentState } from '../../model.ts'
import type { Api } from './api.ts'
import type { Keeper, Saved } from './kept.ts'
import { hashOf } from './order.ts'
import { isOver, type State } from './state.ts'
import { remember, remembered, type Watched } from '../../../ui-kit/watched.ts'

export interface FlowDeps {
  store: Watched<State>
  api: Api
  keeper: Keeper<Saved>
  /** The checkout's own path, and what says that it is in a frame or in a chosen language. */
  home: string
  /** The server's time, as far as this page knows it. */
  now(): number
}

interface Search {
  id: string
  token: string | null
  arrived(state: PaymentState, live: boolean): void
  send(saved: Saved): Promise<void>
}

/** Asks for a payment until it is known; one that is not there is sent again where this browser still has it. */
export async function findPayment(
  { store, api, keeper, home }: FlowDeps,
  { id, token, arrived, send }: Search,
): Promise<void> {
  store.change({ progress: { state: null, slow: false, live: false } })
  for (let attempt = 0; ; attempt++) {
    const outcome = await api.payment(id, token)
    if (outcome.kind === 'payment') {
      arrived(outcome.state, !isOver({ state: outcome.state, slow: false, live: false }))
      return
    }
    if (outcome.kind === 'refused') {
      moveTo(store.read(), home + hashOf(store.read().order))
      store.change({ progress: null })
      const kept = keeper.read()
      if (kept !== null) await send(kept)
      return
    }
    await wait(delayOf(outcome.retryAfterMs, attempt))
  }
}

/** Whether the order is paid already: by this person, who opens the link again, or by another who has it. */
export async function lookForOrdered(deps: FlowDeps, arrived: Search['arrived']): Promise<void> {
  const { store, api } = deps
  const { order } = store.read()
  if (order === null) return
  const outcome = await api.payment(order.payment, null)
  const { doing, progress } = store.read()
  if (doing !== null || progress !== null) return
  if (outcome.kind === 'payment') arrived(outcome.state, false)
  else endExpired(deps)
}

/** An order that can no longer be paid, unless its payment is under way. */
export function endExpired({ store, now }: Pick<FlowDeps, 'store' | 'now'>): void {
  const { order, doing, progress } = store.read()
  if (order === null || order.untilMs > now() || doing !== null || progress !== null) return
  store.change({ orderEnd: 'expired' })
}

/** The checkout's own address, which keeps that it is in a frame, and the language that the reader chose. */
export function homeOf(path: string): string {
  const query = new URLSearchParams(location.search)
  const kept = ['embed', 'tab', 'lang'].flatMap((name) =>
    [query.get(name)].flatMap((value) => (value === null ? [] : [[name, value]])),
  )
  return kept.length === 0 ? path : `${path}?${new URLSearchParams(kept).toString()}`
}

export function linkOf(home: string, payment: string, token: string | null): string {
  const query = new URLSearchParams({ payment, ...(token === null ? {} : { token }) }).toString()
  return `${home}${home.includes('?') ? '&' : '?'}${query}`
}

/**
 * Which payment or order is shown is in the page's address. A frame's is lost with the page around it, so it is stored,
 * after those of orders that were left while their money may be on its way.
 */
export function moveTo(state: State, address: string): void {
  const place = placeOf(state)
  if (place !== null) {
    const others = storedAt(place).filter((one) => one !== address && !location.href.endsWith(one))
    const shown = [...others, address].filter(isShowing).join('\n')
    remember(place, shown === '' ? null : shown)
  }
  history.replaceState(history.state, '', address)
}

/** Shows in a frame what it showed last. True if that is another address. */
export function moveBack(at: Framed): boolean {
  const place = placeOf(at)
  const address = place === null ? undefined : storedAt(place).at(-1)
  if (address === undefined || isShowing(location.href)) return false
  history.replaceState(history.state, '', address)
  return true
}

/** A page that may be in a frame. */
export interface Framed {
  embed: State['embed']
  page: { checkout: { id: string } }
}

function placeOf({ embed, page }: Framed): string | null {
  // The address names the site around the frame.
  return embed?.tab === false ? `coinslot:at:${page.checkout.id}:${embed.origin}` : null
}

function storedAt(place: string): string[] {
  return remembered(place)?.split('\n') ?? []
}

function isShowing(address: string): boolean {
  return /[?&#](payment|transfer)=/.test(address)
}

export function delayOf(retryAfterMs: number | null, attempt: number): number {
  return retryAfterMs ?? Math.min(1_000 * 2 ** attempt, 15_000)
}

export function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
