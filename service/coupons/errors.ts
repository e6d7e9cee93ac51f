import { DomainError, invalid } from '../kit/errors.ts'

export function couponMissing(): DomainError {
  return new DomainError('missing', 'coupon_not_found', 'You have no such coupon.')
}

export function codeTaken(code: string): DomainError {
  const sentence = `You have a coupon with the code ${code} already. Archive it, or choose another code.`
  return new DomainError('conflict', 'coupon_code_taken', sentence)
}

export function couponArchived(): DomainError {
  const sentence = 'This coupon is archived and cannot be changed. Create a new one.'
  return new DomainError('conflict', 'coupon_archived', sentence)
}

export function maxBelowUses(used: number): DomainError {
  return invalid({ max: `must be at least ${String(used)}: so many purchases have used it` })
}

/** The same for an unknown code, an archived one, one past its time, and one for another checkout. */
export function couponInvalid(): DomainError {
  return invalid({ 'choice.coupon': 'is not valid here: check the code, or pay without it' }, 'coupon_invalid')
}

export function couponUsedUp(): DomainError {
  const sentence = 'This code has been used up. Nothing was charged. Pay without it, or use another code.'
  return new DomainError('conflict', 'coupon_used_up', sentence)
}

/** Only for a payer whose signature was verified. */
export function couponSpent(most: number): DomainError {
  const sentence = `This wallet has used this code ${most === 1 ? 'once' : `${String(most)} times`} already, which is all it may. Nothing was charged. Pay without it.`
  return new DomainError('conflict', 'coupon_used_by_customer', sentence)
}
