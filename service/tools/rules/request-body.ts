import { createHash } from 'node:crypto'
import type { HttpUpstream, Place } from '../model/tool.ts'
import { isSentFile, type SentFile } from './files.ts'

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
  if (type === 'multipart/form-data') return multipart(partsOf(value))
  if (isSentFile(value)) return { type: type.includes('*') ? value.contentType : bodyType, content: value.bytes }
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

/** The parts of a form: files as they are, everything else as text. */
function partsOf(value: unknown): [string, string | SentFile][] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return fields('value', value)
  return Object.entries(value).flatMap(([key, inner]): [string, string | SentFile][] => {
    const files = [inner].flat().filter(isSentFile)
    return files.length > 0 ? files.map((file) => [key, file]) : fields(key, inner)
  })
}

/** The boundary is derived from the parts, so the same input always gives the same request. */
function multipart(parts: readonly [string, string | SentFile][]): Body {
  const hash = createHash('sha256')
  const chunks = parts.flatMap(([name, content]) => {
    const [head, bytes] = partOf(name, content)
    hash.update(head).update(bytes)
    return [{ head, bytes }]
  })
  const boundary = `coinslot-${hash.digest('hex').slice(0, 32)}`
  const all = chunks.flatMap(({ head, bytes }) => [Buffer.from(`--${boundary}\r\n${head}\r\n`), bytes, LINE])
  return {
    type: `multipart/form-data; boundary=${boundary}`,
    content: Buffer.concat([...all, Buffer.from(`--${boundary}--\r\n`)]),
  }
}

function partOf(name: string, content: string | SentFile): [head: string, bytes: Uint8Array] {
  const disposition = `Content-Disposition: form-data; name="${quoted(name)}"`
  if (typeof content === 'string') return [`${disposition}\r\n`, Buffer.from(content)]
  const { bytes, name: file, contentType } = content
  return [`${disposition}; filename="${quoted(file)}"\r\nContent-Type: ${contentType}\r\n`, bytes]
}

function quoted(name: string): string {
  return name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

const LINE = Buffer.from('\r\n')

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
