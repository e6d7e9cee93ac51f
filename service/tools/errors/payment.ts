import { DomainError, invalid } from '../../kit/errors.ts'
import type { Sale } from '../../sales/model.ts'
import type { CallId } from '../model/call.ts'

/** Its creator is paid by a run, and a run has an account. */
export function needsKey(): DomainError {
  return new DomainError('invalid', 'needs_key', 'This tool is called with an API key: POST to its own address.', {
    details: { slug: 'is a creator’s tool, or free: it is not paid for by x402' },
  })
}

export function paymentsUnavailable(): DomainError {
  return new DomainError(
    'unavailable',
    'payments_unavailable',
    'This server cannot settle payments right now; call the tool with an API key.',
    { retryAfterSeconds: 60 },
  )
}

export function otherCall(why: string): DomainError {
  return invalid({ 'x-payment-id': why }, 'invalid_payment')
}

export function badToken(): DomainError {
  return invalid({ 'x-payment-token': 'must be tok_ and 43 characters' }, 'invalid_payment')
}

export function authorizationBusy(): DomainError {
  return new DomainError('conflict', 'authorization_busy', 'The call that this authorization pays for is under way.')
}

/** Given once: an authorization can be read on the chain by anybody. */
export function answerGiven(callId: CallId): DomainError {
  return new DomainError('conflict', 'answer_given', 'The answer that this authorization paid for was given already.', {
    callId,
  })
}

/** Never a new 402: the money may be on its way. */
export function settlementPending(sale: Sale, statusUrl: string, paymentToken: string): DomainError {
  const state =
    sale.details['durationMs'] === undefined
      ? 'The payment is on its way; the tool is called once it has arrived.'
      : 'The tool has answered and the payment is on its way.'
  return new DomainError('unavailable', 'settlement_pending', `${state} ${ASK_AGAIN}`, {
    callId: sale.id,
    statusUrl,
    paymentToken,
    retryAfterSeconds: 3,
  })
}

/** The money has arrived and the tool failed: the same payment calls it again. */
export function stillOwed(error: DomainError, callId: CallId, statusUrl: string, paymentToken: string): DomainError {
  const sentence = error.message.replace(/ ?Nothing was charged\.$/, '')
  return new DomainError(
    error.kind,
    error.code,
    `${sentence} The payment arrived; this call is still paid for. ${ASK_AGAIN}`,
    { ...error.fields, callId, statusUrl, paymentToken, paid: true },
    error.cause,
  )
}

export function paymentMissing(): DomainError {
  return new DomainError('missing', 'payment_not_found', 'There is no such payment.')
}

const ASK_AGAIN =
  'Send the same input again for the answer, with the callId as X-Payment-ID and the paymentToken as X-Payment-Token.'
