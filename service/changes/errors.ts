import { DomainError } from '../kit/errors.ts'

export function tooManyFollowers(): DomainError {
  return new DomainError('limited', 'too_many_streams', 'Too many pages of this account are open at once.')
}
