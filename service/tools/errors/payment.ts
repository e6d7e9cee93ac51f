import { sentenceOf } from '../../facilitator/errors.ts'
import type { Reason } from '../../facilitator/model.ts'
import { DomainError } from '../../kit/errors.ts'
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

/** One authorization buys one thing. */
export function authorizationUsed(): DomainError {
  return new DomainError('conflict', 'authorization_used', 'This authorization has paid for something else already.')
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

/** What is wrong with an authorization, in the protocol's words and a person's. */
export function paymentRefused(reason: Reason, callId?: CallId): DomainError {
  if (reason === 'invalid_exact_evm_nonce_already_used') return authorizationUsed()
  const sentence = `${sentenceOf(reason)} Nothing was charged.`
  const fields = { reason, ...(callId === undefined ? {} : { callId }) }
  return reason === 'invalid_exact_evm_payload_authorization_valid_before'
    ? new DomainError('expired', 'payment_expired', sentence, fields)
    : new DomainError('unaffordable', 'payment_refused', sentence, fields)
}

/** Never a new 402: the money may be on its way. */
export function settlementPending(callId: CallId, statusUrl: string): DomainError {
  return new DomainError(
    'unavailable',
    'settlement_pending',
    'The tool has answered and the payment is on its way. Send the very same request again for the answer.',
    { callId, statusUrl, retryAfterSeconds: 3 },
  )
}

export function paymentMissing(): DomainError {
  return new DomainError('missing', 'payment_not_found', 'There is no such payment.')
}
