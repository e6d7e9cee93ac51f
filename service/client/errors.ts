/** A refusal or a failure. `code` is stable and for programs; the message is for people. */
export class CoinslotError extends Error {
  override readonly name: string = 'CoinslotError'
  /** The API's code such as `insufficient_balance`, or `timeout`, `aborted`, `connection_failed`, `unexpected_answer`. */
  readonly code: string
  /** Null when no answer came. */
  readonly status: number | null
  /** Include it when you report a problem. */
  readonly requestId: string | null
  /** The page with cause and cure of this code. Null when no answer came. */
  readonly docUrl: string | null
  /** What is wrong, by field. */
  readonly details: Readonly<Record<string, string>>
  /** The whole body of the answer: some errors have fields of their own, such as `required` or `runId`. */
  readonly body: Readonly<Record<string, unknown>>
  /** Set where the request may have been done all the same. What takes a key is done once if repeated with this one. */
  readonly idempotencyKey: string | null

  constructor(message: string, { code, status = null, body = {}, docUrl = null, idempotencyKey, cause }: ErrorDetails) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.status = status
    this.body = body
    this.docUrl = docUrl
    this.idempotencyKey = idempotencyKey ?? null
    this.requestId = typeof body['requestId'] === 'string' ? body['requestId'] : null
    this.details = (body['details'] ?? {}) as Readonly<Record<string, string>>
  }
}

interface ErrorDetails {
  code: string
  status?: number | null
  body?: Readonly<Record<string, unknown>>
  docUrl?: string | null
  idempotencyKey?: string | undefined
  cause?: unknown
}

/** A webhook that is not from Coinslot, was changed on its way, or is too old. Answer it with 400. */
export class SignatureError extends CoinslotError {
  override readonly name = 'SignatureError'

  constructor(code: 'signature_missing' | 'signature_invalid' | 'timestamp_outside_tolerance', message: string) {
    super(message, { code })
  }
}
