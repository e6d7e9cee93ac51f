import type { PaymentEventData } from '../../deliveries/model.ts'
import type { Address } from '../../chain/model.ts'
import type { NetworkName } from '../../chain/networks.ts'
import { toWire, type Usdc } from '../../kit/money.ts'
import type { Payment } from '../model.ts'
import { linesWith } from './price.ts'

/** The event data of a failed payment for the seller's endpoints. */
type FailureData = PaymentEventData & { reason: string | null }

export function failureOf(payment: Payment, endpoint: string, now: Date): FailureData {
  return { ...paymentDataOf(payment, endpoint, now), reason: payment.reason }
}

/** The data of a payment, completed or failed. */
export function paymentDataOf(payment: Payment, endpoint: string, now: Date): PaymentEventData {
  const { id, txHash, simulated, right, lines } = payment
  const isPass = right?.kind === 'pass' && right.id !== null
  return {
    ...dataOf(payment, { endpoint, customerId: payment.payer, now }),
    id,
    txHash,
    lines: linesWith(lines, toWire),
    ...(simulated ? { test: true } : {}),
    ...(right === null ? {} : { free: right.kind, ...(isPass ? { passId: right.id ?? '' } : {}) }),
  }
}

/** The same for an authorization that was refused before it became a payment. */
export function refusalDataOf(refused: Refused, endpoint: string, now: Date): FailureData {
  const { checkoutId, terms, payer, reason } = refused
  const payment = { checkoutId, amount: terms.amount, network: terms.network }
  return { ...dataOf(payment, { endpoint, customerId: payer, now }), reason }
}

interface Refused {
  checkoutId: Payment['checkoutId']
  terms: { amount: Usdc; network: NetworkName }
  payer: Address | null
  reason: string
}

function dataOf(
  { checkoutId, amount, network }: Pick<Payment, 'checkoutId' | 'amount' | 'network'>,
  about: { endpoint: string; customerId: string | null; now: Date },
): PaymentEventData {
  const { endpoint, customerId, now } = about
  return {
    id: null,
    checkoutId,
    paywallId: null,
    customerId,
    amount: toWire(amount),
    currency: 'USDC',
    endpoint,
    route: null,
    network,
    txHash: null,
    at: now.toISOString(),
  }
}
