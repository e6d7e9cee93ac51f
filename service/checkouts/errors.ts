import { DomainError, invalid } from '../kit/errors.ts'
import type { Sale } from '../sales/model.ts'

/** No process knows a sponsor's address that could end the payment. */
export function escrowUnavailable(): DomainError {
  return new DomainError(
    'unavailable',
    'escrow_unavailable',
    'Payments that wait in the escrow are not available on this server right now. Nothing was charged. Try again later.',
    { retryAfterSeconds: 60 },
  )
}

/** The same for a checkout that never existed, an expired one, and another account's. */
export function checkoutMissing(): DomainError {
  return new DomainError(
    'missing',
    'checkout_not_found',
    'This checkout does not exist or has expired. Ask the seller for a new link.',
  )
}

/** An ended checkout takes no changes: its link is known to be dead. */
export function checkoutEnded(): DomainError {
  const sentence = 'This checkout has ended and cannot be changed. Create a new one.'
  return new DomainError('conflict', 'checkout_ended', sentence)
}

/** The node would undo a change that is made elsewhere. */
export function checkoutOfWorkflow(): DomainError {
  const sentence = 'This checkout belongs to a node in n8n. Change the node, and publish the workflow again.'
  return new DomainError('conflict', 'checkout_of_workflow', sentence)
}

export function checkoutChanged(version: number): DomainError {
  const sentence = `This checkout has been edited since: it is now at version ${String(version)}. Reload it and apply your change again.`
  return new DomainError('conflict', 'version_conflict', sentence, { version })
}

export function paymentMissing(): DomainError {
  return new DomainError('missing', 'payment_not_found', 'There is no such payment at this checkout.')
}

/** The seller's report came after the outcome was decided, and says something else. */
export function outcomeKnown({ id, state, result }: Pick<Sale, 'id' | 'state' | 'result'>): DomainError {
  const sentence =
    state === 'failed'
      ? 'This payment has ended without a charge, so its outcome cannot be changed.'
      : 'The outcome of this payment was already reported and cannot be changed. To return the money, refund the payment.'
  return new DomainError('conflict', 'outcome_known', sentence, {
    paymentId: id,
    paid: state === 'paid' || state === 'refunded',
    outcome: result?.status ?? null,
  })
}

/** This wallet could not be charged for finished work before. */
export function payerDefaulted(until: Date): DomainError {
  const sentence =
    'A finished order of this wallet could not be charged, so it cannot buy here until it is trusted again. Pay with another wallet. Nothing was charged.'
  return new DomainError('forbidden', 'payer_defaulted', sentence, { until: until.toISOString() })
}

/** The workflow did not do what was bought, so the held payment was given up. */
export function workFailed(paymentId: string, code: string, sentence: string): DomainError {
  return new DomainError('upstream', code, sentence, { paymentId, charged: false })
}

export function receiptMissing(): DomainError {
  const sentence = 'There is no such receipt. Open the complete link, including its token.'
  return new DomainError('missing', 'receipt_not_found', sentence)
}

export function badProof(why: string): DomainError {
  return invalid({ paymentId: why }, 'invalid_payment')
}

/** No money is taken for a workflow that does not respond. */
export function workflowUnavailable(): DomainError {
  return new DomainError(
    'unavailable',
    'workflow_unavailable',
    'The workflow behind this checkout is not available right now. Nothing was charged. Try again later.',
    { retryAfterSeconds: 60 },
  )
}

export function inTestMode(): DomainError {
  return invalid(
    { paymentPayload: 'must be absent: this checkout is in test mode and takes `simulate: true`' },
    'test_mode',
  )
}

export function notInTestMode(): DomainError {
  return invalid({ simulate: 'must be absent: this checkout is not in test mode' }, 'not_test_mode')
}

/** An account's purchase that gave no result. The outgoing payment has what became of the money. */
export function notBought(status: number | null, payment: Readonly<Record<string, string>>): DomainError {
  const why = status === null ? 'did not answer in time' : `answered with status ${String(status)}`
  const charged = 'paymentId' in payment ? 'The payment shows whether it was charged.' : 'Nothing was charged.'
  return new DomainError('upstream', 'not_bought', `The checkout ${why}. ${charged}`, payment)
}

export function orderExpired(): DomainError {
  return new DomainError(
    'expired',
    'order_expired',
    'This order has expired. Nothing was charged. Ask your assistant to call the tool again.',
  )
}

export function quoteExpired(): DomainError {
  return new DomainError(
    'expired',
    'quote_expired',
    'The quote is older than ten minutes. Get the current price and pay again.',
  )
}
