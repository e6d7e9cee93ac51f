import { createHash } from 'node:crypto'
import { deriveId, type Id } from '../../kit/ids.ts'

/**
 * One event is one delivery to each endpoint, and the same one however often it is written: the moment is the
 * event's, the rest is a hash of both.
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
