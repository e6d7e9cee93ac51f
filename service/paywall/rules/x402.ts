import { toDecimal } from '../../kit/money.ts'
import type { Required } from '../../x402/dialects.ts'
import type { Price, Requirements, Resource } from '../../x402/model.ts'
import { requirementsOf as required } from '../../x402/requirements.ts'
import { ZERO_ADDRESS, type Offer } from '../model.ts'

/** The requirements in both versions of x402. */
export function requirementsOf(price: Price, resource: Resource): Requirements {
  return required(price, resource, { input: { type: 'http' } })
}

/** The contents of the 402 for this offer. */
export function toRequired(offer: Offer, told: { error: string; reason: string | null; fields?: object }): Required {
  const { name, facilitator, network, pricing, testMode, expiresAt } = offer
  const memo = offer.description ?? name
  const recipient = offer.recipient ?? ZERO_ADDRESS
  const resource = { url: offer.resource, description: memo, mimeType: offer.mimeType }
  const requirements = testMode ? null : requirementsOf({ amount: offer.amount, recipient, network }, resource)
  const more = { expires: expiresAt.toISOString(), pricing, testMode, ...told.fields }
  const { error, reason } = told
  const amount = toDecimal(offer.amount)
  return { requirements, resource, amount, facilitator, recipient, memo, error, reason, more }
}
