import { isIPv6 } from 'node:net'

/** Calls once an answer's connection is closed: at once where that has happened, after which no event comes any more. */
export function whenClosed(response: Closing, act: () => void): void {
  if (response.closed) act()
  else response.once('close', act)
}

interface Closing {
  readonly closed: boolean
  once(event: 'close', act: () => void): unknown
}

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
 * Whether the header `Sec-Fetch-Site` says that a page of another site made the request. `same-site` counts as another:
 * it is another host of the same domain.
 */
export function isOfAnotherSite(fetchSite: string | readonly string[] | null | undefined): boolean {
  return fetchSite === 'cross-site' || fetchSite === 'same-site'
}

/** How many seconds a caller is ready to wait for an answer (`Prefer: wait=60`, RFC 7240). */
export function preferredWait(prefer: string | undefined): number {
  const seconds = Number(/(?:^|[,;\s])wait=(\d{1,3})(?:$|[,;\s])/.exec(prefer ?? '')?.[1] ?? 0)
  return Math.min(seconds, WAIT_SECONDS_MAX)
}

/** Shorter than the idle time after which proxies commonly close a request. */
const WAIT_SECONDS_MAX = 120

/**
 * The group of addresses that counts as one caller for limits on requests and connections. Providers give each customer
 * a whole /64 of IPv6, so its addresses are one group. An IPv4 address written as IPv6 counts as the IPv4 address.
 */
export function addressGroup(address: string): string {
  const [bare = ''] = address.split('%')
  if (!isIPv6(bare)) return bare
  const mapped = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/i.exec(bare)?.[1]
  if (mapped !== undefined) return mapped
  const [head = '', tail] = bare.toLowerCase().split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  // A dotted IPv4 part at the end stands for two groups. It is never among the first four.
  const missing = 8 - left.length - right.length - (bare.includes('.') ? 1 : 0)
  const groups = tail === undefined ? left : [...left, ...Array<string>(Math.max(0, missing)).fill('0'), ...right]
  return `${groups
    .slice(0, 4)
    .map((group) => parseInt(group, 16).toString(16))
    .join(':')}::/64`
}

/** Whether an address of ours is reached from this machine alone. */
export function isLocalAddress(address: string): boolean {
  return isLocalHost(new URL(address).host)
}

export function isLocalHost(host: string): boolean {
  return isLoopback(host.replace(/:\d{1,5}$/, ''))
}

/** Whether a name or an address, without a port, is this machine's own. */
export function isLoopback(hostname: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname)
}
