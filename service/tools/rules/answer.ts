import { retryAfterMs } from '../../kit/retry-after.ts'
import { upstreamError } from '../errors/call.ts'
import type { CallId, LargeBody, Output } from '../model/call.ts'
import type { UpstreamAnswer } from '../model/tool.ts'
import { isJson } from './request-body.ts'

/** The output in a server's answer. Throws when the answer is a failure, for which the buyer does not pay. */
export function outputOf(answer: UpstreamAnswer, wantsJson: boolean): Output {
  const { body, link = null } = answer
  const type = typeOf(answer, wantsJson)
  if (body.length === 0) return { kind: 'json', value: null }
  if (type !== null && isJson(type)) return { kind: 'json', value: jsonOf(body), ...(link === null ? null : { link }) }
  if (type === null || isText(type)) return textOf(body, type)
  return { kind: 'binary', value: { contentType: type, base64: body.toString('base64'), bytes: body.length } }
}

/** An answer that is too large to be sent, as it came. Throws like `outputOf`. */
export function largeOf(answer: UpstreamAnswer, wantsJson: boolean): LargeBody {
  return { contentType: typeOf(answer, wantsJson) ?? 'application/octet-stream', body: answer.body }
}

function typeOf({ status, body, contentType }: UpstreamAnswer, wantsJson: boolean): string | null {
  const type = contentType?.split(';')[0]?.trim().toLowerCase() ?? null
  if (status < 200 || status > 299) throw refused(status, type, body)
  if (type === 'text/html' && wantsJson && body.length > 0) {
    throw upstreamError('The tool returned HTML instead of data.', { status, message: null })
  }
  return type
}

/**
 * How long a server that refuses a call for its number wants none. Null where it does not refuse. At most a minute: then
 * it is asked again.
 */
export function restOf({ status, follow }: UpstreamAnswer, now: Date): number | null {
  if (status !== 429) return null
  return Math.max(retryAfterMs(follow?.retryAfter, { now: now.getTime(), maxMs: REST_MAX_MS }) ?? 0, REST_MS)
}

const REST_MS = 1_000
const REST_MAX_MS = 60_000

/** The name under which a kept answer is saved. */
export function nameOfAnswer(slug: string, callId: CallId, contentType: string): string {
  const type = isJson(contentType) ? 'application/json' : contentType
  return `${slug.slice(0, 150)}-${callId.slice('call_'.length)}.${ENDINGS[type] ?? 'bin'}`
}

const ENDINGS: Readonly<Record<string, string>> = {
  'application/json': 'json',
  'application/pdf': 'pdf',
  'application/xml': 'xml',
  'application/zip': 'zip',
  'application/x-ndjson': 'ndjson',
  'application/gzip': 'gz',
  'audio/mpeg': 'mp3',
  'image/gif': 'gif',
  'image/jpeg': 'jpg',
  'image/png': 'png',
  'image/svg+xml': 'svg',
  'image/webp': 'webp',
  'text/csv': 'csv',
  'text/html': 'html',
  'text/plain': 'txt',
  'text/xml': 'xml',
  'video/mp4': 'mp4',
}

/** A 4xx status other than these means that the call was wrong, so it does not count against the tool. */
export function blames(status: number): 'upstream' | 'caller' {
  return status >= 500 || [401, 402, 403, 407, 408, 425, 429].includes(status) ? 'upstream' : 'caller'
}

function refused(status: number, type: string | null, body: Buffer): Error {
  const text = type === 'text/html' ? '' : body.subarray(0, MESSAGE_BYTES).toString('utf8').trim()
  const sentence =
    status >= 300 && status < 400
      ? 'The tool answered with a redirect that is not followed.'
      : `The tool refused the call with ${String(status)}.`
  return upstreamError(sentence, { status, message: text === '' ? null : messageIn(text) })
}

/** Most APIs put the error message into one of these fields. */
function messageIn(text: string): string {
  try {
    const said = JSON.parse(text) as Record<string, unknown> | null
    for (const name of ['message', 'error', 'detail', 'error_description', 'title']) {
      const value = said?.[name]
      if (typeof value === 'string') return value.slice(0, MESSAGE_LENGTH)
      const inner = (value as { message?: unknown } | null | undefined)?.message
      if (typeof inner === 'string') return inner.slice(0, MESSAGE_LENGTH)
    }
  } catch {
    // The text is not JSON, or was cut off.
  }
  return text.slice(0, MESSAGE_LENGTH)
}

function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8')) as unknown
  } catch (error) {
    throw upstreamError('The tool declared JSON but returned something else.', undefined, error)
  }
}

function isText(type: string): boolean {
  return type.startsWith('text/') || /[/+](xml|yaml|x-yaml|javascript|x-ndjson|graphql|csv)$/.test(type)
}

/** Bytes that are not valid text are returned as bytes, regardless of their content type. */
function textOf(body: Buffer, type: string | null): Output {
  const text = body.toString('utf8')
  if (!text.includes('\u0000') && (type !== null || Buffer.from(text).equals(body)))
    return { kind: 'text', value: text }
  const contentType = type ?? 'application/octet-stream'
  return { kind: 'binary', value: { contentType, base64: body.toString('base64'), bytes: body.length } }
}

const MESSAGE_BYTES = 4_096
const MESSAGE_LENGTH = 500
