import { DomainError } from '../kit/errors.ts'
import { toDecimal, toWire, type Usdc } from '../kit/money.ts'

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

export function belowMinimum(minimum: Usdc): DomainError {
  return new DomainError(
    'invalid',
    'withdrawal_below_minimum',
    `A withdrawal must be at least ${toDecimal(minimum)} USDC.`,
    { details: { amount: `must be at least ${toDecimal(minimum)}` }, minimum: toWire(minimum) },
  )
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
