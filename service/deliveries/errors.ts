import { DomainError, invalid } from '../kit/errors.ts'

export function deliveryMissing(): DomainError {
  return new DomainError('missing', 'delivery_not_found', 'There is no such delivery.')
}

export function endpointMissing(): DomainError {
  return new DomainError('missing', 'webhook_endpoint_not_found', 'There is no such webhook endpoint.')
}

export function endpointOff(): DomainError {
  const sentence = 'The webhook endpoint is disabled or deleted: enable it first.'
  return new DomainError('conflict', 'webhook_endpoint_disabled', sentence)
}

export function endpointNotFetched(): DomainError {
  const sentence =
    'The events of this webhook endpoint are sent to its address. Create one whose url is listen: and a name.'
  return new DomainError('conflict', 'webhook_endpoint_not_fetched', sentence)
}

export function tooManyEndpoints(most: number): DomainError {
  const sentence = `An account has at most ${String(most)} webhook endpoints in an environment.`
  return new DomainError('conflict', 'too_many_webhook_endpoints', sentence)
}

/** The guarded client refused the address and gives the reason. */
export function urlRefused(refusal: DomainError): DomainError {
  return invalid({ url: refusal.message }, refusal.code)
}

export function wayFixed(): DomainError {
  return invalid({ url: 'cannot change between listen: and an address; create another endpoint' })
}

export function redeliveryRefused(): DomainError {
  return new DomainError(
    'conflict',
    'not_charged',
    'This payment was not charged, or goes back to its payer, so its workflow is not run again. Ask the customer to order again.',
  )
}
