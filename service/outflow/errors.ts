import { DomainError } from '../kit/errors.ts'
import { toWire, type Usdc } from '../kit/money.ts'

export function payoutsPaused(): DomainError {
  return paused('Nothing was taken; try again later.')
}

/** For money that is held already, so that the caller does not pay again. */
export function payoutsPausedAfterHold(): DomainError {
  return paused(
    'The money of this payment is set aside. Repeat the request later with the same Idempotency-Key: a new one would pay again.',
  )
}

function paused(next: string): DomainError {
  const sentence = `Payouts are paused on this server. ${next}`
  return new DomainError('unavailable', 'payouts_paused', sentence, { retryAfterSeconds: 60 })
}

export function recipientNotAllowed(): DomainError {
  return new DomainError('forbidden', 'recipient_not_allowed', 'Payouts to this address are not allowed here.', {
    details: { to: 'is not on the list of allowed addresses' },
  })
}

/** What may leave in 24 hours; `taken` and `limit` are null where they are about all accounts together. */
export function overLimit(
  limit: 'perDay' | 'totalPerDay',
  most: Usdc | null,
  taken: Usdc | null,
  requested: Usdc,
): DomainError {
  const sentence =
    limit === 'perDay'
      ? 'This is more than may leave the account in 24 hours, by withdrawals, payments, refunds and purchases together.'
      : 'This server has paid out what it may in 24 hours. Try again later.'
  return new DomainError('forbidden', 'withdrawal_limit', sentence, {
    limit: most === null ? null : toWire(most),
    taken: taken === null ? null : toWire(taken),
    requested: toWire(requested),
  })
}
