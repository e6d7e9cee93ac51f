import { discoverWallets } from '../../../ui-kit/discovery.ts'
import { codeOf, isRejected, PENDING, type Hex } from '../../../ui-kit/provider.ts'
import { authorize, authorizePrepared, typedData, type PaymentPayload } from '../pay/authorization.ts'
import {
  balanceOf,
  chainIdOf,
  connect,
  known,
  onWalletChange,
  sign,
  switchTo,
  toChainId,
} from '../../../ui-kit/wallet.ts'
import { say } from '../words/say.ts'
import type { Account, Notice, PageWallet, State } from './state.ts'
import type { Watched } from '../../../ui-kit/watched.ts'

/** The browser's wallets, and the account that pays. */
export function openWallets(store: Watched<State>) {
  let unlisten: () => void = () => undefined
  /** Each wallet is queried once, and none any more once the customer has chosen one. */
  const asked = new Set<string>()
  let chosen = false
  let looks = 0

  async function takeUp(wallet: PageWallet): Promise<void> {
    asked.add(wallet.id)
    const [address] = await known(wallet.provider)
    if (address !== undefined && !chosen && store.read().account === null) await use(wallet, address)
  }

  async function use(wallet: PageWallet, address: Hex): Promise<void> {
    const account: Account = { wallet, address, chainId: await chainIdOf(wallet.provider), balance: null }
    store.change({ account })
    unlisten()
    unlisten = listen(wallet, address)
    // The balance loads in the background, so that a customer who clicks "Pay" at once need not wait for it.
    void look()
  }

  function listen({ provider }: PageWallet, address: Hex): () => void {
    return onWalletChange(provider, {
      accounts(accounts) {
        const now: unknown = Array.isArray(accounts) ? accounts[0] : undefined
        const { account } = store.read()
        if (account === null || String(now).toLowerCase() === address.toLowerCase()) return
        if (typeof now === 'string') void use(account.wallet, now as Hex)
        else forget()
      },
      chain(chainId) {
        const { account } = store.read()
        if (account === null) return
        store.change({ account: { ...account, chainId: toChainId(chainId), balance: null }, notice: null })
        void look()
      },
    })
  }

  async function look(): Promise<void> {
    const { account, page } = store.read()
    if (account === null) return
    const turn = ++looks
    const { wallet, address } = account
    const chainId = await chainIdOf(wallet.provider).catch(() => account.chainId)
    const { asset } = page.checkout
    const balance = chainId === page.checkout.chainId ? await balanceOf(wallet.provider, asset.address, address) : null
    const now = store.read().account
    // The result of a later look is newer, so this one is dropped.
    if (turn === looks && now !== null) store.change({ account: { ...now, chainId, balance } })
  }

  function forget(): void {
    unlisten()
    unlisten = () => undefined
    looks++
    chosen = true
    store.change({ account: null, notice: null })
  }

  async function join(wallet: PageWallet): Promise<void> {
    chosen = true
    const [address] = await connect(wallet.provider)
    if (address === undefined) throw new Error('no account')
    await use(wallet, address)
  }

  async function switchNetwork(): Promise<void> {
    const { account, page } = store.read()
    if (account === null) return
    await switchTo(account.wallet.provider, page.checkout.chainId)
    await look()
    if (store.read().account?.chainId !== page.checkout.chainId) throw new Error('not switched')
  }

  async function doing(what: 'connecting' | 'switching' | 'looking', act: () => Promise<void>, declined: string) {
    if (store.read().doing !== null) return
    store.change({ doing: what, notice: null })
    try {
      await act()
    } catch (error) {
      store.change({ notice: noticeOf(error, declined) })
    } finally {
      store.change({ doing: null })
    }
  }

  return {
    /**
     * Discovers wallets until the returned function is called, and restores an account that the customer connected
     * before. `own`: wallets that this page brings along.
     */
    open(own: readonly PageWallet[]) {
      const stop = discoverWallets((found) => {
        const wallets = [...found, ...own]
        store.change({ wallets })
        for (const wallet of wallets) if (!asked.has(wallet.id)) void takeUp(wallet).catch(() => undefined)
      })
      return () => {
        stop()
        unlisten()
      }
    },
    /** What the customer does. */
    acts: {
      connect: (wallet: PageWallet) => void doing('connecting', () => join(wallet), say('pay.notConnected')),
      switchNetwork: () => void doing('switching', switchNetwork, say('pay.notSwitched')),
      /** Reads the network and the balance again. */
      look: () => void doing('looking', look, ''),
      changeWallet: forget,
    },
    /** The same without a request from the customer. */
    refresh: () => void look(),
  }
}

/** The page's authorization, signed by this account; null if its wallet did not sign. */
export async function signTerms(store: Watched<State>, from: Hex, nowMs: number): Promise<PaymentPayload | null> {
  const { account, page } = store.read()
  const accepted = page.paymentRequirements?.v2
  if (account === null || accepted === undefined) return null
  store.change({ doing: 'signing', notice: null })
  const { prepared } = page
  const authorization =
    prepared == null ? authorize(accepted, from, nowMs) : authorizePrepared(accepted, from, prepared)
  try {
    const signature = await sign(account.wallet.provider, from, typedData(accepted, authorization))
    const { product, url } = page.checkout
    const resource = { url, description: product.name, mimeType: 'application/json' }
    const bound = prepared == null ? {} : { salt: prepared.salt }
    return { x402Version: 2, resource, accepted, payload: { signature, authorization, ...bound } }
  } catch (error) {
    const text = isRejected(error) ? say('pay.declined') : say('pay.notSigned', { wallet: account.wallet.name })
    store.change({ notice: { tone: isRejected(error) ? 'plain' : 'bad', text } })
    return null
  } finally {
    store.change({ doing: null })
  }
}

function noticeOf(error: unknown, declined: string): Notice {
  if (isRejected(error)) return { tone: 'plain', text: declined }
  if (codeOf(error) === PENDING) return { tone: 'plain', text: say('pay.walletBusy') }
  return { tone: 'bad', text: say('pay.walletError') }
}
