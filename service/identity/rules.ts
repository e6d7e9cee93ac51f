import { addressGroup } from '../kit/http.ts'
import { createHash } from 'node:crypto'
import type { Environment } from '../kit/owner.ts'
import { deriveId, isId, type Id } from '../kit/ids.ts'
import {
  environmentMismatch,
  environmentUnavailable,
  environmentUnknown,
  unauthenticated,
  type CredentialFault,
} from './errors.ts'
import { BUILT_IN_ISSUER } from './model.ts'
import type { Person, User } from '../kit/caller.ts'

export type Credential = { kind: 'key' | 'token' | 'session'; text: string }

/** What the Authorization header carries, told apart by form alone; whether it is good is decided elsewhere. */
export function toCredential(authorization: string): Credential {
  const text = /^bearer +([\x21-\x7e]{1,8192}) *$/i.exec(authorization)?.[1]
  if (text === undefined) throw unauthenticated(schemeFault(authorization))
  if (text.startsWith('csk_')) return { kind: 'key', text }
  return { kind: JWT.test(text) ? 'token' : 'session', text }
}

function schemeFault(authorization: string): CredentialFault {
  if (authorization.startsWith('csk_')) return 'bearer_missing'
  if (authorization.trim() === '' || /^bearer *$/i.test(authorization)) return 'credential_missing'
  return /^bearer /i.test(authorization) ? 'credential_invalid' : 'scheme_unknown'
}

/** The environment of a caller whose credential does not decide it. */
export function environmentAsked(header: string | undefined, live: boolean): Environment {
  const asked = toEnvironment(header) ?? 'sandbox'
  if (asked === 'production' && !live) throw environmentUnavailable()
  return asked
}

/** The environment of a key, which the header may only repeat. */
export function environmentOfKey(own: Environment, header: string | undefined, live: boolean): Environment {
  // As if it did not exist: a sandbox server knows nothing of production.
  if (own === 'production' && !live) throw unauthenticated('key_unknown')
  const asked = toEnvironment(header)
  if (asked !== null && asked !== own) throw environmentMismatch(own)
  return own
}

export function isUsable(key: { expiresAt: Date | null; revokedAt: Date | null }, now: Date): boolean {
  return key.revokedAt === null && (key.expiresAt === null || key.expiresAt.getTime() > now.getTime())
}

/** The text of a key, from 32 random bytes. */
export function toKey(environment: Environment, random: Buffer): string {
  return PREFIX[environment] + base62(random)
}

/** What is kept of a key: what finds it, and what tells its owner which one it is. */
export function traceOf(key: string, environment: Environment): KeyTrace {
  return {
    hash: hashOf(key),
    prefix: key.slice(0, PREFIX[environment].length + SHOWN),
    lastFour: key.slice(-4),
  }
}

export interface KeyTrace {
  hash: Buffer
  prefix: string
  lastFour: string
}

/**
 * Found by its hash, a key is compared with nothing: how long the search takes tells about hashes, from
 * which nobody comes nearer to a key.
 */
export function hashOf(key: string): Buffer {
  return createHash('sha256').update(key, 'utf8').digest()
}

/**
 * One id for a person who signs in here, as user and as subject: what is `userId` on the wire is then what
 * the ledger says too. Of another issuer's subject an id of our own is made.
 */
export function idOf(person: Person, fresh: Id<'usr'>): Id<'usr'> {
  return person.issuer === BUILT_IN_ISSUER && isId('usr', person.subject) ? person.subject : fresh
}

/** The id of the one key that the demo account gets by itself: making it twice collides. */
export function demoKeyId(user: Id<'usr'>): Id<'key'> {
  return deriveId('key', user)
}

/** Whether signing up once more would change nothing. */
export function isSignedUp(user: User, granted: Record<Environment, boolean>, person: Person): boolean {
  return (
    grantsDue(user, granted).length === 0 &&
    (person.name === null || person.name === user.name) &&
    (person.email === null || person.email === user.email) &&
    (!person.emailConfirmed || user.emailConfirmed)
  )
}

/** The sandbox's credits at once, production's when the e-mail address is known to be theirs. */
export function grantsDue(user: User, granted: Record<Environment, boolean>): Environment[] {
  const due: Environment[] = []
  if (!granted.sandbox) due.push('sandbox')
  if (!granted.production && user.emailConfirmed) due.push('production')
  return due
}

/** A user needs an e-mail address in better-auth; these can never be anybody's. */
export function walletEmailOf(address: string): string {
  return `${address.toLowerCase()}@wallet.invalid`
}

/** A stand-in, of whoever has no address. */
export function isNobodys(email: string): boolean {
  return email.toLowerCase().endsWith('.invalid')
}

/** One row of better-auth's accounts. */
export interface Way {
  providerId: string
  accountId: string
  hasPassword: boolean
}

/** Whether somebody can sign in by it; a provider that is configured no longer lets nobody in. */
export function isWayIn({ providerId, accountId, hasPassword }: Way, issuer: string | null): boolean {
  if (providerId === 'oidc') return issuer !== null && accountId.startsWith(`${issuer} `)
  return providerId === 'siwe' || hasPassword
}

/** Of one account. */
export const WALLETS_MAX = 10

/** By characters. */
export const PASSWORD_LENGTH = { min: 10, max: 128 }
export const PERSON_NAME_MAX = 100

function toEnvironment(header: string | undefined): Environment | null {
  if (header === undefined) return null
  if (header === 'sandbox' || header === 'production') return header
  throw environmentUnknown()
}

/** Always 43 digits: 62^43 is the first power above 2^256. */
function base62(bytes: Buffer): string {
  let value = BigInt(`0x${bytes.toString('hex')}`)
  let text = ''
  for (let place = 0; place < 43; place++) {
    text = DIGITS.charAt(Number(value % 62n)) + text
    value /= 62n
  }
  return text
}

const PREFIX: Record<Environment, string> = { sandbox: 'csk_test_', production: 'csk_live_' }
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** Characters of the secret part in the prefix that lists show: 39 of 43 stay unknown with the last four. */
const SHOWN = 4
const JWT = /^[\w-]+\.[\w-]+\.[\w-]+$/

export interface GrantBounds {
  perDomain: number
  perAddress: number
}

/**
 * Who an account that is given credits is counted with, the address first: whoever has used theirs up takes nothing of
 * a domain that others share. A mailbox of a well-known provider says nothing about who else is there.
 */
export function grantSources(
  email: string | null,
  address: string | null,
  bounds: GrantBounds,
): { source: string; most: number }[] {
  const sources = address === null ? [] : [{ source: `address ${addressGroup(address)}`, most: bounds.perAddress }]
  const domain = email === null ? null : domainOf(email)
  if (domain !== null && !SHARED_DOMAINS.has(domain)) {
    sources.push({ source: `domain ${domain}`, most: bounds.perDomain })
  }
  // By a provider's webhook, with a mailbox of a large provider: those count together.
  return sources.length === 0 ? [{ source: 'no address', most: bounds.perDomain }] : sources
}

/** As somebody registered it: the names below it are as many as its owner likes. */
function domainOf(email: string): string {
  const labels = email
    .slice(email.lastIndexOf('@') + 1)
    .toLowerCase()
    .split('.')
    .filter((label) => label !== '')
  const [second = '', top = ''] = labels.slice(-2)
  const isBelowCountry = top.length === 2 && SECOND_LEVEL.has(second)
  return labels
    .slice(isBelowCountry ? -3 : -2)
    .join('.')
    .slice(0, 255)
}

const SECOND_LEVEL = new Set(['ac', 'co', 'com', 'edu', 'gov', 'ltd', 'me', 'net', 'or', 'org', 'ne'])

const SHARED_DOMAINS = new Set(
  [
    'aol.com fastmail.com free.fr gmail.com gmx.at gmx.ch gmx.com gmx.de gmx.net googlemail.com hey.com hotmail.com',
    'hotmail.co.uk hotmail.de hotmail.fr icloud.com laposte.net libero.it live.com mac.com mail.com mail.ru me.com',
    'msn.com naver.com orange.fr outlook.com outlook.de outlook.fr pm.me posteo.de proton.me protonmail.com qq.com',
    'rediffmail.com seznam.cz t-online.de tuta.com tutanota.com web.de wp.pl yahoo.co.in yahoo.co.jp yahoo.co.uk',
    'yahoo.com yahoo.de yahoo.fr yandex.com yandex.ru ymail.com zoho.com 126.com 163.com',
  ].flatMap((line) => line.split(' ')),
)
