import { DomainError } from '../../kit/errors.ts'

/** Why nothing is moved, in a sentence for whoever runs the server. */
export function refused(sentence: string): DomainError {
  return new DomainError('conflict', 'move_refused', sentence)
}
