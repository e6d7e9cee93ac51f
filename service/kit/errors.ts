import type { ErrorCode } from './error-codes/catalogue.ts'

/**
 * An error in the domain's terms. The kind is for code inside the service, the code for client programs, the sentence
 * for people. `service/api/errors.ts` has the only table from kinds to statuses.
 */
export class DomainError extends Error {
  override readonly name = 'DomainError'
  readonly kind: Kind
  readonly code: ErrorCode
  /** Sent to the caller beside `error` and `code`: `required`, `available`, `transactionHash`, … */
  readonly fields: Readonly<Record<string, unknown>>

  constructor(kind: Kind, code: ErrorCode, sentence: string, fields: Readonly<Record<string, unknown>> = {}) {
    super(sentence)
    this.kind = kind
    this.code = code
    this.fields = fields
  }

  /** The cause goes to the log, never to the caller. */
  causedBy(cause: unknown): this {
    if (cause !== undefined) Object.defineProperty(this, 'cause', { value: cause, configurable: true, writable: true })
    return this
  }
}

export type Kind =
  /** Nothing is wrong: the request waits for a person's approval. */
  | 'held'
  | 'invalid'
  | 'unauthenticated'
  | 'unaffordable'
  | 'forbidden'
  | 'missing'
  | 'conflict'
  | 'expired'
  | 'too-large'
  | 'unsupported'
  | 'limited'
  | 'failed'
  | 'upstream'
  | 'unavailable'
  | 'late'

/** A person can make the same request succeed while it waits: by approving it, or by connecting an account. */
export function waitsForPerson({ kind, code }: DomainError): boolean {
  return kind === 'held' || code === 'connection_required'
}

/** A 400 that names each wrong field and its fault. */
export function invalid(
  details: Readonly<Record<string, string>>,
  code: ErrorCode = 'invalid_input',
  more: Readonly<Record<string, unknown>> = {},
): DomainError {
  const first = Object.entries(details)[0]
  const sentence = first === undefined ? 'The request is invalid.' : `${first[0]}: ${first[1]}`
  return new DomainError('invalid', code, sentence, { details, ...more })
}

/** An edit may name the version that it was made from, and is refused once there is a newer one. */
export function assertVersion(
  thing: string,
  { from, now }: { from: number | string | null; now: number | string },
): void {
  if (from !== null && from !== now) throw versionConflict(thing, now)
}

export function versionConflict(thing: string, version: number | string): DomainError {
  const sentence = `This ${thing} has been edited since: it is now at version ${String(version)}. Reload it and apply your change again.`
  return new DomainError('conflict', 'version_conflict', sentence, { version })
}
