import { toDecimal } from '../../kit/money.ts'
import { paymentRequired, receiptHeader } from '../../x402/answers.ts'
import type { Price, Requirements, Resource, Version } from '../../x402/model.ts'
import { requirementsOf as required } from '../../x402/requirements.ts'
import { ZERO_ADDRESS, type Offer, type Payment } from '../model.ts'

/** The requirements in both versions of x402. */
export function requirementsOf(price: Price, resource: Resource): Requirements {
  return required(price, resource, { input: { type: 'http' } })
}

export function toRequired(offer: Offer, told: { error: string; reason: string | null; fields?: object }) {
  const { name, facilitator, network, pricing, testMode, expiresAt } = offer
  const memo = offer.description ?? name
  const recipient = offer.recipient ?? ZERO_ADDRESS
  const resource = { url: offer.resource, description: memo, mimeType: offer.mimeType }
  const requirements = testMode ? null : requirementsOf({ amount: offer.amount, recipient, network }, resource)
  const more = { expires: expiresAt.toISOString(), pricing, testMode, ...told.fields }
  const { error, reason } = told
  const amount = toDecimal(offer.amount)
  return paymentRequired({ requirements, resource, amount, facilitator, recipient, memo, error, reason, more })
}

/** The receipt header in which a client of that version expects the payment's result. */
export function receiptOf(
  payment: Pick<Payment, 'state' | 'txHash' | 'payer' | 'reason' | 'network'>,
  version: Version,
) {
  const { state, txHash, network, payer, reason } = payment
  return receiptHeader({ success: state === 'paid', txHash, network, payer, reason }, version)
}
