import { randomBytes } from 'node:crypto'

/** Every id says what it names. A slug has no underscore, so the two never look alike. */
export type Prefix =
  'rda' | 'run' | 'chk' | 'pay' | 'dlv' | 'evt' | 'agt' | 'pwl' | 'key' | 'dep' | 'wdr' | 'tool' | 'usr' | 'req' | 'op'

export type Id<P extends Prefix> = `${P}_${string}`

/**
 * 48 bits of milliseconds, then 80 random ones, in Crockford's base 32: sorts by the time it was made,
 * and 80 bits from the operating system cannot be guessed. Two ids of one millisecond sort either way:
 * counting up inside a millisecond, as some ULID libraries do, would make the next id guessable.
 */
export function newId<P extends Prefix>(prefix: P, now: Date): Id<P> {
  return `${prefix}_${body(now)}`
}

/** Whether the text has the form of an id with this prefix; it may still name nothing. */
export function isId<P extends Prefix>(prefix: P, text: string): text is Id<P> {
  return text.startsWith(`${prefix}_`) && BODY.test(text.slice(prefix.length + 1))
}

/** The same moment and chance under another prefix: one idempotent request names all that it makes. */
export function idLike<P extends Prefix>(prefix: P, id: Id<Prefix>): Id<P> {
  return `${prefix}_${id.slice(id.indexOf('_') + 1)}`
}

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const BODY = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/

function body(now: Date): string {
  const bytes = Buffer.concat([millisecondBytes(now), randomBytes(10)])
  let value = BigInt(`0x${bytes.toString('hex')}`)
  let text = ''
  for (let place = 0; place < 26; place++) {
    text = ALPHABET.charAt(Number(value & 31n)) + text
    value >>= 5n
  }
  return text
}

function millisecondBytes(now: Date): Buffer {
  const bytes = Buffer.alloc(6)
  bytes.writeUIntBE(now.getTime(), 0, 6)
  return bytes
}
