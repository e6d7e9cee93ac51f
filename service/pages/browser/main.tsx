import { hydrate } from 'preact'
import type { CheckoutPage, PaymentState, VerifyPage } from '../model.ts'
import { openApi } from './checkout/api.ts'
import { Checkout } from './checkout/Checkout.tsx'
import { openFlow } from './checkout/flow.ts'
import { openKeeper } from './checkout/kept.ts'
import { endExpired } from './checkout/found.ts'
import { orderIn } from './checkout/order.ts'
import { openWallets } from './checkout/wallets.ts'
import { firstState, hurdleOf, type State } from './checkout/state.ts'
import type { Wallet } from '../../ui-kit/provider.ts'
import { openWatched } from '../../ui-kit/watched.ts'
import { firstGateState, openGateFlow, type GateState } from './gate/flow.ts'
import { Gate } from './gate/Gate.tsx'
import { Verify } from './verify/Verify.tsx'
import './style.css'

/** The page that verifies receipts; it has no price and no payment. */
interface VerifyData {
  verify: VerifyPage
}

interface Data {
  /** Set on the page in front of an API; not on a checkout. */
  gate?: boolean
  page: CheckoutPage
  payment: PaymentState | null
  now: number
}

/** The local clock may be wrong by hours, and signatures must use the server's time. */
function start({ page, payment }: Data, clockBehindMs: number): void {
  const root = document.getElementById('root')
  if (root === null) return
  const store = openWatched<State>(firstState(page, payment))
  const now = (): number => Date.now() + clockBehindMs
  const wallets = openWallets(store)
  // Only the path, since the page may be open under another host than its public one.
  const home = new URL(page.checkout.url).pathname
  const api = openApi(home)
  const order = orderIn(location.hash)
  // A payment for an order has nothing to do with what a customer of this browser buys for themselves.
  const keeper = openKeeper(order === null || order === 'mistyped' ? page.checkout.id : order.payment)
  const flow = openFlow({ store, api, keeper, home, now })
  hydrate(
    <Checkout
      store={store}
      acts={{
        pay: (raw) => void flow.pay(raw),
        simulate: (raw, outcome) => void flow.simulate(raw, outcome),
        ...walletActs(wallets),
        again: flow.again,
        retry: () => void flow.renew(),
      }}
    />,
    root,
  )
  // After the first rendering, which repeats the server's: a server never sees the hash.
  if (order === 'mistyped') store.change({ orderEnd: 'mistyped' })
  else store.change({ order })
  flow.resume(payment)
  if (!page.checkout.testMode) wallets.open()
  // Another order's link differs in the hash alone, which loads nothing by itself.
  addEventListener('hashchange', () => location.reload())

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

/** Uses the same wallet and price code; the result is the API's own answer. */
function startGate({ page }: Data, clockBehindMs: number): void {
  const root = document.getElementById('root')
  if (root === null) return
  const store = openWatched<GateState>(firstGateState(page))
  const wallets = openWallets(store)
  const resource = location.pathname + location.search
  const keeper = openKeeper(resource)
  const flow = openGateFlow({ store, keeper, resource, now: () => Date.now() + clockBehindMs })
  hydrate(
    <Gate
      store={store}
      acts={{
        pay: flow.pay,
        simulate: (testToken) => void flow.simulate(testToken),
        ...walletActs(wallets),
        again: flow.again,
        retry: () => undefined,
      }}
    />,
    root,
  )
  flow.resume()
  if (!page.checkout.testMode) wallets.open()
}

function startVerify({ verify }: VerifyData): void {
  const root = document.getElementById('root')
  if (root !== null) hydrate(<Verify issuers={verify.issuers} />, root)
}

function walletActs(wallets: ReturnType<typeof openWallets>) {
  return {
    connect: (wallet: Wallet) => void wallets.connect(wallet),
    switchNetwork: () => void wallets.switchNetwork(),
    look: () => void wallets.look(),
    changeWallet: wallets.change,
  }
}

const RENEW_MS = 60_000
const LOOK_MS = 15_000

// This must be last, because the constants above have no value before.
const data = JSON.parse(document.getElementById('data')?.textContent ?? '') as Data | VerifyData
if ('verify' in data) startVerify(data)
else (data.gate === true ? startGate : start)(data, data.now - Date.now())
