import { DomainError } from '../../kit/errors.ts'

/** Its creator is paid by a run, and a run has an account. */
export function needsKey(): DomainError {
  return new DomainError('invalid', 'needs_key', 'This tool is called with an API key: POST to its own address.', {
    details: { slug: 'is a creator’s tool, or free: it is not paid for by x402' },
  })
}

export function paymentMissing(): DomainError {
  return new DomainError('missing', 'payment_not_found', 'There is no such payment.')
}
