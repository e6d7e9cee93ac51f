import { z } from 'zod'
import { NETWORKS, type Network } from '../../chain/networks.ts'
import type { Payment } from '../model.ts'
import { address, domainOf, exactPayload, extra, signedOf, uint256 } from '../wire.ts'

/** x402 version 1: networks by their names, the amount as `maxAmountRequired`, the terms in the payload itself. */
export const v1Request = z.object({
  x402Version: z.literal(1),
  paymentPayload: z.object({
    x402Version: z.literal(1).optional(),
    scheme: z.string().min(1),
    network: z.string().min(1),
    payload: exactPayload,
  }),
  paymentRequirements: z.object({
    scheme: z.string().min(1),
    network: z.string().min(1),
    maxAmountRequired: uint256,
    payTo: address,
    asset: address,
    maxTimeoutSeconds: z.number().optional(),
    extra,
  }),
})

export function fromV1(request: z.output<typeof v1Request>): Payment {
  const { paymentPayload: payload, paymentRequirements: terms } = request
  return {
    version: 1,
    offered: { scheme: payload.scheme, network: payload.network },
    asked: {
      scheme: terms.scheme,
      network: terms.network,
      payTo: terms.payTo,
      asset: terms.asset,
      amount: terms.maxAmountRequired,
      domain: domainOf(terms.extra),
    },
    network: named(terms.network),
    authorization: signedOf(payload.payload),
    payer: payload.payload.authorization.from,
    valueMismatch: 'invalid_exact_evm_authorization_value',
  }
}

function named(name: string): Network | null {
  return Object.values(NETWORKS).find((network) => network.name === name) ?? null
}
