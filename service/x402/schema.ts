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

const signature = z
  .string()
  .regex(/^0x([0-9a-fA-F]{2})+$/, 'must be 0x and pairs of hexadecimal digits')
  .transform((text) => text.toLowerCase() as Hex)

export const exactPayload = z.object({
  signature,
  authorization: z.strictObject({
    // In its original spelling, because responses name the payer in the same letters.
    from: z.string().regex(ADDRESS, ADDRESS_FAULT),
    to: address,
    value: uint256,
    validAfter: uint256,
    validBefore: uint256,
    nonce: bytes32,
  }),
  // Only for the escrow, which refuses a payment that lacks them. Elsewhere they mean nothing.
  salt: bytes32.optional().catch(undefined),
  saltNonce: bytes32.optional().catch(undefined),
})

export type ExactPayload = z.output<typeof exactPayload>

/**
 * The longest signature that is asked about, in bytes: a wallet decides what it accepts, and the sponsor pays for the
 * calldata. A passkey's signature has less than 1,000, that of a wallet with 40 owners 2,600.
 */
const SIGNATURE_BYTES_MAX = 4_096

export function isTooLong({ signature }: { signature: Hex }): boolean {
  return signature.length > 2 + 2 * SIGNATURE_BYTES_MAX
}

/** 48 bits, as the escrow stores a time. */
export const unixTime = z
  .int()
  .min(0)
  .max(2 ** 48 - 1)
  .transform(BigInt)
export const basisPoints = z.int().min(0).max(10_000)

/** What a payer signs for Permit2 in the scheme `upto`. A permit of another scheme names no facilitator. */
export const permitPayload = z.object({
  signature,
  permit2Authorization: z.strictObject({
    from: z.string().regex(ADDRESS, ADDRESS_FAULT),
    permitted: z.strictObject({ token: address, amount: uint256 }),
    spender: address,
    nonce: uint256,
    deadline: uint256,
    witness: z.strictObject({ to: address, facilitator: address, validAfter: uint256 }),
  }),
})

export type PermitPayload = z.output<typeof permitPayload>

/** The extension `eip2612GasSponsoring`: the payer's permission for Permit2, which the sponsor hands to the token. */
export const tokenPermitExtension = z.object({
  info: z.looseObject({
    from: address,
    asset: address,
    spender: address,
    amount: uint256,
    deadline: uint256,
    signature: signature.refine((text) => text.length === 132, 'must be 65 bytes'),
  }),
})

/** The messages by which a seller has its operator act on a payment in the escrow. */
const lifecyclePayload = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('capture'),
    ...common(),
    amount: uint256,
    feeAmount: uint256,
    feeReceiver: address,
    expectedCapturableAmount: uint256,
    expectedRefundableAmount: uint256,
    voidAuthorizerSignature: signature.optional(),
  }),
  z.object({ type: z.literal('void'), ...common() }),
  z.object({ type: z.literal('refund'), ...common(), amount: uint256 }),
])

function common() {
  const paymentInfo = z.strictObject({
    operator: address,
    payer: z.string().regex(ADDRESS, ADDRESS_FAULT),
    receiver: address,
    token: address,
    maxAmount: uint256.refine((value) => value < 2n ** 120n, 'must be below 2^120'),
    preApprovalExpiry: unixTime,
    authorizationExpiry: unixTime,
    refundExpiry: unixTime,
    minFeeBps: basisPoints,
    maxFeeBps: basisPoints,
    feeReceiver: address,
    salt: bytes32,
  })
  return { paymentInfo, saltNonce: bytes32, authorizerSignature: signature }
}

export type LifecyclePayload = z.output<typeof lifecyclePayload>

const name = z.string().min(1)

/** Networks by their names. */
export const payloadV1 = z.object({
  x402Version: z.literal(1).optional(),
  scheme: name,
  network: name,
  payload: exactPayload,
})

export type AnyPayload = ExactPayload | LifecyclePayload | PermitPayload

const uptoPermit = z.object({ witness: z.object({ facilitator: z.string() }) })

function namesFacilitator(permit: unknown): boolean {
  return uptoPermit.safeParse(permit).success
}

/** An authorization of an unsupported kind (null here) is a refusal, not a mistake in the request. */
const payloadOfAnyKind = z.looseObject({}).transform((payload, context): AnyPayload | null => {
  const isPermit = 'permit2Authorization' in payload && !('authorization' in payload)
  if (isPermit && !namesFacilitator(payload['permit2Authorization'])) return null
  const isLifecycle = 'paymentInfo' in payload && !('authorization' in payload)
  const parsed = (isPermit ? permitPayload : isLifecycle ? lifecyclePayload : exactPayload).safeParse(payload)
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
  // The rest is for the escrow, which reads it itself.
  extra: z.looseObject({ name: z.string().nullish(), version: z.string().nullish() }).nullish(),
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
