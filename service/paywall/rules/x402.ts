import { NETWORKS, type NetworkName } from '../../chain/networks.ts'
import { exactTerms, toHeader } from '../../chain/x402.ts'
import { toDecimal, type Usdc } from '../../kit/money.ts'
import { ZERO_ADDRESS, type HeaderList, type Offer, type Payment } from '../model.ts'
import type { Presented } from './payload.ts'

/** What has to be signed for. */
export interface Price {
  amount: Usdc
  recipient: `0x${string}`
  network: NetworkName
}

interface Described {
  resource: string
  description: string
  mimeType: string
}

/** In the words of either version. */
export function requirementsOf(price: Price, described: Described) {
  const { v1, v2 } = exactTerms(price)
  return { v1: { ...v1, ...described, outputSchema: { input: { type: 'http' } } }, v2 }
}

/** The request to a facilitator. */
export function requestOf(
  { version, payload }: Pick<Presented, 'version' | 'payload'>,
  price: Price,
  described: Described,
) {
  const { v1, v2 } = requirementsOf(price, described)
  return { x402Version: version, paymentPayload: payload, paymentRequirements: version === 1 ? v1 : v2 }
}

/** The specification's 402, version 1's body and version 2's header in one answer. */
export function toRequired(offer: Offer, told: { error: string; reason: string | null; fields?: object }) {
  const amount = toDecimal(offer.amount)
  const description = offer.description ?? offer.name
  const { resource, mimeType } = offer
  const recipient = offer.recipient ?? ZERO_ADDRESS
  const { v1, v2 } = requirementsOf(
    { amount: offer.amount, recipient, network: offer.network },
    { resource, description, mimeType },
  )
  const second = {
    x402Version: 2,
    error: told.reason ?? told.error,
    resource: { url: resource, description, mimeType },
    accepts: offer.testMode ? [] : [v2],
  }
  const headers: HeaderList = [
    ['Cache-Control', 'no-store'],
    ['PAYMENT-REQUIRED', toHeader(second)],
    ['X-Payment-Required', 'true'],
    ['X-Payment-Amount', amount],
    ['X-Payment-Currency', 'USDC'],
    ['X-Payment-Facilitator', offer.facilitator],
  ]
  const body = {
    x402Version: 1,
    error: told.error,
    reason: told.reason,
    code: told.reason === null ? 'payment_required' : 'payment_refused',
    accepts: offer.testMode ? [] : [v1],
    type: 'x402',
    amount,
    currency: 'USDC',
    facilitator: offer.facilitator,
    recipient,
    memo: description,
    expires: offer.expiresAt.toISOString(),
    pricing: offer.pricing,
    testMode: offer.testMode,
    ...told.fields,
  }
  return { headers, body }
}

/** Where a client of that version looks for what became of its payment. */
export function receiptOf(payment: Pick<Payment, 'state' | 'txHash' | 'payer' | 'reason' | 'network'>, version: 1 | 2) {
  const network = NETWORKS[payment.network]
  const receipt = toHeader({
    success: payment.state === 'paid',
    transaction: payment.txHash ?? '',
    network: version === 1 ? network.name : network.caip2,
    payer: payment.payer,
    ...(payment.reason === null ? {} : { errorReason: payment.reason }),
  })
  return [version === 1 ? 'X-PAYMENT-RESPONSE' : 'PAYMENT-RESPONSE', receipt] as const
}
