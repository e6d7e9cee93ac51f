import * as oauth from 'oauth4webapi'
import { authorizationRefused } from '../connections/errors.ts'
import type { AuthorizationServer } from '../connections/model.ts'
import { readChallenges } from '../kit/challenges.ts'
import type { Checked } from './answers.ts'

type DiscoveryOptions = Omit<oauth.DiscoveryRequestOptions, 'algorithm'>

/** An authorization server's metadata: RFC 8414, else OpenID Connect. */
export async function discover(
  issuer: string,
  options: DiscoveryOptions,
  checked: Checked,
): Promise<AuthorizationServer> {
  const url = new URL(checked(issuer, 'issuer'))
  let refused: unknown = null
  for (const algorithm of ['oauth2', 'oidc'] as const) {
    try {
      const answer = await oauth.discoveryRequest(url, { ...options, algorithm })
      const found = await oauth.processDiscoveryResponse(url, answer)
      const { token_endpoint, authorization_endpoint, revocation_endpoint, device_authorization_endpoint } = found
      if (token_endpoint === undefined) throw new Error('it names no token endpoint')
      const endpoints = [token_endpoint, authorization_endpoint, revocation_endpoint, device_authorization_endpoint]
      for (const endpoint of endpoints) if (endpoint !== undefined) checked(endpoint, 'issuer')
      return {
        issuer: found.issuer,
        authorizationUrl: authorization_endpoint ?? null,
        tokenUrl: token_endpoint,
        revocationUrl: revocation_endpoint ?? null,
        deviceUrl: device_authorization_endpoint ?? null,
        namesIssuer: found.authorization_response_iss_parameter_supported === true,
      }
    } catch (error) {
      refused ??= error
    }
  }
  throw authorizationRefused(url.host, 'its OAuth metadata could not be read').causedBy(refused)
}

/**
 * Where a provider issues tokens, as its own servers say: the metadata of the protected resource (RFC 9728) names
 * authorization servers. It is at a well-known address, or where the server's 401 says. An older server has its own
 * metadata at the same address. Few are asked, each for a short time.
 */
export async function findServer(
  resources: readonly string[],
  { requests, ...options }: DiscoveryOptions & { requests: ResourceRequests },
  checked: Checked,
): Promise<AuthorizationServer | null> {
  for (const resource of resources.slice(0, RESOURCES_MAX)) {
    const named = await issuersOf(resource, options, checked)
    const issuers = named.length > 0 ? named : await challengedIssuers(resource, requests, checked)
    for (const issuer of issuers) {
      const found = await discover(issuer, options, checked).catch(() => null)
      if (found !== null) return found
    }
  }
  const [first] = resources
  return first === undefined ? null : await discover(new URL(first).origin, options, checked).catch(() => null)
}

/** Questions to servers, without credentials. */
export interface ResourceRequests {
  /** The `WWW-Authenticate` of a 401, or nothing. */
  challengeOf(url: URL): Promise<unknown>
  metadataAt(url: string): Promise<Response>
}

async function issuersOf(resource: string, options: DiscoveryOptions, checked: Checked): Promise<string[]> {
  try {
    const url = new URL(checked(resource, 'resource'))
    return await namedIn(url, await oauth.resourceDiscoveryRequest(url, options))
  } catch {
    // It has none, or none that names this resource as its own.
    return []
  }
}

/** The address may be on another host. The metadata there has to name this resource, or it is not used. */
async function challengedIssuers(
  resource: string,
  { challengeOf, metadataAt }: ResourceRequests,
  checked: Checked,
): Promise<string[]> {
  try {
    const url = new URL(checked(resource, 'resource'))
    const challenges = readChallenges(await challengeOf(url), 'bearer')
    const address = challenges.flatMap(({ resource_metadata: one }) => (one === undefined ? [] : [one]))[0]
    if (address === undefined || address.length > URL_MAX) return []
    return await namedIn(url, await metadataAt(checked(address, 'resource_metadata')))
  } catch {
    return []
  }
}

async function namedIn(resource: URL, answer: Response): Promise<string[]> {
  const { authorization_servers: named } = await oauth.processResourceDiscoveryResponse(resource, answer)
  const all = Array.isArray(named) ? (named as unknown[]) : []
  return all.filter((one): one is string => typeof one === 'string' && one.length <= URL_MAX).slice(0, SERVERS_MAX)
}

const RESOURCES_MAX = 2
const SERVERS_MAX = 2
const URL_MAX = 2_048
