import { z } from 'zod'
import type { Authorization } from '../chain/model.ts'
import type { Network } from '../chain/networks.ts'

/** What a wallet's `eth_signTypedData_v4` signs so that this transfer of USDC may be carried out once (EIP-3009). */
export function transferTypedData(network: Network, authorization: Authorization) {
  const { name, version, checksummed } = network.usdc
  const { value, validAfter, validBefore } = authorization
  return {
    domain: { name, version, chainId: network.chainId, verifyingContract: checksummed },
    types: {
      EIP712Domain: [
        { name: 'name', type: 'string' },
        { name: 'version', type: 'string' },
        { name: 'chainId', type: 'uint256' },
        { name: 'verifyingContract', type: 'address' },
      ],
      TransferWithAuthorization: [
        { name: 'from', type: 'address' },
        { name: 'to', type: 'address' },
        { name: 'value', type: 'uint256' },
        { name: 'validAfter', type: 'uint256' },
        { name: 'validBefore', type: 'uint256' },
        { name: 'nonce', type: 'bytes32' },
      ],
    },
    primaryType: 'TransferWithAuthorization' as const,
    message: {
      ...authorization,
      value: String(value),
      validAfter: String(validAfter),
      validBefore: String(validBefore),
    },
  }
}

const fields = z.array(z.object({ name: z.string(), type: z.string() }))

export const transferTypedDataOut = z
  .object({
    domain: z.object({ name: z.string(), version: z.string(), chainId: z.int(), verifyingContract: z.string() }),
    types: z.object({ EIP712Domain: fields, TransferWithAuthorization: fields }),
    primaryType: z.literal('TransferWithAuthorization'),
    message: z.object({
      from: z.string(),
      to: z.string(),
      value: z.string(),
      validAfter: z.string(),
      validBefore: z.string(),
      nonce: z.string(),
    }),
  })
  .meta({ id: 'TransferTypedData' })
