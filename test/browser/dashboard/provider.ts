import { generateKeyPairSync } from 'node:crypto'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A real OpenID Connect provider: typing a name there signs in as that person. */
export interface OrganisationsProvider {
  issuer: string
  client: { id: string; secret: string }
  close(): Promise<void>
}

/** The provider has not verified `unconfirmed@…`; a name without an @ has no address. */
export async function startProvider(redirectUri: () => string): Promise<OrganisationsProvider> {
  // The provider warns developers that it runs in memory; tests need no such warning.
  Object.assign(console, { info: () => undefined, warn: () => undefined })
  const { default: Provider } = await import('oidc-provider')
  let answer: RequestListener | null = null
  const server = createServer((request, response) => {
    // The redirect address is known only by the time of the first request.
    answer ??= open()
    answer(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`
  const client = { id: 'coinslot', secret: 'a secret that both sides know' }
  const key = generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey.export({ format: 'jwk' })
  const open = (): RequestListener => {
    const provider = new Provider(issuer, {
      clients: [
        {
          client_id: client.id,
          client_secret: client.secret,
          redirect_uris: [redirectUri()],
          response_types: ['code'],
          grant_types: ['authorization_code'],
        },
      ],
      jwks: { keys: [{ ...key, use: 'sig', alg: 'RS256', kid: 'one' }] },
      cookies: { keys: ['of the tests'] },
      claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
      pkce: { required: () => true },
      ttl: { Interaction: 600, Session: 600, Grant: 600, AccessToken: 600, IdToken: 600 },
      findAccount: (_context: unknown, id: string) => ({
        accountId: id,
        claims: () => ({
          sub: id,
          name: id.split('@')[0],
          ...(id.includes('@') ? { email: id, email_verified: !id.startsWith('unconfirmed') } : {}),
        }),
      }),
    })
    return provider.callback()
  }
  return {
    issuer,
    client,
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve()
        })
        server.closeAllConnections()
      }),
  }
}
