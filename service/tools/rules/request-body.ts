import { createHash } from 'node:crypto'
import type { HttpUpstream, Place } from '../model/tool.ts'

export interface Body {
  type: string
  content: string | Uint8Array
}

/**
 * The part of an input that goes into the body. Null when the operation has no body, or the input has nothing for it.
 */
export function bodyOf({ bodyType, where }: HttpUpstream, given: readonly PlacedInput[]): Body | null {
  if (bodyType === null) return null
  const root = given.find(({ place }) => place.in === 'bodyRoot')
  const parts = given.filter(({ place }) => place.in === 'body')
  const wants = Object.values(where).some((place) => place.in === 'body')
  if (root === undefined && parts.length === 0 && !wants) return null
  const value =
    root === undefined ? Object.fromEntries(parts.map(({ place, value }) => [place.name, value])) : root.value
  return encode(bodyType, value)
}

function encode(bodyType: string, value: unknown): Body {
  const type = bodyType.split(';')[0]?.trim().toLowerCase() ?? ''
  if (type === 'application/x-www-form-urlencoded') {
    return { type, content: new URLSearchParams(entriesOf(value)).toString() }
  }
  if (type === 'multipart/form-data') return multipart(entriesOf(value))
  if (isJson(type)) return { type: bodyType, content: JSON.stringify(value) }
  return { type: bodyType, content: asText(value) }
}

export function isJson(type: string): boolean {
  return type === 'application/json' || type.endsWith('+json') || type === '*/*' || type === 'text/json'
}

function entriesOf(value: unknown): [string, string][] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return fields('value', value)
  return Object.entries(value).flatMap(([key, inner]) => fields(key, inner))
}

/** The boundary is derived from the parts, so the same input always gives the same request. */
function multipart(entries: readonly [string, string][]): Body {
  const boundary = `coinslot-${createHash('sha256').update(JSON.stringify(entries)).digest('hex').slice(0, 32)}`
  const quoted = (name: string): string => name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
  const parts = entries.map(
    ([name, text]) => `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"\r\n\r\n${text}\r\n`,
  )
  return { type: `multipart/form-data; boundary=${boundary}`, content: `${parts.join('')}--${boundary}--\r\n` }
}

/** An input's value, and where it goes. */
export interface PlacedInput {
  name: string
  place: Place
  value: unknown
}

/** A value in a place that only holds text. */
export function asText(value: unknown, json = false): string {
  if (!json && typeof value === 'string') return value
  return JSON.stringify(value)
}

/**
 * The style `simple`: a list separated by commas, an object as its keys and values in turn, or as `key=value` when
 * exploded.
 */
export function joined(value: unknown, explode: boolean): string[] {
  if (Array.isArray(value)) return value.map((item) => asText(item))
  if (typeof value !== 'object' || value === null) return [asText(value)]
  return Object.entries(value).flatMap(([key, inner]) => (explode ? [`${key}=${asText(inner)}`] : [key, asText(inner)]))
}

/** A nested value as form fields: `name[key][inner]`, as most servers read them. */
export function fields(name: string, value: unknown): [string, string][] {
  if (Array.isArray(value)) return value.flatMap((item) => fields(typeof item === 'object' ? `${name}[]` : name, item))
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([key, inner]) => fields(`${name}[${key}]`, inner))
  }
  return [[name, asText(value)]]
}
