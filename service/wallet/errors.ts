import { DomainError } from '../kit/errors.ts'
import { toWire, type Usdc } from '../kit/money.ts'

export function alreadyRecorded(transactionHash: string): DomainError {
  return new DomainError('conflict', 'transaction_already_recorded', 'This transaction has been recorded already.', {
    transactionHash,
  })
}

/** A caller's word alone never makes money. */
export function notProvable(): DomainError {
  return new DomainError(
    'invalid',
    'deposit_not_provable',
    'Deposits in production must be proven on chain, and this server has no chain to ask.',
    { details: { amount: 'cannot be proven on chain by this server' } },
  )
}

/** The chain was asked, and says otherwise. */
export function notProven(
  code: string,
  details: Readonly<Record<string, string>>,
  fields: Readonly<Record<string, unknown>> = {},
): DomainError {
  const [field = '', reason = ''] = Object.entries(details)[0] ?? []
  return new DomainError('invalid', code, `${field}: ${reason}`, { details, ...fields })
}

export function withdrawalsUnavailable(): DomainError {
  return new DomainError(
    'unavailable',
    'withdrawals_unavailable',
    'This server cannot pay out: it has no chain to do it on.',
    {
      retryAfterSeconds: 3_600,
    },
  )
}

export function recipientNotAllowed(): DomainError {
  return new DomainError('forbidden', 'recipient_not_allowed', 'Withdrawals to this address are not allowed here.', {
    details: { to: 'is not on the list of allowed addresses' },
  })
}

/** What one may take out in 24 hours; `taken` and `limit` are null where they are about everybody. */
export function overLimit(
  limit: 'perDay' | 'totalPerDay',
  most: Usdc | null,
  taken: Usdc | null,
  requested: Usdc,
): DomainError {
  const sentence =
    limit === 'perDay'
      ? 'This is more than may be taken out in 24 hours.'
      : 'This service has paid out what it may in 24 hours. Try again later.'
  return new DomainError('forbidden', 'withdrawal_limit', sentence, {
    limit: most === null ? null : toWire(most),
    taken: taken === null ? null : toWire(taken),
    requested: toWire(requested),
  })
}

export function withdrawalMissing(): DomainError {
  return new DomainError('missing', 'withdrawal_not_found', 'There is no such withdrawal.')
}

export function hookRefused(): DomainError {
  return new DomainError('unauthenticated', 'invalid_signature', 'The signature of this message is missing or wrong.')
}

export function hookUnavailable(): DomainError {
  return new DomainError('missing', 'not_found', 'There is nothing here.')
}
