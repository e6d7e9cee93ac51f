import { DomainError, invalid } from '../../kit/errors.ts'
import { toWire, type Usdc } from '../../kit/money.ts'
import type { CallId } from '../model/call.ts'

export function inputInvalid(details: Readonly<Record<string, string>>): DomainError {
  return invalid(details)
}

/** What the ledger calls a low balance: here credits count too. */
export function insufficientCredits(required: unknown, available: unknown): DomainError {
  return new DomainError(
    'unaffordable',
    'insufficient_credits',
    `This call costs ${String(required)} USDC; credits and wallet have ${String(available)} together. Add funds to the wallet and call again.`,
    { required, available },
  )
}

export function tooDear(price: Usdc, maxCost: Usdc): DomainError {
  return new DomainError('unaffordable', 'max_cost_exceeded', 'This tool costs more than maxCost allows.', {
    required: toWire(price),
    maxCost: toWire(maxCost),
  })
}

export function tooManyAtOnce(atOnce: number): DomainError {
  return new DomainError(
    'limited',
    'too_many_calls_at_once',
    `This key has ${String(atOnce)} calls under way already; wait for one to end.`,
    { retryAfterSeconds: 1 },
  )
}

/** The rest of the house goes on: a slow provider keeps only its own callers waiting. */
export function providerBusy(provider: string): DomainError {
  return new DomainError(
    'unavailable',
    'provider_busy',
    `${provider} has as many calls under way as it gets; try again. Nothing was charged.`,
    { retryAfterSeconds: 1 },
  )
}

/** `upstream` is what it said, where it said something. */
export function upstreamError(sentence: string, upstream?: UpstreamWords, cause?: unknown): DomainError {
  return new DomainError(
    'upstream',
    'upstream_error',
    `${sentence} Nothing was charged.`,
    upstream === undefined ? {} : { upstream },
    cause,
  )
}

export interface UpstreamWords {
  status: number
  message: string | null
}

export function upstreamTimeout(cause?: unknown): DomainError {
  return new DomainError('late', 'upstream_timeout', 'The tool did not answer in time. Nothing was charged.', {}, cause)
}

/** Nobody is there to be told. */
export function callAborted(): DomainError {
  return new DomainError('late', 'call_aborted', 'The call was given up before its answer came. Nothing was charged.')
}

export function stopping(): DomainError {
  return new DomainError('unavailable', 'stopping', 'The service is restarting; call again. Nothing was charged.', {
    retryAfterSeconds: 1,
  })
}

/** The money went back before the answer came. */
export function chargedTooLate(): DomainError {
  return new DomainError('late', 'call_too_late', 'The answer came after its time was up. Nothing was charged.')
}

/** Paid for, and forgotten since. */
export function answerForgotten(callId: CallId): DomainError {
  return new DomainError(
    'expired',
    'answer_forgotten',
    'This call was made and paid for; its answer is no longer kept.',
    {
      callId,
    },
  )
}

/** The same error, naming the call that it ended. */
export function ofCall(error: unknown, callId: CallId, paymentToken?: string): unknown {
  if (!(error instanceof DomainError)) return error
  const fields = { ...error.fields, callId, ...(paymentToken === undefined ? {} : { paymentToken }) }
  return new DomainError(error.kind, error.code, error.message, fields, error.cause)
}
