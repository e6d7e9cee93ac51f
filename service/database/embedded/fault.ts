import { DomainError } from '../../kit/errors.ts'

/** Why the embedded database cannot run, as a sentence for the operator. */
export function fault(sentence: string, cause?: unknown): DomainError {
  return new DomainError('unavailable', 'embedded_database', sentence).causedBy(cause)
}
