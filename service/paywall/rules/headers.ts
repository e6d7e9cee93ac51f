import { HOP_BY_HOP } from '../../kit/hops.ts'
import type { HeaderList } from '../model.ts'

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
const OUR_PREFIXES = /^(x-forwarded-|coinslot-|x-coinslot-|cf-)/

/** `owned` are the owner's own headers, with which theirs is the last word. */
export function toUpstream(
  given: HeaderList,
  from: { address: string; host: string; secure: boolean },
  owned: HeaderList,
): [string, string][] {
  const dropped = new Set([...HOP_BY_HOP, ...OURS, ...named(given), ...owned.map(([name]) => name.toLowerCase())])
  const kept = given.filter(([name, value]) => {
    const lower = name.toLowerCase()
    // A key of ours is no business of an API behind a paywall.
    if (lower === 'authorization' && /^bearer csk_/i.test(value)) return false
    return !dropped.has(lower) && !OUR_PREFIXES.test(lower)
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
