import { isIPv6 } from 'node:net'

/** Headers that belong to one connection, and are never passed on (RFC 9110, 7.6.1, and what proxies add). */
export const HOP_BY_HOP: readonly string[] = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]

/**
 * What a browser says in `Sec-Fetch-Site` of the page that made it ask. `same-site` is a neighbour: another host of the
 * same domain.
 */
export function isOfAnotherSite(fetchSite: string | readonly string[] | null | undefined): boolean {
  return fetchSite === 'cross-site' || fetchSite === 'same-site'
}

/**
 * Who an address stands for where requests and connections are counted. A provider gives each customer a whole /64 of
 * IPv6, so that all its addresses are one; an IPv4 address that is written as IPv6 is the IPv4 address.
 */
export function addressGroup(address: string): string {
  const [bare = ''] = address.split('%')
  if (!isIPv6(bare)) return bare
  const mapped = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/i.exec(bare)?.[1]
  if (mapped !== undefined) return mapped
  const [head = '', tail] = bare.toLowerCase().split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  // A dotted end stands for two groups; it is never among the first four.
  const missing = 8 - left.length - right.length - (bare.includes('.') ? 1 : 0)
  const groups = tail === undefined ? left : [...left, ...Array<string>(Math.max(0, missing)).fill('0'), ...right]
  return `${groups
    .slice(0, 4)
    .map((group) => parseInt(group, 16).toString(16))
    .join(':')}::/64`
}
