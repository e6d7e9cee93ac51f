import { bytesOf, hexOf, readDer, type Assertion, type PublicKey } from '../../../kit/passkey-wallet.ts'
import { isRecord } from '../../../ui-kit/provider.ts'
import { say } from '../words/say.ts'
import { keysBehind } from './recover.ts'

/** The passkey that this browser uses here. Its key can be found again, so losing this loses nothing. */
export interface Passkey {
  id: string
  key: PublicKey
}

export function keptPasskey(): Passkey | null {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEPT) ?? 'null')
    if (!isRecord(kept) || !isRecord(kept['key'])) return null
    const { id } = kept
    const { x, y } = kept['key']
    if (typeof id !== 'string' || typeof x !== 'string' || typeof y !== 'string') return null
    return WORD.test(x) && WORD.test(y) ? { id, key: { x, y } as PublicKey } : null
  } catch {
    return null
  }
}

export function keep(passkey: Passkey | null): void {
  try {
    if (passkey === null) localStorage.removeItem(KEPT)
    else localStorage.setItem(KEPT, JSON.stringify(passkey))
  } catch {
    // Without storage the passkey is asked for once more.
  }
}

const KEPT = 'coinslot passkey'
const WORD = /^0x[0-9a-f]{64}$/

/** Whether this browser can make one, with the device's own lock or with a phone beside it. */
export async function hasPasskeys(): Promise<boolean> {
  if (typeof PublicKeyCredential === 'undefined' || !isSecureContext) return false
  return await PublicKeyCredential.isUserVerifyingPlatformAuthenticatorAvailable().catch(() => false)
}

export async function makePasskey(): Promise<Passkey> {
  const host = location.hostname
  const made = await prompted(() =>
    navigator.credentials.create({
      publicKey: {
        rp: { id: host, name: host },
        user: {
          id: random(16),
          name: `${say('passkey.title')} (${new Date().toISOString().slice(0, 10)})`,
          displayName: say('passkey.title'),
        },
        challenge: random(32),
        pubKeyCredParams: [{ type: 'public-key', alg: ES256 }],
        authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
        attestation: 'none',
      },
    }),
  )
  const response = made.response as AuthenticatorAttestationResponse
  const spki = response.getPublicKey()
  if (spki === null || response.getPublicKeyAlgorithm() !== ES256) throw new Error('not a key of P-256')
  const passkey = { id: made.id, key: await keyIn(spki) }
  keep(passkey)
  return passkey
}

/**
 * A passkey that is on this device, or comes to it. One signature leaves two possible keys: `isUsed` may know which of
 * them has a wallet, otherwise a second signature decides.
 */
export async function findPasskey(isUsed: (key: PublicKey) => Promise<boolean>): Promise<Passkey> {
  const first = await asserted(random(32))
  const keys = await keysOf(first)
  const used = await Promise.all(keys.map((key) => isUsed(key).catch(() => false)))
  let [key, other] = keys.filter((_, at) => used[at])
  if (key === undefined || other !== undefined) {
    const again = await keysOf(await asserted(random(32), first.id))
    ;[key, other] = keys.filter(({ x, y }) => again.some((one) => one.x === x && one.y === y))
  }
  if (key === undefined || other !== undefined) throw new Error('the key was not found')
  const passkey = { id: first.id, key }
  keep(passkey)
  return passkey
}

/** What the passkey signs. Another passkey's signature is refused here already. */
export async function signWith({ id, key }: Passkey, challenge: Uint8Array): Promise<Assertion> {
  const made = await asserted(challenge, id)
  if (!(await isBy(key, made))) throw new Error('another passkey signed')
  return made
}

interface Made extends Assertion {
  id: string
}

async function asserted(challenge: Uint8Array, id?: string): Promise<Made> {
  const credential = await prompted(() =>
    navigator.credentials.get({
      publicKey: {
        rpId: location.hostname,
        challenge: Uint8Array.from(challenge),
        userVerification: 'required',
        allowCredentials: id === undefined ? [] : [{ type: 'public-key', id: fromBase64(id) }],
      },
    }),
  )
  const response = credential.response as AuthenticatorAssertionResponse
  const numbers = readDer(new Uint8Array(response.signature))
  if (numbers === null) throw new Error('not a signature of P-256')
  const clientData = new TextDecoder().decode(response.clientDataJSON)
  return { id: credential.id, authenticatorData: new Uint8Array(response.authenticatorData), clientData, ...numbers }
}

/** A person who closes the window, or lets it wait, has declined, as with any wallet. */
async function prompted(ask: () => Promise<Credential | null>): Promise<PublicKeyCredential> {
  const credential = await ask().catch((error: unknown) => {
    const isDeclined =
      error instanceof DOMException && (error.name === 'NotAllowedError' || error.name === 'AbortError')
    // As EIP-1193 has it.
    throw isDeclined ? Object.assign(new Error('declined'), { code: 4001 }) : error
  })
  if (credential === null) throw new Error('no passkey')
  return credential as PublicKeyCredential
}

async function keysOf(made: Made): Promise<PublicKey[]> {
  const keys = keysBehind(await digest(await signedBytes(made)), made)
  const sound = await Promise.all(keys.map((key) => isBy(key, made).catch(() => false)))
  return keys.filter((_, at) => sound[at])
}

async function isBy({ x, y }: PublicKey, made: Assertion): Promise<boolean> {
  const point = bytesOf(`04${x.slice(2)}${y.slice(2)}`)
  const key = await crypto.subtle.importKey('raw', point, CURVE, false, ['verify'])
  const word = (value: bigint): string => value.toString(16).padStart(64, '0')
  const signature = bytesOf(`${word(made.r)}${word(made.s)}`)
  return await crypto.subtle.verify({ name: 'ECDSA', hash: 'SHA-256' }, key, signature, await signedBytes(made))
}

async function signedBytes({ authenticatorData, clientData }: Assertion): Promise<Uint8Array<ArrayBuffer>> {
  const hash = await digest(new TextEncoder().encode(clientData))
  return Uint8Array.from([...authenticatorData, ...hash])
}

async function digest(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
}

async function keyIn(spki: ArrayBuffer): Promise<PublicKey> {
  const key = await crypto.subtle.importKey('spki', spki, CURVE, true, ['verify'])
  const point = hexOf(new Uint8Array(await crypto.subtle.exportKey('raw', key)))
  return { x: `0x${point.slice(2, 66)}`, y: `0x${point.slice(66)}` }
}

function random(bytes: number): Uint8Array<ArrayBuffer> {
  return crypto.getRandomValues(new Uint8Array(bytes))
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (sign) => sign.charCodeAt(0))
}

const ES256 = -7
const CURVE = { name: 'ECDSA', namedCurve: 'P-256' }
