import { chainToAdd } from './networks.ts'
import { codeOf, isRejected, UNKNOWN_CHAIN, type Hex, type Provider } from './provider.ts'

/** The addresses that the wallet shows to this page; the wallet asks the user if necessary. */
export async function connect(provider: Provider): Promise<Hex[]> {
  return addresses(await provider.request({ method: 'eth_requestAccounts' }))
}

/** The addresses that the user allowed before, without a prompt. */
export async function known(provider: Provider): Promise<Hex[]> {
  try {
    return addresses(await provider.request({ method: 'eth_accounts' }))
  } catch {
    return []
  }
}

export async function chainIdOf(provider: Provider): Promise<number> {
  return toChainId(await provider.request({ method: 'eth_chainId' }))
}

/** Listens for a change of account or network; the returned function ends it. */
export function onWalletChange(
  provider: Provider,
  { accounts, chain }: { accounts(accounts: unknown): void; chain(chainId: unknown): void },
): () => void {
  provider.on?.('accountsChanged', accounts)
  provider.on?.('chainChanged', chain)
  return () => {
    provider.removeListener?.('accountsChanged', accounts)
    provider.removeListener?.('chainChanged', chain)
  }
}

/** Some wallets return a decimal number. */
export function toChainId(chainId: unknown): number {
  return typeof chainId === 'string' || typeof chainId === 'number' ? Number(chainId) : NaN
}

export async function switchTo(provider: Provider, chainId: number): Promise<void> {
  const change = { method: 'wallet_switchEthereumChain', params: [{ chainId: `0x${chainId.toString(16)}` }] }
  try {
    await provider.request(change)
  } catch (error) {
    if (codeOf(error) !== UNKNOWN_CHAIN) throw error
    await provider.request({ method: 'wallet_addEthereumChain', params: [chainToAdd(chainId)] })
    // Most wallets have switched by now. A wallet that has not is called once more; one that refuses is noticed later.
    await provider.request(change).catch((refusal: unknown) => {
      if (isRejected(refusal)) throw refusal
    })
  }
}

/** In the token's smallest unit; null if the wallet does not return it, which must not prevent a payment. */
export async function balanceOf(provider: Provider, token: string, owner: Hex): Promise<bigint | null> {
  const data = `0x70a08231${owner.slice(2).toLowerCase().padStart(64, '0')}`
  try {
    const balance = await provider.request({ method: 'eth_call', params: [{ to: token, data }, 'latest'] })
    return typeof balance === 'string' && /^0x[0-9a-f]{64}$/i.test(balance) ? BigInt(balance) : null
  } catch {
    return null
  }
}

export async function sign(provider: Provider, signer: Hex, data: object): Promise<Hex> {
  const signature = await provider.request({ method: 'eth_signTypedData_v4', params: [signer, JSON.stringify(data)] })
  if (typeof signature !== 'string' || !/^0x([0-9a-f]{2}){65,}$/i.test(signature)) {
    throw new Error('The wallet did not give a signature.')
  }
  return signature as Hex
}

/** A text that the person reads (EIP-191). */
export async function signText(provider: Provider, signer: Hex, text: string): Promise<Hex> {
  const bytes = Array.from(new TextEncoder().encode(text), (byte) => byte.toString(16).padStart(2, '0')).join('')
  const signature = await provider.request({ method: 'personal_sign', params: [`0x${bytes}`, signer] })
  if (typeof signature !== 'string' || !/^0x([0-9a-f]{2})+$/i.test(signature)) {
    throw new Error('The wallet did not give a signature.')
  }
  return signature as Hex
}

function addresses(accounts: unknown): Hex[] {
  if (!Array.isArray(accounts)) return []
  return accounts.filter((each): each is Hex => typeof each === 'string' && /^0x[0-9a-f]{40}$/i.test(each))
}
