import { DomainError } from '../../service/kit/errors.ts'

/** The DomainError that the work fails with; anything else fails the test. */
export async function faultOf(work: Promise<unknown>): Promise<DomainError> {
  const outcome = await work.then(
    () => 'it succeeded',
    (error: unknown) => error,
  )
  if (outcome instanceof DomainError) return outcome
  throw new Error(`expected a DomainError, but ${String(outcome)}`, { cause: outcome })
}
