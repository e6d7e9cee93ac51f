import type { z } from 'zod'
import type { connectedWallet } from '../../../identity/http/sign-in.ts'
import { isRejected, type Provider } from '../../../ui-kit/provider.ts'
import { Fault } from '../api/fault.ts'
import { call } from '../api/session.ts'
import { serviceNow } from '../settings.ts'

export async function signInByWallet(provider: Provider): Promise<void> {
  await call('POST', '/auth/siwe/verify', await signed(provider, 'Sign in to Coinslot. This costs nothing.'))
}

/** Shows that the signed-in account is the person's: `wallet` is signed by a connected one. */
export interface OwnerProof {
  password?: string
  wallet?: Signed
}

export async function proveWallet(provider: Provider): Promise<Signed> {
  return await signed(provider, 'Confirm a change of my Coinslot account. This costs nothing.')
}

/** Connects the wallet to the signed-in account. */
export async function connectWallet(provider: Provider, owner: OwnerProof): Promise<ConnectedWallet> {
  const statement = 'Connect this wallet to my Coinslot account: from now on it signs in to it. This costs nothing.'
  return (await call('POST', '/auth/siwe/link', { ...(await signed(provider, statement)), owner })) as ConnectedWallet
}

export type ConnectedWallet = z.input<typeof connectedWallet>

interface Signed {
  message: string
  signature: unknown
}

/** The wallet signs a message that names this site and is valid once (ERC-4361): no payment, no permission. */
async function signed(provider: Provider, statement: string): Promise<Signed> {
  const address = await asked(async () => {
    const accounts = await provider.request({ method: 'eth_requestAccounts' })
    return Array.isArray(accounts) ? String(accounts[0]) : ''
  })
  if (!/^0x[0-9a-fA-F]{40}$/.test(address)) throw new Fault('No account was selected in the wallet.')
  const { nonce } = (await call('POST', '/auth/siwe/nonce', {})) as { nonce: string }
  const message = [
    `${window.location.host} wants you to sign in with your Ethereum account:`,
    address,
    '',
    statement,
    '',
    `URI: ${window.location.origin}`,
    'Version: 1',
    'Chain ID: 8453',
    `Nonce: ${nonce}`,
    `Issued At: ${new Date(serviceNow()).toISOString()}`,
  ].join('\n')
  const signature = await asked(() => provider.request({ method: 'personal_sign', params: [toHex(message), address] }))
  return { message, signature }
}

/** In words for the person: what a wallet answers comes from outside. */
export async function asked<T>(question: () => Promise<T>): Promise<T> {
  try {
    return await question()
  } catch (error) {
    throw new Fault(
      isRejected(error) ? 'You declined in the wallet. Nothing was signed.' : 'The wallet did not answer.',
      {
        status: 400,
      },
    )
  }
}

/** Some wallets show plain text unchanged, others refuse it unless it is hexadecimal. */
function toHex(text: string): string {
  return `0x${Array.from(new TextEncoder().encode(text), (byte) => byte.toString(16).padStart(2, '0')).join('')}`
}
