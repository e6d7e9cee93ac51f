import { lookup } from 'node:dns/promises'
import { isIPv6, type LookupFunction } from 'node:net'
import { refusal } from './addresses.ts'
import { addressRefused, addressUnresolvable } from './errors.ts'
import type { Resolve } from './model.ts'

/**
 * The lookup function of `net.connect`. The connection goes to one of the addresses that were checked here. The name is
 * not resolved a second time, so a name that changes its address in between gains nothing.
 */
export function guardedLookup(resolve: Resolve, privateAllowed: boolean): LookupFunction {
  return (hostname, options, callback) => {
    locate(resolve, hostname, privateAllowed, 'upstream').then(
      ([first, ...others]) => {
        if (options.all === true) callback(null, [first, ...others].map(withFamily))
        else callback(null, first, familyOf(first))
      },
      (error: unknown) => {
        callback(error as Error, [])
      },
    )
  }
}

/**
 * The addresses of a host, all of them allowed. One refused address refuses the whole host: an honest host has no such
 * address, and dropping only that one would hide an attack.
 */
export async function locate(
  resolve: Resolve,
  hostname: string,
  privateAllowed: boolean,
  unresolvableAs: 'invalid' | 'upstream',
): Promise<[string, ...string[]]> {
  const [first, ...others] = await resolve(hostname).catch((error: unknown) => {
    throw addressUnresolvable(hostname, unresolvableAs, error)
  })
  if (first === undefined) throw addressUnresolvable(hostname, unresolvableAs)
  for (const address of [first, ...others]) {
    const reason = refusal(address, privateAllowed)
    if (reason !== null) {
      // The same message for every reason: callers must not learn which kind of internal address a name leads to.
      throw addressRefused(hostname, NOT_PUBLIC, new Error(`${address}: ${reason}`))
    }
  }
  return [first, ...others]
}

const NOT_PUBLIC = 'it is not at a public address; the operator of this server can allow a private one with ALLOW_HOSTS'

/** The operating system's resolver, including its hosts file, as other programs on this machine use it. */
export const systemResolve: Resolve = async (hostname) => {
  const answers = await lookup(hostname, { all: true })
  return answers.map(({ address }) => address)
}

function withFamily(address: string): { address: string; family: number } {
  return { address, family: familyOf(address) }
}

function familyOf(address: string): 4 | 6 {
  return isIPv6(address) ? 6 : 4
}
