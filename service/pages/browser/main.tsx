import { hydrate } from 'preact'
import type { CheckoutPage, Embed, PaymentState, VerifyPage } from '../model.ts'
import { loadFormatting } from './answer/Answer.tsx'
import { hasAnswer, openApi } from './checkout/api.ts'
import { Checkout } from './checkout/Checkout.tsx'
import { haveFileFields } from './checkout/Fields.tsx'
import { openFlow } from './checkout/flow.ts'
import { openKeeper, type Saved } from './checkout/kept.ts'
import { endExpired, homeOf, moveBack, type Framed } from './checkout/found.ts'
import { orderIn } from './checkout/order.ts'
import { openWallets } from './checkout/wallets.ts'
import { firstState, hurdleOf, type Acts, type State, type TransferActs } from './checkout/state.ts'
import { choiceIn } from './checkout/wish.ts'
import { openWatched } from '../../ui-kit/watched.ts'
import { speak, type Words } from './words/say.ts'
import './style.css'

/** The page that verifies receipts; it has no price and no payment. */
interface VerifyData extends Spoken {
  verify: VerifyPage
}

/** The page of a passkey's wallet. */
interface WalletData extends Spoken {
  wallet: true
  now: number
}

/** The page's texts, in its reader's language. */
interface Spoken {
  language: string
  words: Partial<Words>
}

/** The page in place of a checkout that has ended. */
interface EndedData extends Spoken, Framed {
  ended: true
}

interface Data extends Spoken {
  /** Set on the page in front of an API; not on a checkout. */
  gate?: boolean
  page: CheckoutPage
  payment: PaymentState | null
  embed?: Embed | null
  onramp?: string | null
  /** Whether people may pay with a passkey. */
  passkeys?: boolean
  now: number
}

/** The local clock may be wrong by hours, and signatures must use the server's time. */
async function start({ page, payment, embed, onramp, passkeys }: Data, clockBehindMs: number): Promise<void> {
  if (payment !== null && hasAnswer(payment)) await loadFormatting()
  const root = document.getElementById('root')
  if (root === null) return
  const store = openWatched<State>(firstState(page, payment, { embed, onramp }))
  if (payment === null) moveBack(store.read())
  const now = (): number => Date.now() + clockBehindMs
  const wallets = openWallets(store)
  // Only the path, since the page may be open under another host than its public one.
  const home = new URL(page.checkout.url).pathname
  const api = openApi(home)
  const order = orderIn(location.hash)
  // A payment for an order has nothing to do with what a customer of this browser buys for themselves.
  const keeper = openKeeper<Saved>(order === null || order === 'mistyped' ? page.checkout.id : order.payment)
  const flow = openFlow({ store, api, keeper, home: homeOf(home), now })
  const transfer: TransferActs = {
    order: flow.order,
    begun: (shown) => store.change({ transfer: shown }),
    bought: flow.show,
  }
  const acts: Acts = {
    pay: (raw) => void flow.pay(raw),
    simulate: (raw, outcome) => void flow.simulate(raw, outcome),
    takeFree: (raw) => void flow.takeFree(raw),
    choose: flow.choose,
    enterEmail: flow.enterEmail,
    use: (raw, how) => void flow.use(raw, how),
    ...wallets.acts,
    again: flow.again,
    retry: () => void flow.renew(),
    transfer,
    handOver: async (raw) => (await import('./checkout/handover.ts')).handOver(api, store.read(), raw),
  }
  if (page.checkout.fields.some(({ type }) => type === 'file')) {
    haveFileFields((await import('./checkout/FileField.tsx')).fileFieldAt(page.checkout.url))
  }
  hydrate(<Checkout store={store} acts={acts} />, root)
  // Before a wallet is looked for: who comes back to an order must not pay again.
  if (isTransfer()) await import('./checkout/Transfer.tsx').then((it) => it.showOrder(page, transfer), reload)
  // After the first rendering, which repeats the server's: a server never sees the hash, and fills nothing in.
  const draft = order === null ? new URLSearchParams(location.search).get('draft') : null
  if (draft !== null) await (await import('./checkout/handover.ts')).takeOver({ store, api, draft, home })
  if (store.read().prefill === null) {
    const { search } = location
    const prefill =
      search === ''
        ? { values: new Map(), locked: new Set<string>(), key: '' }
        : (await import('./checkout/prefill.ts')).prefillIn(search, page.checkout.fields)
    store.change({ prefill })
  }
  if (order === 'mistyped') store.change({ orderEnd: 'mistyped' })
  else store.change({ order })
  const isOrder = order !== null && order !== 'mistyped'
  flow.preset({
    input: isOrder ? order.input : {},
    choice: isOrder
      ? order.choice
      : { ...store.read().wish.choice, ...(store.read().prefill?.choice ?? choiceIn(location.search)) },
  })
  if (store.read().transfer === null) flow.resume(payment)
  const { plans = [], trialRuns = 0 } = page.checkout
  if (plans.length > 0 || trialRuns > 0) {
    void import('./checkout/passes.ts').then(({ openAhead }) => openAhead({ store, api, now }))
  }
  if (page.checkout.chat != null)
    void import('./chat/Chat.tsx').then(({ openChat }) => openChat({ store, api, acts, now }))
  if (embed != null) void import('./checkout/embedded.ts').then(({ openEmbedded }) => openEmbedded(store, flow.show))
  if (!page.checkout.testMode) {
    wallets.open(
      passkeys === true
        ? await import('./passkey/offer.tsx').then(
            (it) => it.offered(store),
            () => [],
          )
        : [],
    )
  }
  // Another order's link differs in the hash alone, which loads nothing by itself.
  addEventListener('hashchange', reload)

  // A tab may become visible after an hour: the price, the balance and the wallet's network are read again.
  const lookAround = (): void => {
    if (document.visibilityState !== 'visible') return
    if (Date.parse(store.read().page.quote.expiresAt) - now() < RENEW_MS) void flow.renew()
    if (hurdleOf(store.read()) === 'too-little') wallets.refresh()
    endExpired({ store, now })
  }
  document.addEventListener('visibilitychange', lookAround)
  setInterval(lookAround, LOOK_MS)
}

/** Where a checkout has ended, a buyer comes back to what they ordered there: for the rest of the money, for example. */
function startEnded(data: EndedData): void {
  addEventListener('hashchange', reload)
  const isMoved = moveBack(data)
  if (isTransfer()) void import('./checkout/Transfer.tsx').then((it) => it.showAlone(), reload)
  // The server still shows what was paid.
  else if (isMoved) reload()
}

function reload(): void {
  location.reload()
}

/** A server never sees it. */
function isTransfer(): boolean {
  return location.hash.startsWith('#transfer=')
}

/** Few people open this page, so its script is a file of its own. */
async function startVerify({ verify }: VerifyData): Promise<void> {
  const { Verify } = await import('./verify/Verify.tsx')
  const root = document.getElementById('root')
  if (root !== null) hydrate(<Verify issuers={verify.issuers} />, root)
}

const RENEW_MS = 60_000
const LOOK_MS = 15_000

// This must be last, because the constants above have no value before.
const data = JSON.parse(document.getElementById('data')?.textContent ?? '') as
  Data | VerifyData | WalletData | EndedData
speak(data.language, data.words)
if ('verify' in data) void startVerify(data)
else if ('wallet' in data) void import('./passkey/Wallet.tsx').then((it) => it.start(data.now - Date.now()))
else if ('ended' in data) startEnded(data)
else if (data.gate === true) void import('./gate/start.tsx').then((it) => it.startGate(data, data.now - Date.now()))
else void start(data, data.now - Date.now())
