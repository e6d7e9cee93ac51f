import type { Credentials } from '../model/provider.ts'
import type { AuthScheme } from '../model/tool.ts'

export const NO_CREDENTIALS: Credentials = { headers: {}, query: {} }

/** Where a provider wants its secret. */
export function credentialsOf(scheme: AuthScheme, secret: string): Credentials {
  switch (scheme.kind) {
    case 'bearer':
      return header('authorization', `Bearer ${secret}`)
    case 'basic':
      return header(
        'authorization',
        `Basic ${Buffer.from(secret.includes(':') ? secret : `${secret}:`).toString('base64')}`,
      )
    case 'apiKey':
      if (scheme.in === 'query') return { headers: {}, query: { [scheme.name]: secret } }
      if (scheme.in === 'cookie') return header('cookie', `${scheme.name}=${secret}`)
      return header(scheme.name.toLowerCase(), secret)
  }
}

function header(name: string, value: string): Credentials {
  return { headers: { [name]: value }, query: {} }
}
