import { clientRegistrationHandler } from '@modelcontextprotocol/sdk/server/auth/handlers/register.js'
import { revocationHandler } from '@modelcontextprotocol/sdk/server/auth/handlers/revoke.js'
import { tokenHandler } from '@modelcontextprotocol/sdk/server/auth/handlers/token.js'
import { CustomOAuthError, ServerError } from '@modelcontextprotocol/sdk/server/auth/errors.js'
import type { OAuthServerProvider } from '@modelcontextprotocol/sdk/server/auth/provider.js'
import type { OAuthClientInformationFull, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js'
import type { RequestHandler } from 'express'
import { DomainError } from '../../kit/errors.ts'
import type { Log } from '../../kit/log.ts'
import type { Client, Tokens } from '../model.ts'
import { ACCESS_SECONDS } from '../rules/grants.ts'
import type { Clients } from '../service/clients.ts'
import type { Grants } from '../service/grants.ts'

/** The endpoints that clients call themselves; the MCP SDK decodes their requests and encodes the answers. */
export function clientEndpoints({ clients, grants, log }: EndpointDeps): Record<EndpointName, RequestHandler> {
  const clientsStore = {
    getClient: async (id: string) => toInformation(await inOAuthTerms(log, () => clients.identify(id))),
    registerClient: async (said: Readonly<Record<string, unknown>>) =>
      // All clients are public, also one that asks for a secret: RFC 7591 lets the server decide.
      toInformation(await inOAuthTerms(log, () => clients.register({ ...said, token_endpoint_auth_method: 'none' }))),
  }
  const provider: OAuthServerProvider = {
    clientsStore,
    authorize: unused,
    challengeForAuthorizationCode: unused,
    verifyAccessToken: unused,
    // The challenge is compared in the transaction that uses the code.
    skipLocalPkceValidation: true,
    async exchangeAuthorizationCode({ client_id: clientId }, code, ...[verifier, redirectUri, resource]) {
      const proof = { clientId, verifier, redirectUri, resource: resource?.href }
      return toAnswer(await inOAuthTerms(log, () => grants.redeem(code, proof)))
    },
    async exchangeRefreshToken({ client_id: clientId }, token, _scopes, resource) {
      return toAnswer(await inOAuthTerms(log, () => grants.refresh(token, { clientId, resource: resource?.href })))
    },
    revokeToken: ({ client_id: clientId }, { token }) => inOAuthTerms(log, () => grants.revoke(token, clientId)),
  }
  // The service's own limits count across processes.
  const options = { provider, clientsStore, rateLimit: false, clientIdGeneration: false } as const
  return {
    '/token': tokenHandler(options),
    '/revoke': revocationHandler(options),
    '/register': clientRegistrationHandler(options),
  }
}

type EndpointName = '/token' | '/revoke' | '/register'

interface EndpointDeps {
  clients: Clients
  grants: Grants
  log: Log
}

/** The SDK answers any other error with 500 and logs nothing. */
async function inOAuthTerms<T>(log: Log, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof DomainError && error.kind === 'invalid') throw new CustomOAuthError(error.code, error.message)
    log.error({ err: error }, 'an OAuth request failed')
    throw new ServerError('Something went wrong on our side. Try again.')
  }
}

function toAnswer({ access, refresh }: Tokens): OAuthTokens {
  return { access_token: access, token_type: 'Bearer', expires_in: ACCESS_SECONDS, refresh_token: refresh }
}

function toInformation({ id, name, redirectUris }: Client): OAuthClientInformationFull {
  return {
    client_id: id,
    client_name: name,
    redirect_uris: [...redirectUris],
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
  }
}

function unused(): Promise<never> {
  return Promise.reject(new Error('The endpoints that are used here do not call this.'))
}
