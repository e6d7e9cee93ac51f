/*
 * A wallet whose only key is a passkey: a Safe 1.4.1 whose one owner is Safe's shared WebAuthn signer. Who has the
 * public key knows its address before it exists. The payer's browser and the service compute the same here; nothing asks
 * a network.
 */

import { keccak256 } from './keccak.ts'

export type Hex = `0x${string}`

/** A point of P-256, 32 bytes for each coordinate. */
export interface PublicKey {
  x: Hex
  y: Hex
}

/** At the same addresses on Base and Base Sepolia; a test derives those whose code is published from that code. */
export const SAFE = {
  singleton: '0x41675c099f32341bf84bfc5382af534df5c7461a',
  factory: '0x4e1dcf7ad4e460cfd30791ccc4f9c8a4f820ec67',
  fallbackHandler: '0xfd0732dc9e303f09fcef3a7388ad10a83459ec99',
  signer: '0x94a4f6affbd8975951142c3999aeab7ecee555c2',
  verifier: '0xc2b78104907f722dabac4c69f826a522b2754de4',
} as const

/** What the factory is called with to deploy the wallet of this key. */
export function deploymentData(key: PublicKey): Hex {
  const initializer = setupData(key)
  return `0x${SELECTORS.createProxy}${addressWord(SAFE.singleton)}${word(96)}${word(0)}${bytesWords(initializer)}`
}

/** The key whose wallet a call to the factory deploys; null for any other call. */
export function keyDeployedBy(factory: string, data: string): PublicKey | null {
  const call = data.toLowerCase()
  if (factory.toLowerCase() !== SAFE.factory || call.length !== SAMPLE.length) return null
  const at = (from: number): Hex => `0x${call.slice(from, from + 64)}`
  const key = { x: at(KEY_AT), y: at(KEY_AT + 64) }
  // Compared with the one call that this key has: nothing else may run at a sponsor's cost.
  return WORD.test(key.x) && WORD.test(key.y) && deploymentData(key) === call ? key : null
}

export function walletAddress(key: PublicKey): Hex {
  const salt = keccak256(bytesOf(`${hexOf(keccak256(bytesOf(setupData(key))))}${word(0)}`))
  const hash = keccak256(bytesOf(`ff${SAFE.factory.slice(2)}${hexOf(salt)}${PROXY_HASH}`))
  return `0x${hexOf(hash).slice(24)}`
}

/** What the passkey signs, so that the wallet accepts this digest (ERC-1271). It counts for one wallet on one network. */
export function challengeOf(digest: Hex, { wallet, chainId }: { wallet: Hex; chainId: number }) {
  const domain = keccak256(bytesOf(`${TYPES.domain}${word(chainId)}${addressWord(wallet)}`))
  const message = keccak256(bytesOf(`${TYPES.message}${hexOf(keccak256(bytesOf(digest.slice(2))))}`))
  return keccak256(bytesOf(`1901${hexOf(domain)}${hexOf(message)}`))
}

/** What an authenticator has signed with. */
export interface Assertion {
  authenticatorData: Uint8Array
  /** The JSON text, as the browser signed it. */
  clientData: string
  r: bigint
  s: bigint
}

/** The wallet's signature, as any contract may check it. Null where the browser's text is not the one that the signer rebuilds. */
export function packSignature({ authenticatorData, clientData, r, s }: Assertion): Hex | null {
  const fields = CLIENT_DATA.exec(clientData)?.[1]
  if (fields === undefined) return null
  const first = bytesWords(`0x${hexOf(authenticatorData)}`)
  const second = bytesWords(`0x${hexOf(new TextEncoder().encode(fields))}`)
  const webauthn: Hex = `0x${word(128)}${word(128 + first.length / 2)}${word(r)}${word(s)}${first}${second}`
  // A contract's signature in the Safe's format: its owner, where the bytes begin, and 0 for its kind.
  return `0x${addressWord(SAFE.signer)}${word(65)}00${word(webauthn.length / 2 - 1)}${webauthn.slice(2)}`
}

/** The same with what deploys the wallet (ERC-6492). It is as good once the wallet is deployed. */
export function wrapSignature(key: PublicKey, signature: Hex): Hex {
  const data = bytesWords(deploymentData(key))
  const inner = bytesWords(signature)
  return `0x${addressWord(SAFE.factory)}${word(96)}${word(96 + data.length / 2)}${data}${inner}${'6492'.repeat(16)}`
}

/** `r` and `s` of a signature as browsers give it: DER, with nothing left over. */
export function readDer(der: Uint8Array): { r: bigint; s: bigint } | null {
  if (der.length > 72 || der[0] !== 0x30 || der[1] !== der.length - 2) return null
  const first = integerAt(der, 2)
  const second = first === null ? null : integerAt(der, first.end)
  return first === null || second?.end !== der.length ? null : { r: first.value, s: second.value }
}

function integerAt(der: Uint8Array, at: number): { value: bigint; end: number } | null {
  const size = der[at + 1] ?? 0
  const end = at + 2 + size
  const [high = 0, next = 0] = [der[at + 2], der[at + 3]]
  const isPadded = size > 1 && high === 0 && next < 0x80
  if (der[at] !== 0x02 || size === 0 || size > 33 || end > der.length || high >= 0x80 || isPadded) return null
  const value = BigInt(`0x${hexOf(der.subarray(at + 2, end))}`)
  return value === 0n || value >= ORDER ? null : { value, end }
}

export function bytesOf(hex: string): Uint8Array<ArrayBuffer> {
  const digits = hex.startsWith('0x') ? hex.slice(2) : hex
  return Uint8Array.from({ length: digits.length / 2 }, (_, at) => parseInt(digits.slice(at * 2, at * 2 + 2), 16))
}

export function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** The order of P-256. */
const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n

const WORD = /^0x[0-9a-f]{64}$/
/** As the signer puts it together again: only what follows the challenge may differ. */
const CLIENT_DATA = /^[{]"type":"webauthn[.]get","challenge":"[A-Za-z0-9_-]{43}",(.{1,500})[}]$/s

const SELECTORS = { createProxy: '1688f0b9', setup: 'b63e800d', configure: '0dd9692f' }
const TYPES = {
  domain: '47e79534a245952e8b16893a336b85a3d9ea9fa8c573f3d803afb92a79469218',
  message: '60b3cbf8b4a223d68d641b3b6ddf9a298e7f33710cf3d3a9d1146b5a6150fbca',
}
/** The hash of the code that creates a proxy of the singleton. */
const PROXY_HASH = '76733d705f71b79841c0ee960a0ca880f779cde7ef446c989e6d23efc0a4adfb'
/** The address of the precompile for P-256 (RIP-7212), and the contract that is called where it gives no answer. */
const VERIFIERS = `0100${SAFE.verifier.slice(2)}`

/** One owner, whose key is stored in the wallet while it is set up; no payment, no modules. */
function setupData({ x, y }: PublicKey): Hex {
  const configure: Hex = `0x${SELECTORS.configure}${x.slice(2)}${y.slice(2)}${VERIFIERS.padStart(64, '0')}`
  const owners = `${word(1)}${addressWord(SAFE.signer)}`
  const head = [
    word(256),
    word(1),
    addressWord(SAFE.signer),
    word(256 + owners.length / 2),
    addressWord(SAFE.fallbackHandler),
    word(0),
    word(0),
    word(0),
  ]
  return `0x${SELECTORS.setup}${head.join('')}${owners}${bytesWords(configure)}`
}

/** A length, and bytes that are filled up to a whole word. */
function bytesWords(hex: Hex): string {
  const digits = hex.slice(2)
  return `${word(digits.length / 2)}${digits.padEnd(Math.ceil(digits.length / 64) * 64, '0')}`
}

function addressWord(address: string): string {
  return address.slice(2).toLowerCase().padStart(64, '0')
}

function word(value: number | bigint): string {
  return value.toString(16).padStart(64, '0')
}

// These must be last, because the constants above have no value before.
const MARK = '1'.repeat(64)
const SAMPLE = deploymentData({ x: `0x${MARK}`, y: `0x${MARK}` })
const KEY_AT = SAMPLE.indexOf(MARK + MARK)
