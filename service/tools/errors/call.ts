import { DomainError } from '../../kit/errors.ts'
import type { CallId } from '../model/call.ts'

/** The ledger's error for a low balance by the code that every tool has for it. */
export function withToolsCode(error: unknown, pays: 'credits and balance' | 'balance'): unknown {
  if (!(error instanceof DomainError) || error.code !== 'insufficient_balance') return error
  const { required, available } = error.fields
  const sentence =
    pays === 'balance'
      ? error.message
      : `Insufficient credits and balance: this call costs ${String(required)} USDC, you have ${String(available)}. Add funds to the wallet and call again.`
  return new DomainError('unaffordable', 'insufficient_credits', sentence, { required, available })
}

export function tooManyAtOnce(atOnce: number): DomainError {
  const sentence = `This key has ${String(atOnce)} calls in progress already; wait for one to end.`
  return new DomainError('limited', 'too_many_calls_at_once', sentence, SOON)
}

/** Limits the calls to a provider, so that a slow one keeps only its own callers waiting. */
export function providerBusy(provider: string): DomainError {
  const sentence = `${provider} has too many calls in progress; try again. Nothing was charged.`
  return new DomainError('unavailable', 'provider_busy', sentence, SOON)
}

/** Its server has said that it wants no more calls for now. */
export function providerResting(provider: string, retryAfterSeconds: number): DomainError {
  const sentence = `${provider} accepts no more calls for now; try again in ${String(retryAfterSeconds)} s. Nothing was charged.`
  return new DomainError('unavailable', 'provider_busy', sentence, { retryAfterSeconds })
}

/** Large answers are in memory while they are read. */
export function tooManyLarge(): DomainError {
  const sentence = 'This answer is large, and too many large answers are being read; try again. Nothing was charged.'
  return new DomainError('unavailable', 'provider_busy', sentence, SOON)
}

/** `upstream` is the server's own answer, where it gave one. */
export function upstreamError(sentence: string, upstream?: UpstreamWords, cause?: unknown): DomainError {
  const fields = upstream === undefined ? {} : { upstream }
  return new DomainError('upstream', 'upstream_error', `${sentence} Nothing was charged.`, fields).causedBy(cause)
}

export interface UpstreamWords {
  status: number
  message: string | null
}

export function upstreamTimeout(cause?: unknown): DomainError {
  return new DomainError('late', 'upstream_timeout', 'The tool did not answer in time. Nothing was charged.').causedBy(
    cause,
  )
}

/** The caller has disconnected, so this error goes to the log and the row only. */
export function callAborted(): DomainError {
  return new DomainError(
    'late',
    'call_aborted',
    'The caller disconnected before the tool answered. Nothing was charged.',
  )
}

export function stopping(): DomainError {
  const sentence = 'The service is restarting; call again. Nothing was charged.'
  return new DomainError('unavailable', 'stopping', sentence, SOON)
}

/** The money was given back before the answer came. */
export function chargedTooLate(): DomainError {
  return new DomainError('late', 'call_too_late', 'The tool answered too late. Nothing was charged.')
}

/** The call was paid for, but its answer has been deleted since. */
export function answerForgotten(callId: CallId): DomainError {
  const sentence = 'This call was made and paid for, but its answer is no longer stored.'
  return new DomainError('expired', 'answer_forgotten', sentence, { callId })
}

export function callMissing(): DomainError {
  return new DomainError('missing', 'call_not_found', 'There is no such call. Check callId.')
}

/** What the tool accepted is at a server that is no longer the tool's, and whose keys are not for this one. */
export function serverChanged(callId: CallId): DomainError {
  const sentence = 'The tool has another server since this call, so its result can no longer be fetched.'
  return new DomainError('expired', 'answer_forgotten', sentence, { callId })
}

const SOON = { retryAfterSeconds: 1 }

/** The same error with the id of the call that it ended. */
export function ofCall(error: unknown, callId: CallId, paymentToken?: string): unknown {
  if (!(error instanceof DomainError)) return error
  const fields = { ...error.fields, callId, ...(paymentToken === undefined ? {} : { paymentToken }) }
  return new DomainError(error.kind, error.code, error.message, fields).causedBy(error.cause)
}

/** For a client of MCP without a key. */
export function needsAccount(): DomainError {
  const sentence = 'Without an API key there is no balance: each call is paid when it is made.'
  return new DomainError('invalid', 'account_required', sentence)
}

/** A tool that is free has no price to pay, and a creator's tool is bought at an address of its own. */
export function needsKey(rdaSlug: string | null): DomainError {
  const instead = rdaSlug === null ? '' : ` Without a key, buy a run with POST /v1/rda/${rdaSlug}/run.`
  const sentence = `This tool needs an API key as "Authorization: Bearer …".${instead}`
  return new DomainError('unauthenticated', 'needs_key', sentence, { reason: 'credential_missing' })
}

/** Where nothing can be settled, a call without a key cannot be paid. */
export function keyMissing(): DomainError {
  const sentence =
    'Authentication is required: send an API key as "Authorization: Bearer …". This server cannot settle payments, so calls without a key cannot be paid.'
  return new DomainError('unauthenticated', 'unauthenticated', sentence, { reason: 'credential_missing' })
}

export function paymentMissing(): DomainError {
  return new DomainError('missing', 'payment_not_found', 'There is no such payment.')
}
