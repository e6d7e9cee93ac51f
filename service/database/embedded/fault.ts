import { DomainError } from '../../kit/errors.ts'

/** Why the embedded database cannot be had, in a sentence for whoever runs the service. */
export function fault(sentence: string, cause?: unknown): DomainError {
  return new DomainError('unavailable', 'embedded_database', sentence, {}, cause)
}
