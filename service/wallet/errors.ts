import type { ErrorCode } from '../kit/error-codes/catalogue.ts'
import { DomainError } from '../kit/errors.ts'
import { toDecimal, toWire, type Usdc } from '../kit/money.ts'

export function alreadyRecorded(transactionHash: string): DomainError {
  return new DomainError('conflict', 'transaction_already_recorded', 'This transaction has already been recorded.', {
    transactionHash,
  })
}

/** Production never credits a reported deposit without the chain's proof. */
export function notProvable(): DomainError {
  const sentence = 'Deposits in production must be proven on chain, but no chain is configured on this server.'
  const details = { amount: 'cannot be proven on chain by this server' }
  return new DomainError('invalid', 'deposit_not_provable', sentence, { details })
}

/** The chain's data contradicts the report. */
export function notProven(
  code: ErrorCode,
  details: Readonly<Record<string, string>>,
  fields: Readonly<Record<string, unknown>> = {},
): DomainError {
  const [field = '', reason = ''] = Object.entries(details)[0] ?? []
  return new DomainError('invalid', code, `${field}: ${reason}`, { details, ...fields })
}

export function withdrawalsUnavailable(): DomainError {
  const sentence = 'This server cannot pay out: no chain is configured.'
  return new DomainError('unavailable', 'withdrawals_unavailable', sentence, { retryAfterSeconds: 3_600 })
}

export function belowMinimum(minimum: Usdc): DomainError {
  const details = { amount: `must be at least ${toDecimal(minimum)}` }
  const sentence = `A withdrawal must be at least ${toDecimal(minimum)} USDC.`
  return new DomainError('invalid', 'withdrawal_below_minimum', sentence, { details, minimum: toWire(minimum) })
}

export function withdrawalMissing(): DomainError {
  return new DomainError('missing', 'withdrawal_not_found', 'There is no such withdrawal.')
}

/** The transfer of this payout is another's in the books, which only an operator can explain. `of` is for the log. */
export function bookedOtherwise(id: string, of: string): DomainError {
  const sentence = 'The transfer of this payout is booked as another one. Ask the operator of this server.'
  return new DomainError('conflict', 'payout_booked_otherwise', sentence).causedBy(
    new Error(`${id} has the nonce of ${of}`),
  )
}
