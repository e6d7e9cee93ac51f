import { z } from 'zod'
import type { Address, Hex } from '../chain/model.ts'

/**
 * The wire formats of both versions. The signed part allows no unknown fields; elsewhere an unknown field is an
 * extension.
 */

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

/** As decimal text, because a JSON number cannot hold it. */
const uint256 = z
  .string()
  .regex(/^(0|[1-9]\d{0,77})$/, 'must be a whole number as decimal text')
  .transform(BigInt)
  .refine((value) => value < 2n ** 256n, 'must be below 2^256')

export const exactPayload = z.object({
  signature: z
    .string()
    .regex(/^0x([0-9a-fA-F]{2})+$/, 'must be 0x and pairs of hexadecimal digits')
    .transform((text) => text.toLowerCase() as Hex),
  authorization: z.strictObject({
    // In its original spelling, because responses name the payer in the same letters.
    from: z.string().regex(ADDRESS, ADDRESS_FAULT),
    to: address,
    value: uint256,
    validAfter: uint256,
    validBefore: uint256,
    nonce: bytes32,
  }),
})

export type ExactPayload = z.output<typeof exactPayload>

const name = z.string().min(1)

/** Networks by their names. */
export const payloadV1 = z.object({
  x402Version: z.literal(1).optional(),
  scheme: name,
  network: name,
  payload: exactPayload,
})

/** An authorization of an unsupported kind (null here) is a refusal, not a mistake in the request. */
const payloadOfAnyKind = z.looseObject({}).transform((payload, context): ExactPayload | null => {
  if ('permit2Authorization' in payload && !('authorization' in payload)) return null
  const parsed = exactPayload.safeParse(payload)
  if (parsed.success) return parsed.data
  // The same issues, moved under this field's path. zod's type requires the input in each of them.
  const issues = parsed.error.issues.map((issue) => ({ ...issue, input: payload }))
  context.issues.push(...(issues as unknown as typeof context.issues))
  return z.NEVER
})

/** Networks by CAIP-2, the accepted terms beside the payload. */
export const payloadV2 = z.object({
  x402Version: z.literal(2).optional(),
  accepted: z.object({ scheme: name, network: name }),
  payload: payloadOfAnyKind,
  extensions: z.record(z.string(), z.unknown()).nullish(),
  /** Only for catalogues, which check it themselves. */
  resource: z.unknown().optional(),
})

/** The terms in a challenge of MPP; only the chain is read, because the rest is compared as a whole. */
export const chargeRequest = z.looseObject({ methodDetails: z.looseObject({ chainId: z.int().positive() }) })

const terms = {
  scheme: name,
  network: name,
  payTo: address,
  asset: address,
  maxTimeoutSeconds: z.number().optional(),
  // No decision here depends on the rest, so only the two names are read.
  extra: z.object({ name: z.string().nullish(), version: z.string().nullish() }).nullish(),
}

const requestV1 = z.object({
  x402Version: z.literal(1),
  paymentPayload: payloadV1,
  paymentRequirements: z.object({
    ...terms,
    maxAmountRequired: uint256,
    // Only for catalogues, which check them themselves.
    resource: z.unknown().optional(),
    description: z.unknown().optional(),
    mimeType: z.unknown().optional(),
    outputSchema: z.unknown().optional(),
  }),
})

const requestV2 = z.object({
  x402Version: z.literal(2),
  paymentPayload: payloadV2,
  paymentRequirements: z.object({ ...terms, amount: uint256 }),
})

/** A payload and the terms it is for, in either version. */
export const paymentRequest = z
  .discriminatedUnion('x402Version', [requestV1, requestV2], { error: 'must be 1 or 2' })
  .meta({ description: 'As in the x402 protocol; a `payment` next to `paymentPayload` is ignored' })
