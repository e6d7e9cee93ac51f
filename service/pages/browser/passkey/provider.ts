import { keccak256 } from '../../../kit/keccak.ts'
import {
  bytesOf,
  challengeOf,
  hexOf,
  packSignature,
  walletAddress,
  wrapSignature,
} from '../../../kit/passkey-wallet.ts'
import { isRecord, type Hex, type Provider } from '../../../ui-kit/provider.ts'
import type { Authorization, typedData } from '../pay/authorization.ts'
import { findPasskey, keptPasskey, makePasskey, signWith, type Passkey } from './device.ts'

/** Each way to come to a passkey. `kept`: the one that this browser used before. */
export type Way = 'kept' | 'new' | 'other'

/** What a wallet has on one network. */
export interface Holding {
  network: string
  chainId: number
  /** Null where the network does not answer. */
  units: string | null
  asset: { address: string; name: string; version: string }
  link: string
  qr: string
}

/** Answers the page as a wallet of the browser does (EIP-1193), so that a payment goes the same way from either. */
export function openProvider({ way, chainId, at }: { way: Way; chainId: number; at: string }): Provider {
  let passkey: Passkey | null = null

  async function connect(): Promise<Hex[]> {
    passkey ??= way === 'kept' ? keptPasskey() : way === 'new' ? await makePasskey() : await found(at)
    return passkey === null ? [] : [walletAddress(passkey.key)]
  }

  return {
    async request({ method, params = [] }) {
      if (method === 'eth_requestAccounts') return await connect()
      if (method === 'eth_accounts') return way === 'kept' ? await connect() : []
      if (method === 'eth_chainId') return `0x${chainId.toString(16)}`
      if (passkey === null) throw new Error('not connected')
      if (method === 'eth_call') {
        const holding = (await holdingsOf(at, walletAddress(passkey.key))).find((one) => one.chainId === chainId)
        return holding?.units == null ? null : `0x${BigInt(holding.units).toString(16).padStart(64, '0')}`
      }
      if (method === 'eth_signTypedData_v4') {
        return await signTransfer(passkey, JSON.parse(String(params[1])) as ReturnType<typeof typedData>)
      }
      throw new Error(`no method ${method}`)
    },
  }
}

/** The passkey's signature of a transfer, with what deploys its wallet. */
export async function signTransfer(passkey: Passkey, data: ReturnType<typeof typedData>): Promise<Hex> {
  const wallet = walletAddress(passkey.key)
  if (data.primaryType !== 'TransferWithAuthorization' || data.message.from !== wallet)
    throw new Error('not a transfer')
  const challenge = challengeOf(digestOf(data), { wallet, chainId: data.domain.chainId })
  const signature = packSignature(await signWith(passkey, challenge))
  if (signature === null) throw new Error('the browser signed another text')
  return wrapSignature(passkey.key, signature)
}

/**
 * A passkey from another device, or from this one after it forgot. The one of two keys whose wallet has money is it; an
 * unknown balance shows none.
 */
export async function found(at: string): Promise<Passkey> {
  return await findPasskey(async (key) => (await holdingsOf(at, walletAddress(key))).some(hasMoney))
}

export function hasMoney({ units }: Holding): boolean {
  return units !== null && units !== '0'
}

export async function holdingsOf(at: string, address: Hex): Promise<Holding[]> {
  const response = await fetch(`${at}/${address}`, { headers: { accept: 'application/json' }, cache: 'no-store' })
  const body: unknown = await response.json()
  if (!response.ok || !isRecord(body) || !isRecord(body['wallet'])) throw new Error('no answer')
  return body['wallet']['networks'] as Holding[]
}

/** What USDC's contract asks the wallet about (EIP-712). */
function digestOf({
  domain,
  message,
}: {
  domain: ReturnType<typeof typedData>['domain']
  message: Authorization
}): Hex {
  const separator = hashed(
    textHash('EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)'),
    textHash(domain.name),
    textHash(domain.version),
    word(BigInt(domain.chainId)),
    word(BigInt(domain.verifyingContract)),
  )
  const { from, to, value, validAfter, validBefore, nonce } = message
  const struct = hashed(
    textHash(
      'TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)',
    ),
    ...[from, to, value, validAfter, validBefore, nonce].map((one) => word(BigInt(one))),
  )
  return `0x${hashed('1901', separator, struct)}`
}

function hashed(...words: string[]): string {
  return hexOf(keccak256(bytesOf(words.join(''))))
}

function textHash(text: string): string {
  return hexOf(keccak256(new TextEncoder().encode(text)))
}

function word(value: bigint): string {
  return value.toString(16).padStart(64, '0')
}
