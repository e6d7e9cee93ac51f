import { invalid } from '../../kit/errors.ts'
import type { Credentials } from '../../connections/model.ts'
import type { HttpUpstream, Place, UpstreamRequest } from '../model/tool.ts'
import { bodyOf, asText, fields, joined, type PlacedInput } from './request-body.ts'

type Input = Readonly<Record<string, unknown>>

/** The request for an input, as the provider's document describes it. */
export function requestOf(
  upstream: HttpUpstream,
  input: Input,
  credentials: Pick<Credentials, 'headers' | 'query'>,
): UpstreamRequest {
  const given = Object.entries(upstream.where).flatMap(([name, place]) =>
    Object.hasOwn(input, name) && input[name] !== undefined ? [{ name, place, value: input[name] }] : [],
  )
  const placed = (where: Place['in']) => given.filter(({ place }) => place.in === where)
  const headers: Record<string, string> = { accept: 'application/json, text/*;q=0.9, */*;q=0.5' }
  for (const { name, place, value } of placed('header'))
    headers[place.name.toLowerCase()] = headerOf(name, place, value)
  const body = bodyOf(upstream, given)
  if (body !== null) headers['content-type'] = body.type
  const cookies = placed('cookie').map(({ place, value }) => `${place.name}=${encodeURIComponent(asText(value))}`)
  // Set last, so that a caller's headers cannot replace our credentials; a caller's cookies stand behind ours.
  for (const [name, value] of Object.entries(credentials.headers)) headers[name.toLowerCase()] = value
  if (cookies.length > 0) headers['cookie'] = [headers['cookie'] ?? [], cookies].flat().join('; ')
  return { url: urlOf(upstream, given, credentials), method: upstream.method, headers, body: body?.content ?? null }
}

function urlOf(upstream: HttpUpstream, given: readonly PlacedInput[], credentials: Pick<Credentials, 'query'>): string {
  const values = new Map(given.flatMap((one) => (one.place.in === 'path' ? [[one.place.name, one] as const] : [])))
  const path = upstream.path.replaceAll(/\{([^{}]+)\}/g, (whole, name: string) => {
    const one = values.get(name)
    if (one === undefined) throw invalid({ [name]: 'is required' })
    return pathOf(one, whole)
  })
  const url = new URL(upstream.server + path)
  // Values that are valid one by one may together form a dot segment.
  if (segmentsOf(url) !== segmentsOf(new URL(upstream.server + upstream.path.replaceAll(/\{([^{}]+)\}/g, 'x'))))
    throw invalid({ [[...values.values()][0]?.name ?? 'body']: 'must stay within the path of the operation' })
  for (const { place, value } of given) {
    if (place.in !== 'query') continue
    for (const [key, text] of queryOf(place, value)) url.searchParams.append(key, text)
  }
  for (const [key, text] of Object.entries(credentials.query)) url.searchParams.set(key, text)
  return url.href
}

function segmentsOf({ pathname }: URL): number {
  return pathname.split('/').length
}

function pathOf({ name, place, value }: PlacedInput, placeholder: string): string {
  const { style = 'simple', explode = false } = place
  const parts = place.json === true ? [asText(value, true)] : joined(value, explode)
  for (const part of parts) {
    const fault = pathFault(part)
    if (fault !== null) throw invalid({ [name]: fault })
  }
  const encoded = parts.map((part) => encodeURIComponent(part).replaceAll('%3D', '='))
  const text =
    place.json === true || !Array.isArray(value) ? encoded.join(',') : encoded.join(style === 'label' ? '.' : ',')
  // A dot segment would lead to another operation's address, and an empty value to the whole list.
  if (text === '' || text === '.' || text === '..') throw invalid({ [name]: 'must not be empty, "." or ".."' })
  if (style === 'label') return `.${text}`
  if (style === 'matrix') return `;${placeholder.slice(1, -1)}=${text}`
  return text
}

function headerOf(name: string, place: Place, value: unknown): string {
  const text = place.json === true ? asText(value, true) : joined(value, place.explode ?? false).join(',')
  if (/[^\t\x20-\x7e\x80-\xff]/.test(text)) throw invalid({ [name]: 'must be text that fits into a header' })
  return text
}

/** OpenAPI's styles for a list or an object in a query. The default is `form`, exploded. */
function queryOf(place: Place, value: unknown): [string, string][] {
  const { name, style = 'form', explode = style === 'form' } = place
  if (place.json === true) return [[name, asText(value, true)]]
  if (Array.isArray(value)) {
    const items = value.map((item) => asText(item))
    if (explode && style === 'form') return items.map((item) => [name, item])
    const separator = style === 'spaceDelimited' ? ' ' : style === 'pipeDelimited' ? '|' : ','
    if (style === 'deepObject') return items.map((item) => [`${name}[]`, item])
    return [[name, items.join(separator)]]
  }
  if (typeof value === 'object' && value !== null) {
    if (style === 'deepObject') return fields(name, value)
    const entries = Object.entries(value as Input)
    if (explode) return entries.map(([key, inner]) => [key, asText(inner)])
    return [[name, entries.flatMap(([key, inner]) => [key, asText(inner)]).join(',')]]
  }
  return [[name, asText(value)]]
}

/**
 * Why a text may not be part of a path, or null. Proxies between here and the tool's server may decode a path more
 * often than they should, so the text must stay within the operation's own address after any number of decodings.
 */
function pathFault(text: string): string | null {
  let read = text
  for (let layer = 0; layer < LAYERS_MAX; layer++) {
    if (/[\0\\]/.test(read)) return 'must not contain a backslash or a NUL character'
    if (slashesOf(read) > slashesOf(text)) return 'must not contain an encoded slash'
    if (read.split('/').some((segment) => isDots(segment))) return 'must not contain "." or ".." as a path segment'
    const decoded = decodedOnce(read)
    if (decoded === read) return null
    read = decoded
  }
  return 'is encoded too many times'
}

function slashesOf(text: string): number {
  return text.split('/').length
}

const LAYERS_MAX = 6

/** Some servers drop the text after a semicolon before they resolve the path. */
function isDots(segment: string): boolean {
  const name = segment.split(';')[0]?.trim()
  return name === '.' || name === '..'
}

/**
 * Also decodes forms that no standard allows and old servers accept: `%u002e`, and dots and slashes in overlong UTF-8.
 */
function decodedOnce(text: string): string {
  return text
    .replaceAll(/%u00([0-9a-f]{2})/gi, (_, hex: string) => character(hex))
    .replaceAll(/%(?:c0%|e0%80%)([89ab][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16) & 0x3f))
    .replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) => character(hex))
}

function character(hex: string): string {
  return String.fromCharCode(parseInt(hex, 16))
}
