import { TRPCClientError } from '@trpc/client'

/** Why a request failed, in words for the person who made it. */
export class Fault extends Error {
  override readonly name = 'Fault'
  /** Null when there was no answer. */
  readonly status: number | null
  readonly code: string
  /** The errors of the input, field by field. */
  readonly details: Readonly<Record<string, string>>
  readonly fields: Readonly<Record<string, unknown>>
  readonly requestId: string | null
  /** The page about the code. */
  readonly help: string | null

  constructor(sentence: string, told: Partial<Pick<Fault, 'status' | 'code' | 'fields' | 'requestId' | 'help'>> = {}) {
    super(sentence)
    this.status = told.status ?? null
    this.code = told.code ?? 'unknown'
    this.fields = told.fields ?? {}
    this.details = isTexts(this.fields['details']) ? this.fields['details'] : {}
    this.requestId = told.requestId ?? null
    this.help = told.help ?? null
  }

  /** True when there was no answer: the service may or may not have processed the request. */
  get isSilence(): boolean {
    return this.status === null
  }

  get isSessionOver(): boolean {
    return this.status === 401 && this.code === 'unauthenticated'
  }
}

/** The sign-in reports an error by a code; `fieldOf` maps the code to a field. */
export function inPlace(error: unknown, fieldOf: Readonly<Record<string, string>>): Fault {
  const fault = toFault(error)
  const field = fieldOf[fault.code]
  if (field === undefined) return fault
  const { message, status, code } = fault
  return new Fault(message, { status, code, fields: { details: { [field]: message } } })
}

/** Reported before a request is sent. */
export function missing(...names: readonly string[]): Fault {
  const details = Object.fromEntries(names.map((name) => [name, 'is required']))
  return new Fault('Fill in the required fields.', { status: 400, fields: { details } })
}

export function toFault(error: unknown): Fault {
  if (error instanceof Fault) return error
  if (!(error instanceof TRPCClientError)) return silence()
  const data = error.data as Answered | undefined
  if (data?.httpStatus !== undefined) {
    const { httpStatus: status, reason: code = 'unknown', fields = {}, requestId = null, help = null } = data
    return new Fault(error.message, { status, code, fields, requestId, help })
  }
  // Refused before it reached a procedure, for example by a rate limit.
  const { response, responseJSON } = (error.meta ?? {}) as { response?: Response; responseJSON?: unknown }
  return response === undefined || response.ok ? silence() : fromAnswer(response.status, responseJSON)
}

/** The API's form: `{error, code, requestId, …}`. */
export function fromAnswer(status: number, body: unknown): Fault {
  const { error, code, requestId, ...fields } = isRecord(body) ? body : {}
  // A proxy in front of a service that is down answers in its own form.
  if (typeof error !== 'string')
    return status >= 500 ? away(status) : new Fault('The request failed. Try again.', { status })
  return new Fault(error, {
    status,
    code: typeof code === 'string' ? code : 'unknown',
    requestId: typeof requestId === 'string' ? requestId : null,
    fields,
  })
}

export function silence(): Fault {
  return new Fault('The service did not answer. Check your connection.', { code: 'silence' })
}

function away(status: number): Fault {
  return new Fault('The service is not available right now.', { status, code: 'unavailable' })
}

interface Answered {
  httpStatus?: number
  reason?: string
  fields?: Fields
  requestId?: string
  help?: string | null
}

type Fields = Record<string, unknown>

function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isTexts(value: unknown): value is Record<string, string> {
  return isRecord(value) && Object.values(value).every((text) => typeof text === 'string')
}
