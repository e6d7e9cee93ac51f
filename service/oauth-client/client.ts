import * as oauth from 'oauth4webapi'
import { GrantOver } from '../connections/errors.ts'
import type { AuthorizationServer, Tokens } from '../connections/model.ts'
import type { AuthorizationRequest, AuthorizationServers, ServerClient } from '../connections/ports.ts'
import { invalid } from '../kit/errors.ts'
import { isClientRefused, isCodeOver, refusalOf, toDeviceCode, toTokens, Waiting, WAITS } from './answers.ts'
import { discover, findServer, type ResourceRequests } from './discovery.ts'
import type { OutboundRequest, OutboundResponse } from '../outbound/model.ts'

type Send = (request: OutboundRequest) => Promise<OutboundResponse>

/** OAuth 2 as a client of other companies' servers. `plainHttp` says which hosts may be called without https. */
export function createAuthorizationServers(send: Send, plainHttp: (url: URL) => boolean): AuthorizationServers {
  // oxlint-disable-next-line typescript/no-deprecated -- `checked` holds https, except for hosts that the operator allows
  const options = { [oauth.customFetch]: fetchBy(send, TOKENS_MS), [oauth.allowInsecureRequests]: true }
  const fetchMetadata = fetchBy(send, METADATA_MS)
  const looking = { ...options, [oauth.customFetch]: fetchMetadata }
  const requests: ResourceRequests = {
    challengeOf: (url) => challengeAt(send, url),
    metadataAt: (url) =>
      fetchMetadata(url, { method: 'GET', headers: { accept: 'application/json' }, body: undefined }),
  }

  function checked(url: string, field: string): string {
    const target = URL.canParse(url) ? new URL(url) : null
    if (target?.protocol === 'https:') return url
    if (target?.protocol === 'http:' && plainHttp(target)) return url
    throw invalid({ [field]: 'must begin with https://' })
  }

  async function tokensOf(name: string, request: () => Promise<oauth.TokenEndpointResponse>): Promise<Tokens> {
    try {
      return toTokens(await request())
    } catch (error) {
      throw refusalOf(name, error)
    }
  }

  function partsOf({ server, client, secret }: ServerClient) {
    checked(server.tokenUrl, 'tokenUrl')
    const authentication =
      secret === null || client.authentication === 'none'
        ? oauth.None()
        : client.authentication === 'post'
          ? oauth.ClientSecretPost(secret)
          : oauth.ClientSecretBasic(secret)
    return { as: toLibrary(server), client: { client_id: client.clientId }, authentication }
  }

  return {
    discover: (issuer) => discover(issuer, looking, checked),
    find: (resources) => findServer(resources, { ...looking, requests }, checked),

    async challenge() {
      const verifier = oauth.generateRandomCodeVerifier()
      const challenge = await oauth.calculatePKCECodeChallenge(verifier)
      return { state: oauth.generateRandomState(), verifier, challenge }
    },

    authorizationUrl: ({ authorizationUrl }, request) =>
      authorizationUrlOf(checked(authorizationUrl ?? '', 'authorizationUrl'), request),

    redeem: (grant, { parameters, state, verifier, redirectUri }) =>
      tokensOf(grant.name, async () => {
        const { as, client, authentication } = partsOf(grant)
        const answer = oauth.validateAuthResponse(as, client, parameters, state)
        const response = await oauth.authorizationCodeGrantRequest(
          ...([as, client, authentication, answer, redirectUri, verifier, options] as const),
        )
        return await oauth.processAuthorizationCodeResponse(as, client, response)
      }),

    async deviceCode(grant, scopes) {
      try {
        checked(grant.server.deviceUrl ?? '', 'deviceUrl')
        const { as, client, authentication } = partsOf(grant)
        const parameters: Record<string, string> = scopes.length === 0 ? {} : { scope: scopes.join(' ') }
        const response = await oauth.deviceAuthorizationRequest(as, client, authentication, parameters, options)
        return toDeviceCode(await oauth.processDeviceAuthorizationResponse(as, client, response), checked)
      } catch (error) {
        throw refusalOf(grant.name, error)
      }
    },

    async poll(grant, deviceCode) {
      try {
        return await tokensOf(grant.name, async () => {
          const { as, client, authentication } = partsOf(grant)
          const response = await oauth.deviceCodeGrantRequest(as, client, authentication, deviceCode, options)
          return await oauth.processDeviceCodeResponse(as, client, response).catch((error: unknown) => {
            const waits = error instanceof oauth.ResponseBodyError ? WAITS.get(error.error) : undefined
            if (waits !== undefined) throw new Waiting(waits)
            throw isCodeOver(error) ? new GrantOver(error.error) : error
          })
        })
      } catch (error) {
        if (error instanceof Waiting) return error.how
        throw error
      }
    },

    refresh: (grant, refreshToken) =>
      tokensOf(grant.name, async () => {
        const { as, client, authentication } = partsOf(grant)
        const response = await oauth.refreshTokenGrantRequest(as, client, authentication, refreshToken, options)
        return await oauth.processRefreshTokenResponse(as, client, response)
      }),

    clientCredentials: (grant, scopes) =>
      tokensOf(grant.name, async () => {
        const { as, client, authentication } = partsOf(grant)
        const parameters = scopes.length === 0 ? {} : { scope: scopes.join(' ') }
        const response = await oauth.clientCredentialsGrantRequest(as, client, authentication, parameters, options)
        return await oauth.processClientCredentialsResponse(as, client, response).catch((error: unknown) => {
          throw isClientRefused(error) ? new GrantOver(error.error) : error
        })
      }),

    async revoke(grant, token) {
      const { as, client, authentication } = partsOf(grant)
      checked(grant.server.revocationUrl ?? '', 'revocationUrl')
      await oauth.processRevocationResponse(await oauth.revocationRequest(as, client, authentication, token, options))
    },
  }
}

async function challengeAt(send: Send, url: URL): Promise<unknown> {
  const limits = { totalMs: METADATA_MS, bodyBytes: 1_000 }
  const { status, headers } = await send({ url, redirects: 'pass', truncate: true, limits })
  return status === 401 ? headers['www-authenticate'] : undefined
}

function authorizationUrlOf(
  address: string,
  { clientId, redirectUri, scopes, state, challenge }: AuthorizationRequest,
): string {
  const url = new URL(address)
  const parameters = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    state,
    code_challenge: challenge,
    code_challenge_method: 'S256',
    ...(scopes.length === 0 ? {} : { scope: scopes.join(' ') }),
  }
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  return url.href
}

function toLibrary(server: AuthorizationServer): oauth.AuthorizationServer {
  return {
    issuer: server.issuer,
    token_endpoint: server.tokenUrl,
    authorization_response_iss_parameter_supported: server.namesIssuer,
    ...(server.authorizationUrl === null ? {} : { authorization_endpoint: server.authorizationUrl }),
    ...(server.revocationUrl === null ? {} : { revocation_endpoint: server.revocationUrl }),
    ...(server.deviceUrl === null ? {} : { device_authorization_endpoint: server.deviceUrl }),
  }
}

/** Redirects are not followed, because the request holds secrets. */
function fetchBy(send: Send, totalMs: number) {
  return async (
    url: string,
    { method, headers, body }: Pick<oauth.CustomFetchOptions<string, URLSearchParams | undefined>, Sent>,
  ) => {
    const answer = await send({
      url,
      method,
      headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !/^user-agent$/i.test(name))),
      ...(body === undefined ? {} : { body: body.toString() }),
      redirects: 'pass',
      limits: { totalMs, bodyBytes: 100_000 },
    })
    const type = answer.headers['content-type']
    const init = { status: answer.status, headers: typeof type === 'string' ? { 'content-type': type } : {} }
    return new Response(BODILESS.has(answer.status) ? null : new Uint8Array(answer.body), init)
  }
}

type Sent = 'method' | 'headers' | 'body'

const TOKENS_MS = 15_000
/** Several addresses may be tried, one after the other. */
const METADATA_MS = 5_000
const BODILESS: ReadonlySet<number> = new Set([204, 304])
