import { hydrate } from 'preact'
import type { CheckoutPage } from '../../model.ts'
import { openWatched } from '../../../ui-kit/watched.ts'
import { openKeeper } from '../checkout/kept.ts'
import { openWallets } from '../checkout/wallets.ts'
import { firstGateState, openGateFlow, type GateState } from './flow.ts'
import { Gate } from './Gate.tsx'

/** The page in front of an API: the same wallet and price as at a checkout; the result is the API's own answer. */
export function startGate({ page, onramp }: GateData, clockBehindMs: number): void {
  const root = document.getElementById('root')
  if (root === null) return
  const store = openWatched<GateState>(firstGateState(page, onramp))
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
        ...wallets.acts,
        again: flow.again,
        retry: () => undefined,
      }}
    />,
    root,
  )
  flow.resume()
  if (!page.checkout.testMode) wallets.open([])
}

interface GateData {
  page: CheckoutPage
  onramp?: string | null
}
