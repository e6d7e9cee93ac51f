import { createHash, randomFillSync } from 'node:crypto'
import { tagContext } from './context.ts'

/**
 * Every id begins with the kind of thing that it names. A slug has no underscore, so an id and a slug never look alike.
 */
export type Prefix =
  | 'rda'
  | 'run'
  | 'chk'
  | 'pay'
  | 'prq'
  | 'dlv'
  | 'evt'
  | 'agt'
  | 'pwl'
  | 'key'
  | 'dep'
  | 'wdr'
  | 'tool'
  | 'usr'
  | 'req'
  | 'op'
  | 'whe'
  | 'apr'
  | 'call'
  | 'rfd'
  | 'dsp'
  | 'file'
  | 'pas'
  | 'cpn'
  | 'cnx'
  | 'adr'

export type Id<P extends Prefix> = `${P}_${string}`

/**
 * 48 bits of milliseconds, then 80 random bits, in Crockford's base 32. Ids sort by their time, and 80 bits from the
 * operating system cannot be guessed. Two ids of the same millisecond sort in any order: counting up within a
 * millisecond, as some ULID libraries do, would make the next id guessable.
 */
export function newId<P extends Prefix>(prefix: P, now: Date): Id<P> {
  return `${prefix}_${body(now)}`
}

/** Whether the text has the form of an id with this prefix. Such an id need not exist. */
export function isId<P extends Prefix>(prefix: P, text: string): text is Id<P> {
  return text.startsWith(`${prefix}_`) && BODY.test(text.slice(prefix.length + 1))
}

/** When the id was made. */
export function timeOf(id: Id<Prefix>): Date {
  const start = id.indexOf('_') + 1
  let time = 0
  for (let place = start; place < start + 10; place++) time = time * 32 + ALPHABET.indexOf(id.charAt(place))
  return new Date(time)
}

/** No id with this prefix that was made at or after this time is smaller. */
export function leastId<P extends Prefix>(prefix: P, since: Date): Id<P> {
  return `${prefix}_${base32(since.getTime(), 10)}${'0'.repeat(16)}`
}

/**
 * The same time and random bits under another prefix, so that one idempotent request always gives the same ids to
 * everything it creates. It also tags the log of the current work with the new id.
 */
export function deriveId<P extends Prefix>(prefix: P, id: Id<Prefix>): Id<P> {
  const like: Id<P> = `${prefix}_${id.slice(id.indexOf('_') + 1)}`
  tagContext(like)
  return like
}

/** The id of an attempt at one operation: the same at every call. The first attempt has the operation's own id. */
export function attemptOf(id: Id<Prefix>, attempt: number): Id<'op'> {
  return attempt === 1 ? deriveId('op', id) : relatedId(id, String(attempt))
}

/** The id of an operation that is known by this text: the same at every call, and to be guessed by nobody else. */
export function relatedId(id: Id<Prefix>, text: string): Id<'op'> {
  const digest = createHash('sha256').update(`${id} ${text}`).digest()
  const time = id.slice(id.indexOf('_') + 1).slice(0, 10)
  return `op_${time}${base32(digest.readUIntBE(0, 5), 8)}${base32(digest.readUIntBE(5, 5), 8)}`
}

/** The same id with another time. Ids sort by time, so what is made later sorts later. */
export function madeAt<P extends Prefix>(id: Id<P>, at: Date): Id<P> {
  const start = id.indexOf('_') + 1
  return `${id.slice(0, start)}${base32(at.getTime(), 10)}${id.slice(start + 10)}` as Id<P>
}

/** How long the service knows an `Idempotency-Key`: the 24 hours of the API, and two for clock differences and slow requests. */
export const KEY_MS = 26 * 3_600_000

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const BODY = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/

function body(now: Date): string {
  return base32(now.getTime(), 10) + base32(random40Bits(), 8) + base32(random40Bits(), 8)
}

function random40Bits(): number {
  if (used + 5 > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  used += 5
  return pool.readUIntBE(used - 5, 5)
}

/**
 * Whether nobody can guess an identifier or a key that a client chose. A UUID has 36 characters, of which 32 are random, as
 * has what the stock client of x402 chooses.
 */
export function isSecret(chosen: string): boolean {
  return chosen.length >= SECRET_LENGTH
}

export const SECRET_LENGTH = 32

/**
 * Random bytes are read for some hundred ids at a time. Asking the operating system for each id took a twentieth of a
 * small request's time.
 */
const pool = Buffer.alloc(4000)
let used = pool.length

function base32(value: number, places: number): string {
  let rest = value
  let text = ''
  for (let place = 0; place < places; place++) {
    text = ALPHABET.charAt(rest % 32) + text
    rest = Math.floor(rest / 32)
  }
  return text
}
