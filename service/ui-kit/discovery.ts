import { isRecord, type Provider, type Wallet } from './provider.ts'

/**
 * Calls `tell` with the wallets in this browser, and again whenever one more announces itself (EIP-6963). In a browser
 * that only has `window.ethereum`, the list has that one. If no wallet answers for a moment, `tell` gets an empty list.
 */
export function discoverWallets(tell: (wallets: readonly Wallet[]) => void): () => void {
  const announced = new Map<string, Wallet>()
  const told = (): void => {
    if (announced.size > 0) tell([...announced.values()])
    else tell(injected())
  }
  const announce = (event: Event): void => {
    const wallet = fromAnnouncement((event as CustomEvent<unknown>).detail)
    if (wallet === null) return
    announced.set(wallet.id, wallet)
    told()
  }
  window.addEventListener('eip6963:announceProvider', announce)
  window.addEventListener('ethereum#initialized', told)
  window.dispatchEvent(new Event('eip6963:requestProvider'))
  const patience = setTimeout(told, announced.size > 0 ? 0 : PATIENCE_MS)
  return () => {
    clearTimeout(patience)
    window.removeEventListener('eip6963:announceProvider', announce)
    window.removeEventListener('ethereum#initialized', told)
  }
}

const PATIENCE_MS = 250

function fromAnnouncement(detail: unknown): Wallet | null {
  if (!isRecord(detail) || !isRecord(detail['info']) || !isProvider(detail['provider'])) return null
  const { uuid, name, icon } = detail['info']
  if (typeof uuid !== 'string' || typeof name !== 'string') return null
  const drawn = typeof icon === 'string' && /^data:image\//i.test(icon) ? icon : null
  return { id: uuid, name: name.slice(0, 60), icon: drawn, provider: detail['provider'] }
}

function injected(): Wallet[] {
  const provider = (window as { ethereum?: unknown }).ethereum
  return isProvider(provider) ? [{ id: 'injected', name: 'Browser wallet', icon: null, provider }] : []
}

function isProvider(value: unknown): value is Provider {
  return isRecord(value) && typeof value['request'] === 'function'
}
