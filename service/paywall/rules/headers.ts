import { HOP_BY_HOP } from '../../kit/http.ts'
import type { HeaderList, Identity } from '../model.ts'
import { createHmac } from 'node:crypto'
import { toDecimal } from '../../kit/money.ts'

/*
 * Which headers cross a gate. Hop-by-hop ones belong to one connection; what says who is asking is ours to say; and
 * the gate shares its address with other paywalls and with us, so nothing crosses that speaks for a whole origin.
 */

/** Who pays, who asks and through whom: the upstream must be able to believe these. */
const OURS = [
  'cookie',
  'expect',
  'forwarded',
  'host',
  'http2-settings',
  'payment-signature',
  'true-client-ip',
  'via',
  'x-client-ip',
  'x-cluster-client-ip',
  'x-payment',
  'x-payment-id',
  'x-payment-payer',
  'x-payment-token',
  'x-real-ip',
]
const OUR_PREFIXES = /^(x-forwarded-|coinslot-|x-coinslot-|x-auth-request-|cf-)/

/**
 * What some servers take for another method, another path or a signed-in user than the request's own: the price was
 * asked for this method and path, and who asks is said in `Coinslot-Payment` alone.
 */
const TELLING_OTHERWISE = [
  'remote-user',
  'x-authenticated-user',
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
  'x-original-host',
  'x-original-method',
  'x-original-uri',
  'x-original-url',
  'x-remote-user',
  'x-rewrite-url',
  'x-webauth-user',
]

/** As servers read a name that pass it to programs: there `X_Payment_Id` and `X-Payment-Id` are one variable. */
function readAs(name: string): string {
  return name.toLowerCase().replaceAll(/[_.]/g, '-')
}

/** Names that some frameworks take for another method or path than those that were paid for. */
export function overrides(name: string): boolean {
  return /^x-(http-method|http-method-override|method-override|original-(method|ur[il])|rewrite-url)$/.test(
    readAs(name),
  )
}

/** Whether a client's header may not reach what is behind a paywall. */
function isOurs(name: string): boolean {
  const read = readAs(name)
  return OUR_NAMES.has(read) || OUR_PREFIXES.test(read)
}

const OUR_NAMES: ReadonlySet<string> = new Set([...HOP_BY_HOP, ...OURS, ...TELLING_OTHERWISE])

/** `owned` are the owner's own headers, with which theirs is the last word. */
export function toUpstream(
  given: HeaderList,
  from: { address: string; host: string; secure: boolean },
  owned: HeaderList,
): [string, string][] {
  const dropped = new Set([...named(given), ...owned.map(([name]) => name)].map(readAs))
  const kept = given.filter(([name, value]) => {
    const lower = name.toLowerCase()
    // A key of ours is no business of an API behind a paywall.
    if (lower === 'authorization' && /^bearer csk_/i.test(value)) return false
    return !dropped.has(readAs(name)) && !isOurs(name)
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

/** How often a request has been through a gate of ours. */
export function passes(given: HeaderList): number {
  const said = given.filter(([name]) => name.toLowerCase() === 'via').map(([, value]) => value)
  return said
    .join(',')
    .split(',')
    .filter((hop) => hop.trim() === VIA).length
}

/** What would bind more than this answer: cookies, the browser's rules for the whole origin, our own words. */
const NOT_THEIRS = [
  'alt-svc',
  'clear-site-data',
  'content-security-policy',
  'expect-ct',
  'nel',
  'origin-agent-cluster',
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
  'x-request-id',
]

export function toClient(given: HeaderList): [string, string][] {
  const dropped = new Set([...HOP_BY_HOP, ...NOT_THEIRS, ...named(given)])
  return given
    .filter(([name]) => {
      const lower = name.toLowerCase()
      return !dropped.has(lower) && !lower.startsWith('x-payment-') && !lower.startsWith('coinslot-')
    })
    .map(([name, value]) => [name, value])
}

/** What `Connection` names belongs to that connection too. */
function named(given: HeaderList): string[] {
  return given
    .filter(([name]) => name.toLowerCase() === 'connection')
    .flatMap(([, value]) => value.split(','))
    .map((name) => name.trim().toLowerCase())
}

/** What an owner may not have sent to the upstream: framing, and what the gate itself says. */
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

/** The header that tells the upstream who paid what; see `docs/paywall.md` for how it is checked. */
export const IDENTITY_HEADER = 'Coinslot-Payment'

/** `v1.<base64url of JSON>.<base64url of an HMAC-SHA256 of what is before it>`. */
export function signedIdentity(identity: Identity, key: Buffer): string {
  const { at, amount, ...rest } = identity
  const said = { ...rest, amount: amount === null ? null : toDecimal(amount), at: Math.floor(at.getTime() / 1000) }
  const text = `v1.${Buffer.from(JSON.stringify(said)).toString('base64url')}`
  return `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`
}
