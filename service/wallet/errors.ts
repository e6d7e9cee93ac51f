import { DomainError, invalid } from '../kit/errors.ts'

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
    'Deposits in production must be proven on chain, and this server has no chain to ask yet.',
    { details: { amount: 'cannot be proven on chain by this server' } },
  )
}

export function tooLarge(): DomainError {
  return invalid({ amount: 'would make the balance larger than 9007199254' })
}
