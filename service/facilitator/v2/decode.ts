import { z } from 'zod'
import { NETWORKS, type Network } from '../../chain/networks.ts'
import type { Payment } from '../model.ts'
import { address, domainOf, exactPayload, extra, signedOf, uint256 } from '../wire.ts'

/** An authorization of a kind that is not served is a refusal, not a mistake in the request. */
const permit2Payload = z.object({ permit2Authorization: z.record(z.string(), z.unknown()), authorization: z.undefined().optional() })

/** x402 version 2: networks by CAIP-2, the amount as `amount`, the accepted terms beside the payload. */
export const v2Request = z.object({
  x402Version: z.literal(2),
  paymentPayload: z.object({
    x402Version: z.literal(2).optional(),
    accepted: z.object({ scheme: z.string().min(1), network: z.string().min(1) }),
    payload: z.union([permit2Payload, exactPayload]),
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
  const authorization = 'signature' in payload.payload ? signedOf(payload.payload) : null
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
    authorization,
    payer: authorization?.from ?? null,
    valueMismatch: 'invalid_exact_evm_payload_authorization_value_mismatch',
  }
}

function named(name: string): Network | null {
  return Object.values(NETWORKS).find((network) => network.caip2 === name) ?? null
}
