import { isIP, isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'
import { DomainError } from '../kit/errors.ts'
import type { Policy } from './model.ts'
import { addressRefused } from './errors.ts'

/**
 * Why an address may not be called, or null when it may. Only addresses that are known to be public are allowed: a
 * range that is missing here is refused.
 */
export function refusal(address: string, privateAllowed: boolean): string | null {
  if (isIP(address) === 0) return 'not an address'
  const parsed = ipaddr.parse(address)
  if (METADATA.some((range) => within(parsed, range))) return 'cloud metadata'
  const range = parsed.range()
  if (privateAllowed && PRIVATE.has(range)) return null
  if (range !== 'unicast') return NAMES[range] ?? 'reserved'
  // ipaddr.js also reports the unallocated rest of IPv6 as unicast, including the old IPv4-compatible ::/96.
  if (parsed.kind() === 'ipv6' && !within(parsed, GLOBAL_UNICAST)) return 'reserved'
  return null
}

/** The URL of a call. Throws for faults that show without a resolver: the scheme, credentials, a literal address. */
export function toTarget(url: string | URL, policy: Policy): URL {
  const target = URL.canParse(String(url)) ? new URL(String(url)) : undefined
  if (target === undefined) throw addressRefused('the address', 'it is not a URL')
  if (target.protocol !== 'http:' && target.protocol !== 'https:') {
    throw addressRefused('the address', 'only http and https are allowed')
  }
  if (target.username !== '' || target.password !== '') {
    throw addressRefused(target.host, 'URLs with credentials are not allowed; send a header instead')
  }
  const reason = literalRefusal(target.hostname, permitsPrivate(policy, target))
  if (reason !== null) throw addressRefused(target.host, reason)
  return target
}

/** The fault of a host that is a literal address. Null for an allowed address and for every name. */
export function literalRefusal(hostname: string, privateAllowed: boolean): string | null {
  const address = unbracketed(hostname)
  if (isIP(address) === 0) return null
  const range = refusal(address, privateAllowed)
  return range === null ? null : `it is not a public address (${range})${remedyOf(address, hostname)}`
}

/** What the operator can do about a private address. Other refused addresses cannot be allowed. */
function remedyOf(address: string, host: string): string {
  return refusal(address, true) === null ? `; the operator of this server can allow it with ALLOW_HOSTS=${host}` : ''
}

/** Whether the policy allows loopback and private addresses for this host and port. Other ranges stay refused. */
export function permitsPrivate(policy: Policy, target: Pick<URL, 'hostname' | 'port' | 'protocol'>): boolean {
  if (policy.allowPrivate) return true
  const host = plainHost(target.hostname)
  const port = target.port === '' ? (target.protocol === 'https:' ? '443' : '80') : target.port
  return policy.allowHosts.includes(host) || policy.allowHosts.includes(`${host}:${port}`)
}

/** The policy with its hosts in the form that `permitsPrivate` compares. An invalid host stops the start. */
export function normalised(policy: Policy): Policy {
  return { allowPrivate: policy.allowPrivate, allowHosts: policy.allowHosts.map(hostEntry) }
}

function hostEntry(entry: string): string {
  const [, host, port] = isIPv6(entry)
    ? [entry, `[${entry}]`]
    : (/^(\[[^\]]+\]|[^:/@]+)(?::(\d{1,5}))?$/.exec(entry) ?? [])
  if (host === undefined || !URL.canParse(`http://${host}`)) {
    throw new DomainError('invalid', 'host_invalid', `"${entry}" is not a host or host:port.`)
  }
  const plain = plainHost(new URL(`http://${host}`).hostname)
  return port === undefined ? plain : `${plain}:${String(Number(port))}`
}

/**
 * One spelling for each host: IPv6 in brackets, so that a port cannot be read as its last group, and no trailing dot.
 */
function plainHost(hostname: string): string {
  return isIPv6(hostname) ? `[${hostname}]` : hostname.toLowerCase().replace(/\.$/, '')
}

function unbracketed(hostname: string): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
}

type Address = ReturnType<typeof ipaddr.parse>
type Range = readonly [Address, number]

function within(address: Address, [base, bits]: Range): boolean {
  return address.kind() === base.kind() && address.match(base, bits)
}

/**
 * Cloud instances ask these addresses for credentials. Some are in ranges that otherwise count as public or private.
 */
const METADATA: readonly Range[] = [
  '169.254.169.254/32',
  '100.100.100.200/32', // Alibaba
  '168.63.129.16/32', // Azure's wire server, a public address
  '192.0.0.192/32', // Oracle
  'fd00:ec2::/32', // Amazon: ::254 metadata, ::23 pod credentials
  'fd20:ce::254/128', // Google
  'fd00:42::42/128', // Scaleway
  'fd00:c1::a9fe:a9fe/128', // Oracle
].map((text) => ipaddr.parseCIDR(text))

const GLOBAL_UNICAST: Range = ipaddr.parseCIDR('2000::/3')

const PRIVATE: ReadonlySet<string> = new Set(['loopback', 'private', 'uniqueLocal'])

const NAMES: Readonly<Record<string, string>> = {
  unspecified: 'unspecified',
  broadcast: 'broadcast',
  multicast: 'multicast',
  linkLocal: 'link-local',
  loopback: 'loopback',
  carrierGradeNat: 'carrier-grade NAT',
  private: 'private',
  uniqueLocal: 'private',
  deprecatedSiteLocal: 'site-local',
  ipv4Mapped: 'IPv4 inside IPv6',
  rfc6145: 'IPv4 inside IPv6',
  rfc6052: 'NAT64',
  '6to4': '6to4',
  teredo: 'Teredo',
}
