import { DomainError, invalid } from '../kit/errors.ts'
import type { DisputeState } from './model.ts'

export function disputeMissing(): DomainError {
  return new DomainError('missing', 'dispute_not_found', 'You have no such dispute.')
}

/** The same for a payment that does not exist and for a proof of another one. */
export function paymentUnknown(): DomainError {
  const sentence =
    'There is no such payment, or this does not prove that it is yours. Use the link of your receipt, or sign with the wallet that paid.'
  return new DomainError('missing', 'receipt_not_found', sentence)
}

export function disputeEnded(state: DisputeState): DomainError {
  const sentence =
    state === 'refunding'
      ? 'A refund of this payment is on its way. You can answer again if it fails.'
      : `This dispute has ended: it was ${state}. To send money back, refund the payment.`
  return new DomainError('conflict', 'dispute_not_open', sentence, { state })
}

export function outsideWindow(days: number): DomainError {
  const sentence =
    days === 0
      ? 'This seller takes no reports here. Contact the seller directly.'
      : `A problem can be reported within ${String(days)} days of the payment. Contact the seller directly.`
  return new DomainError('conflict', 'dispute_outside_window', sentence, { windowDays: days })
}

export function notPaid(state: string): DomainError {
  const sentence =
    state === 'refunded'
      ? 'This payment was refunded already.'
      : 'Nothing was paid yet. Wait until the payment has arrived.'
  return new DomainError('conflict', 'dispute_not_possible', sentence, { state })
}

export function signatureExpired(): DomainError {
  const sentence = 'The signature has expired, or its expiry is more than an hour ahead. Sign again.'
  return new DomainError('expired', 'signature_expired', sentence)
}

export function requestConflict(): DomainError {
  const sentence = 'This idempotency key was used for another request. Use a new key for a new request.'
  return new DomainError('conflict', 'idempotency_conflict', sentence)
}

export function requestMissing(): DomainError {
  return new DomainError('missing', 'refund_request_not_found', 'There is no refund request with this key.')
}

export function unproven(): DomainError {
  return invalid({ payerSignature: 'is required with `expiresAt`, unless X-Payment-Token proves the payer' })
}
