import { isRejected, type Hex } from '../../../ui-kit/provider.ts'
import type { Watched } from '../../../ui-kit/watched.ts'
import { authorize, typedData, type PaymentPayload } from '../pay/authorization.ts'
import { sign } from '../pay/wallet.ts'
import type { State } from './state.ts'

/** The authorization that the page asks for, signed by this account; null where its wallet did not. */
export async function signTerms(store: Watched<State>, from: Hex, nowMs: number): Promise<PaymentPayload | null> {
  const { account, page } = store.read()
  const accepted = page.paymentRequirements?.v2
  if (account === null || accepted === undefined) return null
  store.change({ doing: 'signing', notice: null })
  const authorization = authorize(accepted, from, nowMs)
  try {
    const signature = await sign(account.wallet.provider, from, typedData(accepted, authorization))
    const { product, url } = page.checkout
    const resource = { url, description: product.name, mimeType: 'application/json' }
    return { x402Version: 2, resource, accepted, payload: { signature, authorization } }
  } catch (error) {
    const text = isRejected(error)
      ? 'You declined in your wallet. Nothing was charged.'
      : `${account.wallet.name} could not sign. Nothing was charged.`
    store.change({ notice: { tone: isRejected(error) ? 'plain' : 'bad', text } })
    return null
  } finally {
    store.change({ doing: null })
  }
}
