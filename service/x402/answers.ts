import { NETWORKS, type NetworkName } from '../chain/networks.ts'
import type { Requirements, Resource, Version } from './model.ts'

/** The contents of a 402 besides the terms to sign. */
export interface Required {
  /** Null when there is nothing to sign: in test mode. */
  requirements: Requirements | null
  resource: Resource
  /** In USDC, as a decimal. */
  amount: string
  facilitator: string
  recipient: string
  /** A text for people. */
  memo: string
  error: string
  /** The protocol's reason why the presented payment is refused. Null when no payment was presented. */
  reason: string | null
  /** Further fields of the body. */
  more?: Readonly<Record<string, unknown>>
}

/** The specification's 402: version 1's body and version 2's header in one response. */
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

/** The result of a payment. */
export interface Receipt {
  success: boolean
  txHash: string | null
  network: NetworkName
  payer: string
  reason?: string | null
}

/** The header in which a client of that version finds its payment's result. */
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

/** A value encoded for one header. */
export function toHeader(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64')
}
