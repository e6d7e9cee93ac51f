import { addressGroup } from '../kit/http.ts'
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
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
import { signingKey } from '../kit/signing-secret.ts'

export type Credential = { kind: 'key' | 'token' | 'session'; text: string }

/** Classifies the credential in the Authorization header by its form alone; other code verifies it. */
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
  // As if the key did not exist: a sandbox server has no production data.
  if (own === 'production' && !live) throw unauthenticated('key_unknown')
  const asked = toEnvironment(header)
  if (asked !== null && asked !== own) throw environmentMismatch(own)
  return own
}

export function isUsable(key: { expiresAt: Date | null; revokedAt: Date | null }, now: Date): boolean {
  return key.revokedAt === null && (key.expiresAt === null || key.expiresAt.getTime() > now.getTime())
}

/** Builds a key's text from 32 random bytes. */
export function toKey(environment: Environment, random: Buffer): string {
  return PREFIX[environment] + base62(random)
}

/** The stored parts of a key: the hash that finds it, and the characters by which its owner recognises it. */
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
 * A key is found by its hash and compared with nothing: the search time only reveals something about hashes, and that
 * does not help to guess a key.
 */
export function hashOf(key: string): Buffer {
  return createHash('sha256').update(key, 'utf8').digest()
}

/**
 * A person who signs in here has one id, as user and as subject, so `userId` in the API is also the ledger's id. A
 * subject of another issuer gets a new id.
 */
export function idOf(person: Person, fresh: Id<'usr'>): Id<'usr'> {
  return person.issuer === BUILT_IN_ISSUER && isId('usr', person.subject) ? person.subject : fresh
}

/** The id of the demo account's automatic key: creating it twice collides. */
export function demoKeyId(user: Id<'usr'>): Id<'key'> {
  return deriveId('key', user)
}

/** True when another sign-up would change nothing. */
export function isSignedUp(user: User, granted: Record<Environment, boolean>, person: Person): boolean {
  return (
    grantsDue(user, granted).length === 0 &&
    (person.name === null || person.name === user.name) &&
    (person.email === null || person.email === user.email) &&
    (!person.emailConfirmed || user.emailConfirmed)
  )
}

/** Sandbox credits are due at once, production credits when the e-mail address is confirmed. */
export function grantsDue(user: User, granted: Record<Environment, boolean>): Environment[] {
  const due: Environment[] = []
  if (!granted.sandbox) due.push('sandbox')
  if (!granted.production && user.emailConfirmed) due.push('production')
  return due
}

/** better-auth requires an e-mail address for every user; a stand-in under `.invalid` can belong to no one. */
export function walletEmailOf(address: string): string {
  return `${address.toLowerCase()}@wallet.invalid`
}

/** True for the stand-in address of a user without an e-mail address. */
export function isNobodys(email: string): boolean {
  return email.toLowerCase().endsWith('.invalid')
}

/** One row of better-auth's accounts. */
export interface Way {
  providerId: string
  accountId: string
  hasPassword: boolean
}

/** Whether a person can still sign in this way; a provider that is no longer configured does not count. */
export function isWayIn({ providerId, accountId, hasPassword }: Way, issuer: string | null): boolean {
  if (providerId === 'oidc') return issuer !== null && accountId.startsWith(`${issuer} `)
  return providerId === 'siwe' || hasPassword
}

/** The most wallets of one account. */
export const WALLETS_MAX = 10

/** A handle is a part of an address, so it is short and has no capitals. */
export const HANDLE_LENGTH = { min: 3, max: 40 }
export const HANDLE = /^[a-z0-9]+(-[a-z0-9]+)*$/

export function isHandle(text: string): boolean {
  return text.length >= HANDLE_LENGTH.min && text.length <= HANDLE_LENGTH.max && HANDLE.test(text)
}

/** Handles that would look like a part of the service. */
export const RESERVED_HANDLES: ReadonlySet<string> = new Set(
  [
    'about account accounts admin administrator api app assets auth billing blog coinslot contact dashboard discovery',
    'docs facilitator gate health help home legal login mail marketplace mcp metrics null oauth official pay payments',
    'privacy receipts root sandbox security settings shop signup staff status store support system team terms test',
    'tools undefined user users wallet webhook webhooks www',
  ].flatMap((line) => line.split(' ')),
)

/** A handle that was given up is its account's for so long: buyers still know the address. */
export const HANDLE_KEPT_MS = 30 * 86_400_000
/** So many at a time, so that changing a handle over and over does not take names from others. */
export const HANDLES_KEPT_MAX = 3

/** In characters. */
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
 * The sources under which a grant of credits is counted, the address first: an address that has reached its limit uses
 * up nothing of a domain that others share. The domain of a well-known mail provider is not counted, because its users
 * have nothing in common.
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
  // A sign-up without a network address, with a mailbox of a large provider: all of these count together.
  return sources.length === 0 ? [{ source: 'no address', most: bounds.perDomain }] : sources
}

/** The registered domain, because its owner can create any number of names below it. */
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

/**
 * Checks a signature of Standard Webhooks or of Svix, which differ only in header names: `v1,<base64>` over
 * `id.timestamp.body`. One valid signature among several is enough, because a secret may be rotating.
 */
export function isSigned(
  secret: string,
  message: { id: string; timestamp: string; signature: string; body: Buffer },
  now: Date,
): boolean {
  const { id, timestamp, signature, body } = message
  if (!/^\d{1,12}$/.test(timestamp)) return false
  if (Math.abs(now.getTime() / 1000 - Number(timestamp)) > SIGNED_SECONDS) return false
  const expected = createHmac('sha256', signingKey(secret)).update(`${id}.${timestamp}.`).update(body).digest()
  return signature.split(' ').some((one) => {
    const [version, encoded = ''] = one.split(',', 2)
    const given = Buffer.from(encoded, 'base64')
    return version === 'v1' && given.length === expected.length && timingSafeEqual(given, expected)
  })
}

const SIGNED_SECONDS = 300
