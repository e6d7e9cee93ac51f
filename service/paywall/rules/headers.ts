import { HOP_BY_HOP } from '../../kit/http.ts'
import { credentialText } from '../../mpp/credential.ts'
import type { HeaderList, Identity } from '../model.ts'
import { createHmac, type KeyObject } from 'node:crypto'
import { toDecimal } from '../../kit/money.ts'

/*
 * Which headers cross a gate. Hop-by-hop headers belong to one connection. The gate itself sets the headers that
 * identify the payer. The gate shares its address with other paywalls and with this service, so no header that applies
 * to a whole origin crosses it.
 */

/** The payer, the client and the proxies: the upstream must be able to trust these headers. */
const OURS = [
  'client-ip',
  'cookie',
  'expect',
  'fastly-client-ip',
  'forwarded',
  'front-end-https',
  'host',
  'http2-settings',
  'payment-authorization',
  'payment-signature',
  'sign-in-with-x',
  'true-client-ip',
  'via',
  'x-azure-clientip',
  'x-client-ip',
  'x-cluster-client-ip',
  'x-forwarded',
  'x-host',
  'x-http-host-override',
  'x-payment',
  'x-payment-id',
  'x-payment-payer',
  'x-payment-token',
  'x-proxyuser-ip',
  'x-real-ip',
  'x-scheme',
  'x-url-scheme',
]
const OUR_PREFIXES = /^(x-forwarded-|coinslot-|x-coinslot-|x-auth-request-|cf-)/

/**
 * Headers that some servers read as another method, another path or a signed-in user. The price applies to this method
 * and path, and only `Coinslot-Payment` identifies the payer.
 */
const TELLING_OTHERWISE = [
  'remote-user',
  'x-authenticated-user',
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
  'x-remote-user',
  'x-rewrite-url',
  'x-webauth-user',
]
const OTHERWISE_PREFIXES = /^x-(original|envoy)-/

/**
 * Normalizes a name as servers do that pass headers to programs: for them `X_Payment_Id` and `X-Payment-Id` are one
 * variable.
 */
export function readAs(name: string): string {
  return name.toLowerCase().replaceAll(/[_.]/g, '-')
}

/** Names that some frameworks read as another method or path than the paid one. */
export function overrides(name: string): boolean {
  return /^x-(http-method|http-method-override|method-override|original-(method|ur[il])|rewrite-url)$/.test(
    readAs(name),
  )
}

/** Whether a client's header must not reach the upstream of a paywall, by its name as servers read it. */
function isOurs(read: string): boolean {
  return OUR_NAMES.has(read) || OUR_PREFIXES.test(read) || OTHERWISE_PREFIXES.test(read)
}

const OUR_NAMES: ReadonlySet<string> = new Set([...HOP_BY_HOP, ...OURS, ...TELLING_OTHERWISE])

/** `owned` are the owner's own headers; they override the client's. */
export function toUpstream(
  given: HeaderList,
  from: { address: string; host: string; secure: boolean },
  owned: HeaderList,
): [string, string][] {
  const dropped = new Set([...named(given), ...owned.map(([name]) => name)].map(readAs))
  const kept = given.filter(([name, value]) => {
    const lower = name.toLowerCase()
    // Neither a payment nor a Coinslot API key or token may reach an API behind a paywall.
    if (lower === 'authorization' && (/^bearer (?:csk|cat)_/i.test(value) || credentialText(value) !== null))
      return false
    const read = readAs(name)
    return !dropped.has(read) && !isOurs(read)
  })
  return [
    ...kept.map(([name, value]): [string, string] => [name, value]),
    ['X-Forwarded-For', from.address],
    ['X-Forwarded-Host', from.host],
    ['X-Forwarded-Proto', from.secure ? 'https' : 'http'],
    ...given.filter(([name]) => name.toLowerCase() === 'via').map(([, value]): [string, string] => ['Via', value]),
    ['Via', VIA],
    ...owned.map(([name, value]): [string, string] => [name, value]),
  ]
}

const VIA = '1.1 coinslot'

/** How often a request has passed through one of these gates. */
export function passes(given: HeaderList): number {
  const said = given.filter(([name]) => name.toLowerCase() === 'via').map(([, value]) => value)
  return said
    .join(',')
    .split(',')
    .filter((hop) => hop.trim() === VIA).length
}

/**
 * Headers that affect more than this answer: cookies, the browser's rules for the whole origin, and the gate's own
 * headers.
 */
const NOT_THEIRS = [
  'alt-svc',
  'clear-site-data',
  'content-security-policy',
  'expect-ct',
  'nel',
  'origin-agent-cluster',
  'payment-receipt',
  'payment-required',
  'payment-response',
  'public-key-pins',
  'report-to',
  'reporting-endpoints',
  'server-timing',
  'service-worker-allowed',
  'set-cookie',
  'set-cookie2',
  'strict-transport-security',
  // A proxy in front of this service would send a file of its own.
  'x-accel-redirect',
  'x-request-id',
  'x-sendfile',
]

/** Of an answer for its buyer alone. */
export const NOT_CACHED = ['Cache-Control', 'no-store'] as const

/** Whether a header says how long caches keep an answer. */
export function tellsCaches(name: string): boolean {
  return /^(.*-)?(cache-control|surrogate-control)$|^(expires|pragma|edge-control|x-accel-expires)$/i.test(name)
}

const KEPT_BACK: ReadonlySet<string> = new Set([...HOP_BY_HOP, ...NOT_THEIRS])

export function toClient(given: HeaderList): [string, string][] {
  const dropped = new Set(named(given))
  return given
    .filter(([name, value]) => {
      const lower = name.toLowerCase()
      // A payment that the upstream asks for could not reach it.
      if (lower === 'www-authenticate' && credentialText(value) !== null) return false
      if (KEPT_BACK.has(lower) || dropped.has(lower)) return false
      return !lower.startsWith('x-payment-') && !lower.startsWith('coinslot-')
    })
    .map(([name, value]) => [name, value])
}

/** Headers that `Connection` names belong to that connection too. */
function named(given: HeaderList): string[] {
  return given
    .filter(([name]) => name.toLowerCase() === 'connection')
    .flatMap(([, value]) => value.split(','))
    .map((name) => name.trim().toLowerCase())
}

/** Headers that an owner must not configure for the upstream: framing, and those that the gate itself sets. */
export function faultOfOwned(name: string): string | null {
  const lower = name.toLowerCase()
  if (HOP_BY_HOP.includes(lower) || lower === 'content-length' || lower === 'host' || lower === 'expect') {
    return 'is set by the service itself'
  }
  return OUR_PREFIXES.test(lower) || lower === 'via' ? 'is set by the gate' : null
}

export function headerIn(list: HeaderList, name: string): string | undefined {
  return list.find(([one]) => one.toLowerCase() === name)?.[1]
}

/**
 * The header that identifies the payer and the payment for the upstream; see `docs/paywall.md` for how to verify it.
 */
export const IDENTITY_HEADER = 'Coinslot-Payment'

/** `v1.<base64url of JSON>.<base64url of an HMAC-SHA256 of everything before it>`. */
export function signedIdentity(identity: Identity, key: KeyObject): string {
  const { paywall, call, payment, payer, amount, pricing, state, endpoint, at } = identity
  const written = {
    paywall,
    call,
    payment,
    payer,
    pricing,
    state,
    endpoint,
    amount: amount === null ? null : toDecimal(amount),
    at: Math.floor(at.getTime() / 1000),
  }
  const text = `v1.${Buffer.from(JSON.stringify(written)).toString('base64url')}`
  return `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`
}
