import { DomainError, invalid } from '../kit/errors.ts'
import { toDecimal, toWire, type Usdc } from '../kit/money.ts'

/** Says of credits what they are for: an account that has some, and no balance, would take this for a mistake. */
export function unaffordable(required: Usdc, available: Usdc): DomainError {
  return new DomainError(
    'unaffordable',
    'insufficient_balance',
    `Insufficient balance: this costs ${toDecimal(required)} USDC, the wallet has ${toDecimal(available)} USDC available. Credits pay for the platform's tools only. Add funds and try again.`,
    { required: toWire(required), available: toWire(available) },
  )
}

/** A balance that the wire cannot say is refused before it comes to be. */
export function balanceTooLarge(): DomainError {
  return invalid({ amount: 'would make the balance larger than 9007199254' })
}

export function walletMissing(): DomainError {
  return new DomainError('missing', 'wallet_not_found', 'This user has no wallet.')
}

/** The key was used before, for something else. */
export function movementConflict(id: string): DomainError {
  return new DomainError('conflict', 'movement_conflict', `${id} was used before with other contents.`)
}

export function holdMissing(id: string): DomainError {
  return new DomainError('missing', 'lock_not_found', `There is no lock ${id}.`)
}

export function holdEnded(id: string, state: string): DomainError {
  return new DomainError('conflict', 'lock_ended', `The lock ${id} has ended already: ${state}.`, { state })
}

/** The hold's money was given back, or the hold was never on disk when the database crashed. */
export function isHoldLost(error: unknown): boolean {
  return error instanceof DomainError && (error.code === 'lock_ended' || error.code === 'lock_not_found')
}
