import { createHash, createHmac } from 'node:crypto'
import { deriveId, type Id } from '../../kit/ids.ts'
import { isSigningSecret, signingKey } from '../../kit/signing-secret.ts'

/** The default wait is also the shortest that makes sense; the maximum is what a workflow may take. */
export const WAIT_MS = 15_000
export const WAIT_MS_MAX = 180_000
export const KEEP_BYTES = 2_048
export const KEEP_BYTES_MAX = 65_536

/**
 * The received bytes as text of at most this many bytes: cut between characters, with invalid UTF-8 replaced, and
 * without the null character, which PostgreSQL cannot store.
 */
export function toKept(received: Buffer, bytes: number): string {
  const text = new TextDecoder('utf-8').decode(received.subarray(0, cut(received, bytes)))
  return text.replaceAll('\u0000', '\ufffd')
}

/** Cuts between characters: a continuation byte belongs to the character before it. */
function cut(received: Buffer, bytes: number): number {
  if (received.length <= bytes) return received.length
  let end = bytes
  while (end > 0 && end > bytes - 4 && isContinuation(received[end])) end--
  return end
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80
}

/**
 * One event becomes one delivery per endpoint, and writing it again gives the same id: its time comes from the event,
 * the rest is a hash of both.
 */
export function deliveryOf(event: Id<'evt'>, endpoint: string): Id<'dlv'> {
  const hash = createHash('sha256').update(`${event} ${endpoint}`).digest()
  let bits = BigInt(`0x${hash.subarray(0, 10).toString('hex')}`)
  let text = ''
  for (let place = 0; place < 16; place++) {
    text = ALPHABET.charAt(Number(bits % 32n)) + text
    bits /= 32n
  }
  return `${deriveId('dlv', event).slice(0, 'dlv_'.length + 10)}${text}` as Id<'dlv'>
}

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

/**
 * Standard Webhooks: the signature covers the sent bytes. While a secret rotates there are two signatures, and either
 * is sufficient.
 */
export function signatureOf(secrets: readonly string[], id: string, timestampSeconds: number, body: string): string {
  if (secrets.length === 0) throw new Error('a delivery has no signing secret')
  return secrets.map((secret) => `v1,${mac(secret, `${id}.${String(timestampSeconds)}.${body}`)}`).join(' ')
}

function mac(secret: string, signed: string): string {
  if (!isSigningSecret(secret)) throw new Error('not a signing secret')
  return createHmac('sha256', signingKey(secret)).update(signed).digest('base64')
}
