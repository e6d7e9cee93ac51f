import { z } from 'zod'
import { fromDecimal } from '../money.ts'
import { onrampFault } from '../onramp.ts'
import { withoutTrailing } from '../text.ts'

/** Settings as variables have them. The error of each says what may be written. */

export const flag = z.enum(['true', 'false'], { error: 'must be true or false' }).transform((value) => value === 'true')

export function whole(least: number, most: number) {
  const range = `must be a whole number from ${String(least)} to ${String(most)}`
  return z
    .string()
    .regex(/^\d{1,15}$/, range)
    .transform(Number)
    .refine((value) => value >= least && value <= most, range)
}

export const list = z.string().transform((text) =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== ''),
)

/** `name=value`, several with commas between. */
export const pairs = list
  .refine((items) => items.every((item) => /^[^=\s]+=./.test(item)), { error: 'must list name=value' })
  .transform((items) =>
    Object.fromEntries(items.map((item) => [item.slice(0, item.indexOf('=')), item.slice(item.indexOf('=') + 1)])),
  )

export const address = z
  .url({ protocol: /^https?$/, error: 'must be an http or https address' })
  .transform((text) => withoutTrailing(text, '/'))

/** A place that sells USDC, with {amount}, {address} and {network} to be filled in. */
export const onramp = z.string().superRefine((template, context) => {
  const message = onrampFault(template)
  if (message !== null) context.addIssue({ code: 'custom', message })
})

export const addresses = list.pipe(z.array(address))

/** Each as browsers send it. A pattern such as `*` would let the pages of any site send requests with a person's cookie. */
export const origins = list.superRefine((entries, context) => {
  for (const entry of entries) {
    if (isOrigin(entry)) continue
    const message = `must list origins, such as https://app.example.com, without a path or a pattern; ${entry} is none`
    context.addIssue({ code: 'custom', message })
  }
})

/** Pages of browser extensions and of apps have schemes of their own, whose origin `URL` does not know. */
function isOrigin(text: string): boolean {
  if (!URL.canParse(text) || text.includes('*')) return false
  const { origin, protocol, host } = new URL(text)
  return text === (origin === 'null' && host !== '' ? `${protocol}//${host}` : origin)
}

/** ETH in wei; a decimal number of ETH is what people have in mind. */
export const ether = z
  .string()
  .regex(/^\d{1,9}(\.\d{1,18})?$/, 'must be an amount of ETH with at most 18 decimals')
  .transform((text) => {
    const [whole = '0', fraction = ''] = text.split('.')
    return BigInt(whole + fraction.padEnd(18, '0'))
  })

/** USDC in micro-dollars; 0 is no limit where it is one. */
export const dollars = z
  .string()
  .regex(/^\d{1,9}(\.\d{1,6})?$/, 'must be an amount of USDC with at most 6 decimals')
  .transform(fromDecimal)

/** BIP-32; whether it is whole is found out at the start, by the code that uses it. */
export function extendedKey(kind: 'xpub' | 'xprv') {
  const other =
    kind === 'xpub' ? 'an extended public key, xpub…: never one that can sign' : 'an extended private key, xprv…'
  return z.string().regex(new RegExp(`^${kind}[1-9A-HJ-NP-Za-km-z]{107}$`), `must be ${other}`)
}

export const privateKeys = list.refine((keys) => keys.every((key) => /^0x[0-9a-fA-F]{64}$/.test(key)), {
  error: 'must list private keys, each 0x and 64 hexadecimal digits',
})

export const publicAddresses = list
  .refine((all) => all.every((one) => /^0x[0-9a-fA-F]{40}$/.test(one)), {
    error: 'must list addresses, each 0x and 40 hexadecimal digits',
  })
  .transform((all) => all.map((one) => one.toLowerCase()))

const coordinate = z.string().regex(/^[A-Za-z0-9_-]{43}$/)
/** Strict, so that a private part is refused. */
const publishedKey = z.strictObject({
  kty: z.enum(['OKP', 'EC']),
  crv: z.enum(['Ed25519', 'secp256k1']),
  x: coordinate,
  y: coordinate.optional(),
  alg: z.enum(['EdDSA', 'ES256K']),
  kid: z.string().regex(/^[\w-]{1,64}$/),
})

/** A public key of signed offers and receipts, as `publicKeyJwk` in /.well-known/did.json. */
export type PublishedKey = z.output<typeof publishedKey>

export const publishedKeys = z.string().transform((text, context) => {
  try {
    return z.array(publishedKey).max(50).parse(JSON.parse(text))
  } catch {
    context.addIssue({ code: 'custom', message: 'must be a JSON list of publicKeyJwk from /.well-known/did.json' })
    return z.NEVER
  }
})

/** An address of a server that has a password in it. */
export function server(protocol: RegExp, error: string) {
  return z.url({ protocol, error, abort: true }).refine(isEncoded, 'has a % that is not encoded: write it as %25')
}

function isEncoded(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

export const database = server(/^postgres(ql)?$/, 'must be a postgres:// address')
export const redis = server(/^rediss?$/, 'must be a redis:// address')
