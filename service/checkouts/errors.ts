import { DomainError, invalid } from '../kit/errors.ts'
import type { Sale } from '../sales/model.ts'
import type { RequestStatus, WorkFailure } from './model.ts'

/** No process knows a sponsor's address that could end the payment. */
export function escrowUnavailable(): DomainError {
  return new DomainError(
    'unavailable',
    'escrow_unavailable',
    'Payments that wait in the escrow are not available on this server right now. Nothing was charged. Try again later.',
    { retryAfterSeconds: 60 },
  )
}

/** A test takes no money, the escrow needs a wallet, and some servers have no addresses. */
export function transfersUnavailable(): DomainError {
  const sentence = 'This order cannot be paid by a transfer. Nothing was charged. Pay with a wallet instead.'
  return new DomainError('conflict', 'transfers_unavailable', sentence)
}

/** A transfer takes minutes from a wallet, and hours from an exchange. */
export function requestTooShort(): DomainError {
  const sentence =
    'This request ends within the hour, before a transfer may arrive. Nothing was charged. Pay with a wallet instead.'
  return new DomainError('conflict', 'transfers_unavailable', sentence)
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

/** Its price and its end are the request's. */
export function checkoutOfRequest(): DomainError {
  const sentence =
    'This checkout belongs to a request for a further amount, which sets its price and its end. Delete it to end the request, and make a new request.'
  return new DomainError('conflict', 'checkout_of_request', sentence)
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

/** What was stored for another device has expired, or is another checkout's. */
export function draftMissing(): DomainError {
  const sentence =
    'What was filled in on the other device has expired. Make a new code there, or fill in the form here.'
  return new DomainError('missing', 'draft_not_found', sentence)
}

export function tooManyDrafts(): DomainError {
  const sentence = 'Too many orders of this checkout wait for another device. Pay on this device, or try again later.'
  return new DomainError('limited', 'too_many_drafts', sentence, { retryAfterSeconds: 600 })
}

/** The order has not begun, or nothing of it is left. */
export function requestUnasked(): DomainError {
  const sentence =
    'This payment has not begun, has failed or was refunded, so its buyer cannot be asked for more. Ask while the order is under way or paid.'
  return new DomainError('conflict', 'payment_not_open', sentence)
}

export function answerAwaited(): DomainError {
  const sentence =
    "The answer to this payment's delivery is shown to its buyer and ends the work, so the work cannot wait for the buyer. Answer deliveries at once (responseMode immediately) and report the outcome later, or ask without waiting."
  return new DomainError('conflict', 'answer_awaited', sentence)
}

export function tooManyRequests(most: number): DomainError {
  const sentence = `This payment already has ${String(most)} open requests. Wait until one of them is paid, refused or expired.`
  return new DomainError('conflict', 'too_many_requests_open', sentence)
}

export function requestsFull(most: number): DomainError {
  const sentence = `This payment already has had ${String(most)} requests, which is the most. Create a checkout for anything else.`
  return new DomainError('conflict', 'requests_used_up', sentence)
}

export function requestMissing(): DomainError {
  return new DomainError('missing', 'request_not_found', 'This payment has no such request.')
}

/** It was paid, refused or has expired; or a payment of it is under way. */
export function requestClosed(status: RequestStatus): DomainError {
  const sentence =
    status === 'paying'
      ? 'A payment of this request is under way. Nothing else was charged. Wait for it to end.'
      : `This request is ${status} already. Nothing else was charged. Reload the page of the order.`
  return new DomainError('conflict', 'request_closed', sentence, { status })
}

/** The workflow did not do what was bought, so the held payment was given up. */
export function workFailed(paymentId: string, code: WorkFailure, sentence: string): DomainError {
  return new DomainError('upstream', code, sentence, { paymentId, charged: false })
}

/** One message at a time: the next one can refer to its answer. */
export function turnUnderWay(): DomainError {
  const sentence = 'The answer to your last message is still on its way. Wait for it, then send the next message.'
  return new DomainError('conflict', 'turn_under_way', sentence)
}

export function tooManyTurns(): DomainError {
  const sentence = 'Too many messages were sent here in a minute. Wait a minute and send yours again.'
  return new DomainError('limited', 'too_many_turns', sentence, { retryAfterSeconds: 60 })
}

export function notAChat(): DomainError {
  return new DomainError('missing', 'chat_not_found', 'There is no chat at this checkout.')
}

export function progressTooFast(aSecond: number): DomainError {
  const sentence = `A payment takes ${String(aSecond)} lines of progress a second. Wait a second and send it again.`
  return new DomainError('limited', 'progress_too_fast', sentence, { retryAfterSeconds: 1 })
}

export function progressTooLong(most: number): DomainError {
  const sentence = `This payment already has ${String(most)} lines of progress, which is the most. Report fewer steps.`
  return new DomainError('conflict', 'progress_too_long', sentence)
}

export function receiptMissing(): DomainError {
  const sentence = 'There is no such receipt. Open the complete link, including its token.'
  return new DomainError('missing', 'receipt_not_found', sentence)
}

export function badProof(why: string): DomainError {
  return invalid({ paymentId: why }, 'invalid_payment')
}

/** Without a workflow nothing is delivered and nothing is signed. */
export function noWorkflow(): DomainError {
  const sentence =
    'This checkout calls no workflow, so it has no secret. To send its orders somewhere, set a callbackUrl.'
  return new DomainError('conflict', 'no_workflow', sentence)
}

/** What was bought is shown once the money has arrived. */
export function notPaidYet(): DomainError {
  const sentence = 'This payment is not confirmed yet. Try again when it is.'
  return new DomainError('conflict', 'payment_pending', sentence)
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

/** `address` is that of the payment page: only the one below it simulates. */
export function inTestMode(address: string): DomainError {
  const fault = `must be absent: this checkout is in test mode. Send \`input\` and \`simulate: true\` to \`POST ${address}/pay\``
  return invalid({ paymentPayload: fault }, 'test_mode')
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

/** Its payment was not made, or went back unused. A call that names the payment, or repeats its key, gets no further. */
export function paymentReturned(): DomainError {
  const sentence = 'This call was not bought, and nothing was charged. Send it again as a new call.'
  return new DomainError('upstream', 'not_bought', sentence)
}

export function orderExpired(): DomainError {
  return new DomainError(
    'expired',
    'order_expired',
    'This order has expired. Nothing was charged. Ask your assistant to call the tool again.',
  )
}

/** A quote is for one price and one choice. */
export function quoteForAnother(): DomainError {
  return invalid({ quoteId: 'is for another choice or price: get a quote for this one' }, 'quote_mismatch')
}

export function quoteExpired(): DomainError {
  return new DomainError(
    'expired',
    'quote_expired',
    'This quote is not valid any more. Get the current price and pay again.',
  )
}
