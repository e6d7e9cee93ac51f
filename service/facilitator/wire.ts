import { z } from 'zod'
import type { Address, Hex, SignedAuthorization } from '../chain/model.ts'

/** Pieces that both versions of the protocol are made of. */

const ADDRESS = /^0x[0-9a-fA-F]{40}$/
const ADDRESS_FAULT = 'must be 0x and 40 hexadecimal digits'

export const address = z
  .string()
  .regex(ADDRESS, ADDRESS_FAULT)
  .transform((text) => text.toLowerCase() as Address)

export const bytes32 = z
  .string()
  .regex(/^0x[0-9a-fA-F]{64}$/, 'must be 0x and 64 hexadecimal digits')
  .transform((text) => text.toLowerCase() as Hex)

/** As decimal text, which is how the protocol writes what a JSON number cannot hold. */
export const uint256 = z
  .string()
  .regex(/^(0|[1-9]\d{0,77})$/, 'must be a whole number as decimal text')
  .transform(BigInt)
  .refine((value) => value < 2n ** 256n, 'must be below 2^256')

const signature = z
  .string()
  .regex(/^0x([0-9a-fA-F]{2})+$/, 'must be 0x and pairs of hexadecimal digits')
  .transform((text) => text.toLowerCase() as Hex)

/** What is signed must be all that there is: an unknown field here is a mistake, elsewhere an extension. */
const authorization = z.strictObject({
  // Kept as it is written: answers name the payer in these letters.
  from: z.string().regex(ADDRESS, ADDRESS_FAULT),
  to: address,
  value: uint256,
  validAfter: uint256,
  validBefore: uint256,
  nonce: bytes32,
})

export const exactPayload = z.object({ signature, authorization })

/** Nothing here decides on it, so nothing but its two names is read. */
export const extra = z.object({ name: z.string().nullish(), version: z.string().nullish() }).nullish()

export function domainOf(given: z.output<typeof extra>): { name: string | null; version: string | null } {
  return { name: given?.name ?? null, version: given?.version ?? null }
}

export function signedOf(payload: z.output<typeof exactPayload>): SignedAuthorization {
  const { authorization: signed, signature: by } = payload
  return { ...signed, from: signed.from.toLowerCase() as Address, signature: by }
}
