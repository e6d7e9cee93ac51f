import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { Clock } from '../../kit/clock.ts'
import type { Log } from '../../kit/log.ts'
import { createDiscovery, readDocument } from '../discovery.ts'
import { identityProviderUnavailable, unauthenticated } from '../errors.ts'
import { claimsOf, toPerson } from '../issuer.ts'
import type { Person } from '../../kit/caller.ts'
import type { FetchDocument } from '../ports.ts'

/**
 * OpenID Connect's code flow with PKCE (RFC 7636): it builds the provider's sign-in address and verifies the person who
 * comes back. The ID token is accepted if its signature is valid, if it is for this client, and if its nonce is that of
 * the sign-in that was started.
 */
export function codeFlow(options: CodeFlowOptions) {
  const { clock, client, redirectUri } = options
  const discover = createDiscovery(options)

  return {
    async addressOf({ state, verifier, nonce }: Begun): Promise<string> {
      const { authorizationEndpoint } = await discover(clock.now())
      if (authorizationEndpoint === null) throw identityProviderUnavailable()
      const url = new URL(authorizationEndpoint)
      const asked = {
        response_type: 'code',
        client_id: client.id,
        redirect_uri: redirectUri,
        scope: 'openid email profile',
        state,
        nonce,
        code_challenge: createHash('sha256').update(verifier).digest('base64url'),
        code_challenge_method: 'S256',
      }
      for (const [name, value] of Object.entries(asked)) url.searchParams.set(name, value)
      return url.href
    },

    async personOf({ code, verifier, nonce }: Omit<Begun, 'state'> & { code: string }): Promise<Person> {
      const described = await discover(clock.now())
      if (described.tokenEndpoint === null) throw identityProviderUnavailable()
      const form = new URLSearchParams({
        grant_type: 'authorization_code',
        code,
        redirect_uri: redirectUri,
        code_verifier: verifier,
        ...(client.secret === null ? { client_id: client.id } : {}),
      })
      const answered = await readDocument(described.tokenEndpoint, options, { form, ...authorizationOf(client) })
      const tokens = granted.safeParse(answered)
      if (!tokens.success) throw identityProviderUnavailable(tokens.error)
      const { id_token: idToken, access_token: accessToken } = tokens.data
      const claims = await claimsOf(idToken, described, client.id, clock.now())
      const isForUs = !Array.isArray(claims.aud) || claims.aud.length === 1 || claims['azp'] === client.id
      if (claims['nonce'] !== nonce || !isForUs) throw unauthenticated()
      if (claims['email'] !== undefined || described.userinfoEndpoint === null) return toPerson(options.issuer, claims)
      // A provider may follow the standard strictly and give an e-mail address only at its userinfo endpoint.
      const more = await readDocument(described.userinfoEndpoint, options, { authorization: `Bearer ${accessToken}` })
      const told = profile.safeParse(more)
      if (!told.success || told.data.sub !== claims.sub) throw unauthenticated('credential_invalid', told.error)
      return toPerson(options.issuer, { ...claims, ...told.data })
    },
  }
}

export interface CodeFlowOptions {
  issuer: string
  clock: Clock
  client: Client
  redirectUri: string
  fetchDocument: FetchDocument
  log: Log
}

/** This service's client registration at the provider; a client without a secret proves itself by PKCE alone. */
interface Client {
  id: string
  secret: string | null
}

interface Begun {
  state: string
  verifier: string
  nonce: string
}

function authorizationOf({ id, secret }: Client): { authorization?: string } {
  if (secret === null) return {}
  const both = [id, secret].map((part) => encodeURIComponent(part)).join(':')
  return { authorization: `Basic ${Buffer.from(both).toString('base64')}` }
}

const granted = z.object({ id_token: z.string(), access_token: z.string() })
const profile = z.looseObject({ sub: z.string() })
