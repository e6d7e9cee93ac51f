import { helpHeaders } from '../kit/error-codes/catalogue.ts'
import { DomainError, type Kind } from '../kit/errors.ts'

/** Maps each kind of error to its HTTP status. */
const STATUS = {
  held: 202,
  invalid: 400,
  unauthenticated: 401,
  unaffordable: 402,
  forbidden: 403,
  missing: 404,
  conflict: 409,
  expired: 410,
  'too-large': 413,
  unsupported: 415,
  limited: 429,
  failed: 500,
  upstream: 502,
  unavailable: 503,
  late: 504,
} as const satisfies Record<Kind, number>

/** Extra fields in a route's error bodies. */
export type MoreFields = (error: { code: string; sentence: string }) => Readonly<Record<string, unknown>>

export interface ErrorAnswer {
  status: number
  headers: Record<string, string>
  body: Record<string, unknown>
}

/**
 * The answer to a caller. A `DomainError` carries its own message; any other error is our fault, and the caller gets
 * only the request's id. Nothing internal leaves the service: no stack, no SQL statement, no host name.
 */
export function answerError(error: unknown, requestId: string, more?: MoreFields): ErrorAnswer {
  const plain = plainAnswer(error, requestId)
  const { error: sentence, code } = plain.body
  const answer = { ...plain, headers: { ...plain.headers, ...helpHeaders(code) } }
  if (more === undefined) return answer
  return { ...answer, body: { ...more({ sentence, code }), ...answer.body } }
}

function plainAnswer(error: unknown, requestId: string): ErrorAnswer & { body: { error: string; code: string } } {
  if (!(error instanceof DomainError)) {
    const theirs = faultOfInput(error)
    if (theirs !== null) return plainAnswer(theirs, requestId)
    const busy = isDatabaseAway(error)
    return {
      status: busy ? 503 : 500,
      headers: busy ? { 'Retry-After': '1' } : {},
      body: busy
        ? { error: 'The service cannot reach its database; try again.', code: 'unavailable', requestId }
        : { error: 'Something went wrong on our side.', code: 'internal', requestId },
    }
  }
  const { retryAfterSeconds, ...fields } = error.fields
  const headers: Record<string, string> = {}
  if (typeof retryAfterSeconds === 'number') headers['Retry-After'] = String(retryAfterSeconds)
  if (error.kind === 'unauthenticated') headers['WWW-Authenticate'] = 'Bearer'
  return { status: STATUS[error.kind], headers, body: { error: error.message, code: error.code, requestId, ...fields } }
}

/** True for errors that belong in the error log: our own faults, not a caller's mistakes. */
export function isOurFault(error: unknown): boolean {
  return error instanceof DomainError ? error.kind === 'failed' : faultOfInput(error) === null
}

/**
 * The last check, for when an endpoint let a NUL character through to PostgreSQL. Nothing was stored. The error cannot
 * name the field any more, so endpoints should check their input themselves.
 */
export function faultOfInput(error: unknown): DomainError | null {
  if (!UNSTORABLE.has(postgresCodeOf(error))) return null
  const details = { body: 'must not contain the character \\u0000' }
  return new DomainError('invalid', 'invalid_input', 'The input is invalid.', { details }).causedBy(error)
}

/** Prisma wraps the database's error in one of its own. */
function postgresCodeOf(error: unknown): string {
  const thrown = error as {
    code?: unknown
    meta?: { driverAdapterError?: { cause?: { originalCode?: unknown } } }
  } | null
  return String(thrown?.meta?.driverAdapterError?.cause?.originalCode ?? thrown?.code)
}

/** PostgreSQL's error codes for a text, or a JSON value, that contains a NUL character. */
const UNSTORABLE = new Set(['22021', '22P05'])

const AWAY = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  '57P01',
  '57P02',
  '57P03',
  '53300',
  '08006',
  '08003',
  // The same errors as Prisma's own codes.
  'P1001',
  'P1002',
  'P1008',
  'P1017',
  'P2024',
])

/** The driver has no codes for these. */
const AWAY_WORDS = /^(Connection terminated|Client has encountered a connection error|timeout exceeded when trying)/

function isDatabaseAway(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false
  const { code, message } = error as { code?: unknown; message?: unknown }
  return AWAY.has(String(code)) || AWAY_WORDS.test(String(message))
}
