/**
 * What went wrong, in the words of the domain. The kind is for programs inside, the code for programs
 * outside, the sentence for a person. `service/api/errors.ts` owns the one table from kind to status.
 */
export class DomainError extends Error {
  override readonly name = 'DomainError'
  readonly kind: Kind
  readonly code: string
  /** Reaches the caller beside `error` and `code`: `required`, `available`, `transactionHash`, … */
  readonly fields: Readonly<Record<string, unknown>>

  constructor(kind: Kind, code: string, sentence: string, fields: Readonly<Record<string, unknown>> = {}) {
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
  /** Nothing is wrong: it waits for a person's word. */
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

/** A 400 that names each field and what is wrong with it. */
export function invalid(
  details: Readonly<Record<string, string>>,
  code = 'invalid_input',
  more: Readonly<Record<string, unknown>> = {},
): DomainError {
  const first = Object.entries(details)[0]
  const sentence = first === undefined ? 'The request is invalid.' : `${first[0]}: ${first[1]}`
  return new DomainError('invalid', code, sentence, { details, ...more })
}
