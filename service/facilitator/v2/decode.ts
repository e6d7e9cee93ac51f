import { z } from 'zod'
import { NETWORKS, type Network } from '../../chain/networks.ts'
import type { Payment } from '../model.ts'
import { address, domainOf, exactPayload, extra, signedOf, uint256 } from '../wire.ts'

/** An authorization of a kind that is not served (null here) is a refusal, not a mistake in the request. */
const payloadOfAnyKind = z.looseObject({}).transform((payload, context): z.output<typeof exactPayload> | null => {
  if ('permit2Authorization' in payload && !('authorization' in payload)) return null
  const parsed = exactPayload.safeParse(payload)
  if (parsed.success) return parsed.data
  // The same issues, under this field's path: zod's type wants each with the input that its own kind names.
  const issues = parsed.error.issues.map((issue) => ({ ...issue, input: payload }))
  context.issues.push(...(issues as unknown as typeof context.issues))
  return z.NEVER
})

/** x402 version 2: networks by CAIP-2, the amount as `amount`, the accepted terms beside the payload. */
export const v2Request = z.object({
  x402Version: z.literal(2),
  paymentPayload: z.object({
    x402Version: z.literal(2).optional(),
    accepted: z.object({ scheme: z.string().min(1), network: z.string().min(1) }),
    payload: payloadOfAnyKind,
  }),
  paymentRequirements: z.object({
    scheme: z.string().min(1),
    network: z.string().min(1),
    amount: uint256,
    payTo: address,
    asset: address,
    maxTimeoutSeconds: z.number().optional(),
    extra,
  }),
})

export function fromV2(request: z.output<typeof v2Request>): Payment {
  const { paymentPayload: payload, paymentRequirements: terms } = request
  return {
    version: 2,
    offered: payload.accepted,
    asked: {
      scheme: terms.scheme,
      network: terms.network,
      payTo: terms.payTo,
      asset: terms.asset,
      amount: terms.amount,
      domain: domainOf(terms.extra),
    },
    network: named(terms.network),
    authorization: payload.payload === null ? null : signedOf(payload.payload),
    payer: payload.payload?.authorization.from ?? null,
    valueMismatch: 'invalid_exact_evm_payload_authorization_value_mismatch',
  }
}

function named(name: string): Network | null {
  return Object.values(NETWORKS).find((network) => network.caip2 === name) ?? null
}
