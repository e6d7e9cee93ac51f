import type { CheckoutPage } from '../../model.ts'
import { isRejected, type Hex } from '../../../ui-kit/provider.ts'
import { remember, remembered, type Watched } from '../../../ui-kit/watched.ts'
import { signText } from '../../../ui-kit/wallet.ts'
import { say } from '../words/say.ts'
import { PASS_HASH } from './Ahead.tsx'
import type { Api, WalletProof } from './api.ts'
import type { Ahead, State } from './state.ts'

/** Looks for a pass in the link and on this device, and counts the trial runs of each wallet that is connected. */
export function openAhead({ store, api, now }: { store: Watched<State>; api: Api; now: () => number }): void {
  const { checkout } = store.read().page
  const { plans = [], trialRuns = 0, id } = checkout
  const place = `coinslot:pass:${id}`
  const change = (part: Partial<Ahead>): void => store.change({ ahead: { ...store.read().ahead, ...part } })

  async function look(token: string): Promise<void> {
    const left = await api.left({ token })
    if (left === 'unknown') return
    const { pass } = left
    if (pass === null || pass.status === 'ended') {
      if (remembered(place) === token) remember(place, null)
      change({ pass: null })
      return
    }
    remember(place, token)
    change({ pass: { token, name: pass.plan.name, runsLeft: pass.runsLeft, until: pass.until } })
  }

  async function count(address: Hex): Promise<void> {
    const left = await api.left({ address })
    if (left !== 'unknown' && store.read().account?.address === address) change({ trialRunsLeft: left.trialRunsLeft })
  }

  if (location.hash.startsWith(PASS_HASH)) {
    void look(location.hash.slice(PASS_HASH.length))
    history.replaceState(history.state, '', location.pathname + location.search)
  } else {
    const kept = remembered(place)
    if (plans.length > 0 && kept !== null) void look(kept)
  }

  let address: Hex | undefined
  let shown: string | undefined
  store.watch(() => {
    const { account, progress } = store.read()
    if (trialRuns > 0 && account?.address !== address) {
      address = account?.address
      change({ trialRunsLeft: null })
      if (address !== undefined) void count(address)
    }
    // A purchase gives the pass to its buyer, and each run shows what is left.
    const pass = progress?.state?.payment.pass ?? null
    const seen = pass === null ? undefined : `${pass.id} ${String(pass.runsLeft)}`
    if (pass === null || seen === shown) return
    shown = seen
    const token = pass.token ?? store.read().ahead.pass?.token ?? null
    if (token === null || (pass.until !== null && Date.parse(pass.until) <= now())) return
    remember(place, token)
    change({ pass: { token, name: pass.plan.name, runsLeft: pass.runsLeft, until: pass.until } })
  })
}

/** The connected wallet's signature for one run of this input. Null if it did not sign. */
export async function proofFor(
  store: Watched<State>,
  input: Record<string, unknown>,
  now: number,
): Promise<WalletProof | null> {
  const { account, page } = store.read()
  if (account === null) return null
  const { address, wallet } = account
  const expires = new Date(now + PROOF_MS).toISOString()
  store.change({ doing: 'signing', notice: null })
  try {
    const signature = await signText(wallet.provider, address, await proofText(page, input, expires))
    return { address, expires, signature }
  } catch (error) {
    const text = isRejected(error) ? say('pay.declined') : say('pay.notSigned', { wallet: wallet.name })
    store.change({ notice: { tone: isRejected(error) ? 'plain' : 'bad', text } })
    return null
  } finally {
    store.change({ doing: null })
  }
}

const PROOF_MS = 300_000

/** The service writes the same text and compares. */
async function proofText({ checkout }: CheckoutPage, input: unknown, expires: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(JSON.stringify(input, sorted)))
  const hash = Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
  return [
    `${new URL(checkout.url).host} asks you to sign for a run that you do not pay for.`,
    '',
    `URI: ${checkout.url}`,
    `Checkout: ${checkout.id}`,
    `Chain ID: ${String(checkout.chainId)}`,
    `Input: 0x${hash}`,
    `Expiration Time: ${expires}`,
  ].join('\n')
}

function sorted(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
}
