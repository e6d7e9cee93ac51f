import type { Clock } from '../../kit/clock.ts'
import { DomainError, invalid } from '../../kit/errors.ts'
import type { Failpoints } from '../../kit/failpoints.ts'
import type { Log } from '../../kit/log.ts'
import type { Owner } from '../../kit/owner.ts'
import type { AuthorizationServer, Connection, ConnectionSecret, OAuthClient, Provider, Tokens } from '../model.ts'
import { authorizationRefused, clientMissing } from '../errors.ts'
import type {
  AuthorizationServers,
  ConnectionStore,
  NewSecret,
  Providers,
  Secrets,
  ServerClient,
  Tell,
} from '../ports.ts'
import { refreshAt } from '../rules.ts'

export interface ConnectionsDeps {
  store: ConnectionStore
  providers: Providers
  servers: AuthorizationServers
  secrets: Secrets
  clock: Clock
  log: Log
  failpoints: Failpoints
  /** Announces that a connection has expired: an event, and a mail to its owner. */
  tell: Tell
  /** The dashboard's address. */
  dashboard: string
  agentExists(owner: Owner, id: string): Promise<boolean>
  newLease(): string
  pause(ms: number): Promise<unknown>
}

/** A connection of an agent is for an agent that the account has. */
export async function assertAgent(deps: Pick<ConnectionsDeps, 'agentExists'>, owner: Owner, agentId: string | null) {
  if (agentId === null || (await deps.agentExists(owner, agentId))) return
  throw invalid({ agentId: 'is not one of your agents' })
}

/** The page of the dashboard to which a provider sends the person back. */
export function callbackUrl({ dashboard }: Pick<ConnectionsDeps, 'dashboard'>): string {
  return `${dashboard}/connections/callback`
}

/** The page where a person connects to a provider: with the scopes that a tool needs, and the connection to mend. */
export function connectUrl(
  { dashboard }: Pick<ConnectionsDeps, 'dashboard'>,
  provider: string,
  { scopes = [], again = null }: { scopes?: readonly string[]; again?: string | null } = {},
): string {
  const more = new URLSearchParams()
  if (again !== null) more.set('again', again)
  if (scopes.length > 0) more.set('scopes', scopes.join(' '))
  const rest = more.toString()
  return `${dashboard}/connections?connect=${encodeURIComponent(provider)}${rest === '' ? '' : `&${rest}`}`
}

/** Binds a secret to its row, so that it opens in no other. */
const contextOf = (id: string, field: 'secret' | 'request'): string => `connection/${id}/${field}`

export function sealSecret(
  { secrets }: Pick<ConnectionsDeps, 'secrets'>,
  id: string,
  secret: ConnectionSecret,
): string {
  return secrets.seal(JSON.stringify(secret), contextOf(id, 'secret'))
}

export function openSecret({ secrets }: Pick<ConnectionsDeps, 'secrets'>, connection: Connection): ConnectionSecret {
  const { id, secret } = connection
  if (secret === null) throw new Error('a connection without a secret was to be opened')
  return JSON.parse(secrets.open(secret, contextOf(id, 'secret'))) as ConnectionSecret
}

/** What the process that finishes an authorization needs to know of its beginning. */
export interface StoredRequest {
  state: string
  verifier: string
  server: AuthorizationServer
  clientId: string
  scopes: readonly string[]
}

/** The same where the person enters a code instead of coming back. */
export interface StoredPoll extends Pick<StoredRequest, 'server' | 'clientId' | 'scopes'> {
  deviceCode: string
}

export function sealRequest(
  { secrets }: Pick<ConnectionsDeps, 'secrets'>,
  id: string,
  request: StoredRequest | StoredPoll,
): string {
  return secrets.seal(JSON.stringify(request), contextOf(id, 'request'))
}

export function openRequest({ secrets }: Pick<ConnectionsDeps, 'secrets'>, { id, request }: Connection): StoredRequest {
  return JSON.parse(secrets.open(request ?? '', contextOf(id, 'request'))) as StoredRequest
}

export function openPoll({ secrets }: Pick<ConnectionsDeps, 'secrets'>, { id, request }: Connection): StoredPoll {
  return JSON.parse(secrets.open(request ?? '', contextOf(id, 'request'))) as StoredPoll
}

/** Tokens as a row holds them. A server that sends no new refresh token leaves the old one valid. */
export function toNewSecret(
  deps: Pick<ConnectionsDeps, 'secrets' | 'clock'>,
  { id, schemes, kind }: Pick<Connection, 'id' | 'schemes' | 'kind'>,
  tokens: Tokens,
  before: Omit<ConnectionSecret, 'values'> | null,
): NewSecret {
  const { accessToken, expiresInSeconds, scopes } = tokens
  const refreshToken = tokens.refreshToken ?? before?.refreshToken ?? null
  const { client, server } = before ?? {}
  const now = deps.clock.now()
  const values = Object.fromEntries(schemes.map((scheme) => [scheme, accessToken]))
  const expiresAt = expiresInSeconds === null ? null : new Date(now.getTime() + expiresInSeconds * 1_000)
  return {
    secret: sealSecret(deps, id, { values, refreshToken, ...(client && { client }), ...(server && { server }) }),
    expiresAt,
    // What cannot be renewed is used to its end.
    dueAt: refreshToken === null && kind !== 'client' ? expiresAt : refreshAt(now, expiresInSeconds),
    scopes,
  }
}

/** Revokes tokens that no row holds. A provider that does not answer keeps them until they end. */
export async function takeBack(
  { servers, log }: Pick<ConnectionsDeps, 'servers' | 'log'>,
  grant: ServerClient,
  { refreshToken, accessToken }: Tokens,
): Promise<void> {
  if (grant.server.revocationUrl === null) return
  await servers.revoke(grant, refreshToken ?? accessToken).catch((error: unknown) => {
    const code = error instanceof DomainError ? error.code : 'refused'
    log.warn({ provider: grant.name, code }, 'tokens of a connection that was not stored could not be revoked')
  })
}

/** With the operator's client for the provider. */
export async function serverOf(deps: Pick<ConnectionsDeps, 'servers'>, provider: Provider): Promise<OperatorClient> {
  const { client, clientSecret: secret, name } = provider
  if (client === null) throw clientMissing(name)
  return { name, server: await endpointsOf(deps, provider), client, secret }
}

export interface OperatorClient extends ServerClient {
  readonly client: OAuthClient
}

/** The server and the client that issued a connection's tokens. */
export async function issuerOf(
  deps: Pick<ConnectionsDeps, 'servers'>,
  provider: Provider,
  { client, server }: ConnectionSecret,
): Promise<ServerClient> {
  const { client: set, clientSecret: secret, name } = provider
  const isFound = set?.issuer === null && set.tokenUrl === null
  if (client === undefined && isFound && server !== undefined) return { name, server, client: set, secret }
  if (client === undefined) return await serverOf(deps, provider)
  return { name, server: client.server, client, secret: client.clientSecret }
}

/** The authorization server of a provider: what the operator set, else what the document names, else its own servers. */
export async function endpointsOf(
  { servers }: Pick<ConnectionsDeps, 'servers'>,
  { client: set, security, name, resources }: Provider,
): Promise<AuthorizationServer> {
  const client = set ?? NOTHING_SET
  const flow = security.schemes.find(({ oauth }) => oauth !== null)?.oauth ?? null
  const issuer = client.issuer ?? (client.tokenUrl === null ? (flow?.issuer ?? null) : null)
  const isNamed = issuer !== null || client.tokenUrl !== null || (flow?.tokenUrl ?? null) !== null
  const found = issuer !== null ? await servers.discover(issuer) : isNamed ? null : await servers.find(resources)
  const authorizationUrl = client.authorizationUrl ?? found?.authorizationUrl ?? flow?.authorizationUrl ?? null
  const tokenUrl = client.tokenUrl ?? found?.tokenUrl ?? flow?.tokenUrl ?? null
  if (tokenUrl === null)
    throw authorizationRefused(name, 'neither its document nor its servers name where it issues tokens')
  return {
    issuer: found?.issuer ?? new URL(authorizationUrl ?? tokenUrl).origin,
    authorizationUrl,
    tokenUrl,
    revocationUrl: client.revocationUrl ?? found?.revocationUrl ?? null,
    deviceUrl: client.deviceUrl ?? found?.deviceUrl ?? flow?.deviceUrl ?? null,
    namesIssuer: found?.namesIssuer ?? false,
  }
}

const NOTHING_SET = { issuer: null, authorizationUrl: null, tokenUrl: null, revocationUrl: null, deviceUrl: null }
