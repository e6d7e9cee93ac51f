import { DomainError } from '../kit/errors.ts'

/** The same for a payment that does not exist and for the token of another one. */
export function receiptMissing(): DomainError {
  const sentence = 'There is no such receipt. Open the complete link, including its token.'
  return new DomainError('missing', 'receipt_not_found', sentence)
}

export function invoiceMissing(): DomainError {
  return new DomainError('missing', 'invoice_not_found', 'There is no invoice for this payment yet. Ask for one first.')
}

export function invoicingOff(): DomainError {
  const sentence = 'This seller issues no invoices here. Contact the seller directly.'
  return new DomainError('conflict', 'invoicing_off', sentence)
}

export function notPaid(): DomainError {
  const sentence = 'Nothing was paid yet. Wait until the payment has arrived.'
  return new DomainError('conflict', 'invoice_not_possible', sentence)
}

/** A number of the real series must stand for a real sale. */
export function notReal(): DomainError {
  const sentence = 'This payment moved no real money, so there is no invoice for it. Try invoices in the sandbox.'
  return new DomainError('conflict', 'invoice_not_possible', sentence)
}

export function wentBack(): DomainError {
  const sentence = 'All of this payment goes back to its buyer, so there is no invoice for it.'
  return new DomainError('conflict', 'invoice_not_possible', sentence)
}

export function noReceiptAddress(): DomainError {
  const sentence = 'No e-mail address can receive this receipt. Send the link of the receipt instead.'
  return new DomainError('conflict', 'no_receipt_address', sentence)
}

export function tooManyMails(): DomainError {
  const sentence = 'This receipt was mailed too often. Try again in an hour, or open its link.'
  return new DomainError('limited', 'too_many_mails', sentence, { retryAfterSeconds: 3_600 })
}
