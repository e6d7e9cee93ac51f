import { validateHeaderName, validateHeaderValue } from 'node:http'
import { HOP_BY_HOP } from '../kit/http.ts'
import { headerRefused, methodRefused } from './errors.ts'
import type { ResponseHeaders } from './model.ts'

/**
 * Refuses headers that a caller may not set: those that frame the message and so decide where one request ends and the
 * next begins, and those that identify the sender. Also used when headers are saved, long before they are sent.
 */
export function checkHeaders(headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) {
    if (!accepts(validateHeaderName, name)) throw headerRefused(name, 'is not a header name')
    if (OURS.has(name.toLowerCase())) throw headerRefused(name, 'is set by the service itself')
    if (!accepts(validateHeaderValue, name, value)) throw headerRefused(name, 'has a value that HTTP does not allow')
  }
}

/** The method in upper case. CONNECT would open a tunnel, TRACE would send the headers back. */
export function toMethod(method = 'GET'): string {
  const upper = method.toUpperCase()
  if (!/^[A-Z][A-Z-]{0,31}$/.test(upper) || upper === 'CONNECT' || upper === 'TRACE') throw methodRefused(method)
  return upper
}

export function toAnswerHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): ResponseHeaders {
  const passed = Object.entries(headers).filter(
    (entry): entry is [string, string | string[]] => entry[1] !== undefined && !WIRE.has(entry[0]),
  )
  return Object.fromEntries(passed)
}

export const AGENT = 'Coinslot/0.1'

const OURS: ReadonlySet<string> = new Set([
  ...HOP_BY_HOP,
  'accept-encoding',
  'content-length',
  'expect',
  'host',
  'user-agent',
])

const WIRE: ReadonlySet<string> = new Set([...HOP_BY_HOP, 'content-encoding', 'content-length'])

function accepts<Args extends unknown[]>(validate: (...args: Args) => void, ...args: Args): boolean {
  try {
    validate(...args)
    return true
  } catch {
    return false
  }
}
