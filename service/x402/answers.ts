import { NETWORKS, type NetworkName } from '../chain/networks.ts'
import type { Requirements, Resource, Version } from './model.ts'

/** What a 402 says beside what has to be signed. */
export interface Required {
  /** Null where nothing can be signed for: in test mode. */
  requirements: Requirements | null
  resource: Resource
  /** In USDC, as a decimal. */
  amount: string
  facilitator: string
  recipient: string
  /** For people. */
  memo: string
  error: string
  /** Why what was presented is refused, in the words of the protocol; null where nothing was. */
  reason: string | null
  /** Further fields of the body. */
  more?: Readonly<Record<string, unknown>>
}

/** The specification's 402, version 1's body and version 2's header in one answer. */
export function paymentRequired(required: Required): {
  headers: Readonly<Record<string, string>>
  body: Readonly<Record<string, unknown>>
} {
  const { requirements, resource, amount, facilitator, recipient, memo, error, reason, more } = required
  const second = {
    x402Version: 2,
    error: reason ?? error,
    resource,
    accepts: requirements === null ? [] : [requirements.v2],
  }
  return {
    headers: {
      'Cache-Control': 'no-store',
      'PAYMENT-REQUIRED': toHeader(second),
      'X-Payment-Required': 'true',
      'X-Payment-Amount': amount,
      'X-Payment-Currency': 'USDC',
      'X-Payment-Facilitator': facilitator,
    },
    body: {
      x402Version: 1,
      error,
      reason,
      code: reason === null ? 'payment_required' : 'payment_refused',
      accepts: requirements === null ? [] : [requirements.v1],
      type: 'x402',
      amount,
      currency: 'USDC',
      facilitator,
      recipient,
      memo,
      ...more,
    },
  }
}

/** What became of a payment. */
export interface Receipt {
  success: boolean
  txHash: string | null
  network: NetworkName
  payer: string
  reason?: string | null
}

/** Where a client of that version looks for what became of its payment. */
export function receiptHeader({ success, txHash, network, payer, reason }: Receipt, version: Version) {
  const { name, caip2 } = NETWORKS[network]
  const receipt = toHeader({
    success,
    transaction: txHash ?? '',
    network: version === 1 ? name : caip2,
    payer,
    ...(reason == null ? {} : { errorReason: reason }),
  })
  return [version === 1 ? 'X-PAYMENT-RESPONSE' : 'PAYMENT-RESPONSE', receipt] as const
}

/** A value as one header carries it. */
export function toHeader(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64')
}
