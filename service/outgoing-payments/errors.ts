import { DomainError } from '../kit/errors.ts'
import { toWire, type Usdc } from '../kit/money.ts'
import type { Payment, ReturnReason } from './model.ts'

export function paymentMissing(): DomainError {
  return new DomainError('missing', 'payment_not_found', 'There is no such payment.')
}

/** Nothing was signed. */
export function priceTooHigh(required: Usdc, maxAmount: Usdc): DomainError {
  return new DomainError(
    'unaffordable',
    'price_above_maximum',
    'The address charges more than maxAmount. Raise maxAmount and try again.',
    {
      required: toWire(required),
      maxAmount: toWire(maxAmount),
    },
  )
}

/** Nothing was signed. `reasons` names what no offer got right. */
export function noFitOffer(reasons: readonly string[]): DomainError {
  return new DomainError('upstream', 'no_acceptable_offer', sentenceFor(reasons), { reasons })
}

function sentenceFor(reasons: readonly string[]): string {
  if (reasons.length === 0) return 'The address requires a payment that is neither x402 nor an evm/charge of MPP.'
  const general = `The address makes no offer that this server can pay: ${reasons.join(', ')}.`
  if (!reasons.includes('header')) return general
  return `${general} It expects the payment in a header that your request uses itself. Send the request without that header.`
}

/** Nothing was signed. The nonce of a payment follows from the challenge. */
export function challengeRepeated(): DomainError {
  return new DomainError(
    'upstream',
    'challenge_repeated',
    'The address repeats a challenge that was already paid for. Nothing was signed for this call; try again for a new challenge.',
    { retryAfterSeconds: 1 },
  )
}

export function payerUnavailable(why: string, cause?: unknown): DomainError {
  return new DomainError('unavailable', 'payer_unavailable', why, { retryAfterSeconds: 5 }).causedBy(cause)
}

export function treasuryShort(network: string): DomainError {
  return payerUnavailable(`The treasury of this server has too little USDC on ${network}.`)
}

/** What stands in the way of the signature: the worker goes on with it. */
export function notSignedYet(): DomainError {
  return payerUnavailable('The payer wallet of this payment is still being funded.')
}

/** For good: its id follows from the Idempotency-Key, so the same key finds this payment again. */
export function paymentReturned({ id, reason, network }: Pick<Payment, 'id' | 'reason' | 'network'>): DomainError {
  const sentence = `${whyReturned(reason, network)} Nothing was paid, and the money of payment ${id} was given back. For a new payment, send the request with a new Idempotency-Key.`
  return new DomainError('expired', 'payment_returned', sentence, {
    paymentId: id,
    payment: { id, status: 'returned', reason },
  })
}

function whyReturned(reason: ReturnReason | null, network: string): string {
  switch (reason) {
    case 'treasury_short':
      return `The treasury of this server has too little USDC on ${network}.`
    case 'not_set_up':
      return 'The worker of this server is not set up to pay: its log names the missing settings.'
    case 'expired':
      return 'The address did not take its authorization in time.'
    case 'not_signed':
    case 'not_funded':
    case null:
      return 'The payer wallet was not funded in time.'
  }
}
