import type { Credentials, SecretPlace } from '../model.ts'

/** The headers and queries of all schemes together. */
export function credentialsOf(places: readonly { readonly place: SecretPlace; readonly value: string }[]): Credentials {
  const headers: Record<string, string> = {}
  const query: Record<string, string> = {}
  const cookies: string[] = []
  const secrets = new Set<string>()
  for (const { place, value } of places) {
    secrets.add(value)
    switch (place.kind) {
      case 'bearer':
        headers['authorization'] = `Bearer ${value}`
        break
      case 'basic': {
        const pair = value.includes(':') ? value : `${value}:`
        const encoded = Buffer.from(pair).toString('base64')
        headers['authorization'] = `Basic ${encoded}`
        secrets.add(encoded).add(pair.slice(pair.indexOf(':') + 1))
        break
      }
      case 'apiKey':
        if (place.in === 'query') query[place.name] = value
        else if (place.in === 'cookie') cookies.push(`${place.name}=${value}`)
        else headers[place.name.toLowerCase()] = value
    }
  }
  if (cookies.length > 0) headers['cookie'] = cookies.join('; ')
  return { headers, query, secrets: [...secrets].filter((secret) => secret !== '') }
}

export const NO_CREDENTIALS: Credentials = { headers: {}, query: {}, secrets: [] }

/**
 * Removes the secrets from what a server answered, also where it encoded them: a provider may repeat what it was sent.
 * Short secrets are left, because they are words of any text too.
 */
export function scrub(answer: Buffer, secrets: readonly string[]): Buffer {
  let text: string | null = null
  for (const secret of secrets) {
    if (secret.length < SECRET_MIN) continue
    for (const form of formsOf(secret)) {
      text ??= answer.toString('latin1')
      if (text.includes(form)) text = text.replaceAll(form, HIDDEN)
    }
  }
  return text === null ? answer : Buffer.from(text, 'latin1')
}

export function scrubText(text: string, secrets: readonly string[]): string {
  return scrub(Buffer.from(text), secrets).toString()
}

function formsOf(secret: string): Set<string> {
  const bytes = Buffer.from(secret)
  return new Set([
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
    secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'),
    bytes.toString('base64'),
    bytes.toString('base64url'),
    bytes.toString('hex'),
  ])
}

const SECRET_MIN = 8
const HIDDEN = '[secret]'
