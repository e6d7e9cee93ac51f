import type { PaymentState } from '../../model.ts'
import { isRecord } from '../../../ui-kit/provider.ts'
import { remember, remembered, type Watched } from '../../../ui-kit/watched.ts'
import { isPaid, type State } from './state.ts'

/** Shows a payment that was made elsewhere. */
type Found = (payment: string, token: string | null) => void

/**
 * A checkout in the frame of a seller's own page. That page is sent three messages and none else: the height, the wish to
 * close, and the ids of what was paid. None of its own messages is read.
 */
export function openEmbedded(store: Watched<State>, found: Found): void {
  const { embed, page } = store.read()
  if (embed === null) return
  if (embed.tab) openTab(store)
  else if (parent !== window) openFrame(store, { origin: embed.origin, checkoutId: page.checkout.id, found })
}

function openFrame(store: Watched<State>, { origin, checkoutId, found }: Framed): void {
  // Browsers deliver it to this origin alone, and the page's policy lets no other one be around it.
  const tell = (message: Readonly<Record<string, unknown>>): void =>
    parent.postMessage({ ...message, checkoutId }, origin)
  const root = document.getElementById('root')
  if (root !== null) {
    new ResizeObserver(() => tell({ type: 'coinslot:resize', height: Math.ceil(root.offsetHeight) })).observe(root)
  }
  addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && !event.defaultPrevented) tell({ type: 'coinslot:close' })
  })
  // A reload of the site shows the payment again, and sends its message no second time.
  const sent = `coinslot:told:${checkoutId}`
  whenPaid(store, ({ id }) => {
    if (remembered(sent) !== id) tell({ type: 'coinslot:paid', paymentId: id })
    remember(sent, id)
  })
  addEventListener('message', ({ origin: from, source, data }: MessageEvent<unknown>) => {
    // Only from a tab that this frame opened, with a page of this service in it.
    if (from !== location.origin || source === null || source !== tab || !isRecord(data)) return
    const { type, payment, token } = data
    if (type === TAB_PAID && typeof payment === 'string') found(payment, typeof token === 'string' ? token : null)
  })
}

interface Framed {
  origin: string
  checkoutId: string
  found: Found
}

/** The tab that this frame opened last. */
let tab: Window | null = null

/** Many wallets put themselves into whole pages only, never into frames. */
export function openInTab(): void {
  const url = new URL(location.href)
  url.searchParams.set('tab', '1')
  tab = open(url)
}

/** The frame shows the payment too. Its token goes to a page of this same service only. */
function openTab(store: Watched<State>): void {
  whenPaid(store, ({ id, token }) => {
    const frame = opener as Window | null
    frame?.postMessage({ type: TAB_PAID, payment: id, token }, location.origin)
  })
}

function whenPaid(store: Watched<State>, act: (payment: PaymentState['payment']) => void): void {
  let known: string | null = null
  const look = (): void => {
    const { progress } = store.read()
    const payment = progress !== null && isPaid(progress) ? progress.state?.payment : undefined
    if (payment === undefined || payment.id === known) return
    known = payment.id
    act(payment)
  }
  store.watch(look)
  look()
}

const TAB_PAID = 'coinslot:tab-paid'
