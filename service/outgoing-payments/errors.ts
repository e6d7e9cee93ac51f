import { DomainError } from '../kit/errors.ts'
import { toWire, type Usdc } from '../kit/money.ts'
import type { Payment } from './model.ts'

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
  return new DomainError(
    'upstream',
    'no_acceptable_offer',
    reasons.length === 0
      ? 'The address requires a payment that is not x402.'
      : `The address makes no offer that this server can pay: ${reasons.join(', ')}.`,
    { reasons },
  )
}

export function payerUnavailable(why: string, cause?: unknown): DomainError {
  return new DomainError('unavailable', 'payer_unavailable', why, { retryAfterSeconds: 5 }).causedBy(cause)
}

export function treasuryShort(network: string): DomainError {
  return payerUnavailable(`The treasury of this server has too little USDC on ${network}.`)
}

/** What stands in the way of the signature, or did. */
export function notSigned({ state, reason, network }: Payment): DomainError {
  if (state !== 'returned') return payerUnavailable('The payer wallet of this payment is still being funded.')
  switch (reason) {
    case 'treasury_short':
      return treasuryShort(network)
    case 'not_set_up':
      return payerUnavailable('The worker of this server is not set up to pay: its log names the missing settings.')
    default:
      return payerUnavailable('The payer wallet was not funded in time. Nothing was paid.')
  }
}
