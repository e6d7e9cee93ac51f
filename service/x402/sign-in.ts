import { jsonOrUndefined } from '../kit/json-shape.ts'
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Address, Hex } from '../chain/model.ts'
import { isRecord } from '../kit/schema/merge.ts'
import type { Headers } from './model.ts'

/*
 * The extension `sign-in-with-x` of x402 version 2: a wallet that has paid proves who it is by signing a text
 * (EIP-4361), instead of paying again. Nothing is stored for a 402: its nonce is a MAC over the address and the time, so
 * the text that must have been signed is written anew from what the server knows.
 */

export const SIGN_IN = 'sign-in-with-x'

/** What a wallet signs in to. */
export interface SignInTerms {
  /** The address that is paid for, at an origin that this server knows to be its own. */
  uri: string
  /** CAIP-2. */
  network: string
}

/** A sign-in whose signature is still to be checked, and whose nonce must not have been used. */
export interface SignInProof {
  /** The signed text. */
  text: string
  signature: Hex
  address: Address
  nonce: string
}

/** The declaration in a 402. */
export function signInExtension({ uri, network }: SignInTerms, key: Buffer, now: Date) {
  const nonce = nonceFor({ uri, network }, key, now)
  const { host: domain } = new URL(uri)
  const info = { domain, uri, statement: STATEMENT, version: '1', nonce, ...timesOf(nonce) }
  return { [SIGN_IN]: { info, supportedChains: [{ chainId: network, type: 'eip191' }], schema: SCHEMA } }
}

/** The sign-in in a request's headers: null when there is none, a sentence when it proves nothing. */
export function signInOf(
  header: Headers,
  { uri, network }: SignInTerms,
  { key, now }: { key: Buffer; now: Date },
): SignInProof | { fault: string } | null {
  const value = header(SIGN_IN)
  if (value === undefined) return null
  const read = value.length > HEADER_MAX ? undefined : jsonOrUndefined(Buffer.from(value, 'base64').toString('utf8'))
  if (!isRecord(read)) return { fault: 'must be base64 of a JSON object.' }
  const { domain, uri: signedUri, chainId, address, nonce, signature } = read
  if (domain !== new URL(uri).host) return { fault: 'is for another domain.' }
  if (signedUri !== uri) return { fault: 'is for another address.' }
  if (chainId !== network) return { fault: `must name the chain ${network}.` }
  if (typeof nonce !== 'string' || !isOwn(nonce, { uri, network }, key)) return { fault: 'has an unknown nonce.' }
  const age = now.getTime() - issuedAtOf(nonce).getTime()
  if (age > AGE_MAX_MS || age < -CLOCK_TOLERANCE_MS) return { fault: 'is older than five minutes.' }
  if (typeof address !== 'string' || !ADDRESS.test(address)) return { fault: 'names no address.' }
  if (typeof signature !== 'string' || !SIGNATURE.test(signature)) {
    return { fault: 'must be signed by a key: contract wallets cannot sign in here.' }
  }
  const text = textOf({ uri, network }, nonce, address)
  return { text, signature: signature as Hex, address: address.toLowerCase() as Address, nonce }
}

/** The text of EIP-4361. */
function textOf({ uri, network }: SignInTerms, nonce: string, address: string): string {
  const { issuedAt, expirationTime } = timesOf(nonce)
  return [
    `${new URL(uri).host} wants you to sign in with your Ethereum account:`,
    address,
    '',
    STATEMENT,
    '',
    `URI: ${uri}`,
    'Version: 1',
    `Chain ID: ${network.slice(network.indexOf(':') + 1)}`,
    `Nonce: ${nonce}`,
    `Issued At: ${issuedAt}`,
    `Expiration Time: ${expirationTime}`,
  ].join('\n')
}

/** The time, a random part and the MAC, in hexadecimal digits, because a nonce consists of letters and digits. */
function nonceFor(terms: SignInTerms, key: Buffer, now: Date): string {
  const time = Math.floor(now.getTime() / 1_000)
    .toString(16)
    .padStart(TIME_LENGTH, '0')
  const salted = time + randomBytes(8).toString('hex')
  return salted + macOf(salted, terms, key)
}

function isOwn(nonce: string, terms: SignInTerms, key: Buffer): boolean {
  if (!NONCE.test(nonce)) return false
  const expected = Buffer.from(macOf(nonce.slice(0, -MAC_LENGTH), terms, key))
  return timingSafeEqual(expected, Buffer.from(nonce.slice(-MAC_LENGTH)))
}

function macOf(salted: string, { uri, network }: SignInTerms, key: Buffer): string {
  const mac = createHmac('sha256', key).update(JSON.stringify([SIGN_IN, salted, uri, network]))
  return mac.digest('hex').slice(0, MAC_LENGTH)
}

function issuedAtOf(nonce: string): Date {
  return new Date(parseInt(nonce.slice(0, TIME_LENGTH), 16) * 1_000)
}

function timesOf(nonce: string): { issuedAt: string; expirationTime: string } {
  const issued = issuedAtOf(nonce)
  return { issuedAt: issued.toISOString(), expirationTime: new Date(issued.getTime() + AGE_MAX_MS).toISOString() }
}

const STATEMENT = 'Sign in with the wallet that has paid. Nothing is charged.'
/** How long a sign-in can be used. Used nonces are stored for longer. */
const AGE_MAX_MS = 300_000
const CLOCK_TOLERANCE_MS = 60_000
const HEADER_MAX = 8_192
const TIME_LENGTH = 8
const MAC_LENGTH = 32
const NONCE = /^[0-9a-f]{56}$/
const ADDRESS = /^0x[0-9a-fA-F]{40}$/
const SIGNATURE = /^0x[0-9a-fA-F]{130}$/

const text = { type: 'string' } as const
const time = { type: 'string', format: 'date-time' } as const

/** The form of the header, as the specification has it. */
const SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: {
    domain: text,
    address: text,
    statement: text,
    uri: { type: 'string', format: 'uri' },
    version: text,
    chainId: text,
    type: text,
    nonce: text,
    issuedAt: time,
    expirationTime: time,
    notBefore: time,
    requestId: text,
    resources: { type: 'array', items: { type: 'string', format: 'uri' } },
    signature: text,
  },
  required: ['domain', 'address', 'uri', 'version', 'chainId', 'type', 'nonce', 'issuedAt', 'signature'],
} as const
