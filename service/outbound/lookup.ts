import { lookup } from 'node:dns/promises'
import { isIPv6, type LookupFunction } from 'node:net'
import { refusal } from './addresses.ts'
import { addressRefused, addressUnresolvable } from './errors.ts'
import type { Resolve } from './model.ts'

/**
 * What `net.connect` asks on its way to a host. The connection goes to one of the very addresses that were
 * checked here; nothing resolves the name a second time, so a name that changes its mind wins nothing.
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
 * A host's addresses, all of them fit to be called. One bad address among good ones refuses the host: an
 * honest one has no such answer, and dropping only the bad one would hide a trick that is being tried.
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
      // One sentence for every reason: which kind of address a name leads to inside is not for callers to learn.
      throw addressRefused(hostname, NOT_PUBLIC, new Error(`${address}: ${reason}`))
    }
  }
  return [first, ...others]
}

const NOT_PUBLIC = 'it is not at a public address; the operator of this server can allow a private one with ALLOW_HOSTS'

/** The operating system's resolver, with its hosts file, as every other program here uses it. */
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
