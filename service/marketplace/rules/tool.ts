import type { AuthType } from '../model/asset.ts'
import { textOf } from './template.ts'

/** The header by which a tool's server knows its creator; null where none is needed. */
export function authHeader(
  type: AuthType,
  headerName: string | null,
  secrets: Readonly<Record<string, string>>,
): [string, string] | null {
  switch (type) {
    case 'none':
      return null
    case 'api_key':
      // Without a key of its own it is one of the API's headers already.
      return secrets['apiKey'] === undefined || headerName === null
        ? null
        : [headerName.toLowerCase(), secrets['apiKey']]
    case 'bearer':
      return ['authorization', `Bearer ${secrets['token'] ?? ''}`]
    case 'basic': {
      const pair = `${secrets['username'] ?? ''}:${secrets['password'] ?? ''}`
      return ['authorization', `Basic ${Buffer.from(pair, 'utf8').toString('base64')}`]
    }
  }
}

/** What has no body asks by its query. */
export function asksByQuery(method: string): boolean {
  return method === 'GET' || method === 'DELETE'
}

/** The address with the values in its query; a list becomes its name several times, anything deeper JSON. */
export function withQuery(endpoint: string, values: unknown): string | null {
  const url = new URL(endpoint)
  if (values === undefined || values === null) return url.href
  if (typeof values !== 'object' || Array.isArray(values)) return null
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined || value === null) continue
    for (const one of Array.isArray(value) ? (value as unknown[]) : [value]) url.searchParams.append(name, textOf(one))
  }
  return url.href
}

/** An answer as a transform sees it: JSON where it is, else its text. */
export function readAnswer(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return body
  }
}
