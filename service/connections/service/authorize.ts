import { createHash } from 'node:crypto'
import { accountOf, type Caller } from '../../kit/caller.ts'
import { deriveId, newId, type Id } from '../../kit/ids.ts'
import {
  authorizationRefused,
  authorizationUnknown,
  clientMissing,
  connectionMissing,
  GrantOver,
  providerUnknown,
} from '../errors.ts'
import type { AuthorizationServer, Connection, ConnectionId, Provider, Tokens } from '../model.ts'
import type { PendingRequest, ServerClient } from '../ports.ts'
import { endsAllGrants, EXCHANGE_MS, REQUEST_MS } from '../rules.ts'
import {
  assertAgent,
  callbackUrl,
  openRequest,
  openSecret,
  sealRequest,
  sealSecret,
  serverOf,
  takeBack,
  toNewSecret,
  type ConnectionsDeps,
  type OperatorClient,
} from './deps.ts'

export interface AuthorizeInput {
  readonly provider: string
  readonly name: string | null
  readonly agentId: string | null
  /** Beside those that the operator requests with every connection. */
  readonly scopes: readonly string[]
  /** A connection that is there, to authorize it again. */
  readonly connectionId: string | null
  /** By a code that the person enters at the provider, instead of coming back from there. */
  readonly byCode: boolean
}

/**
 * Connects an account by OAuth: the authorization code grant with PKCE. The state belongs to the account that started;
 * only a person who is signed in to it can finish.
 */
export function createAuthorizing(deps: ConnectionsDeps) {
  const { store, providers, servers, clock, failpoints } = deps

  /** A connection's own provider: the account may have another one under the same name by now. */
  async function providerFor(caller: Caller, slug: string, before: Connection | null): Promise<Provider> {
    const { environment, userId } = accountOf(caller)
    const provider =
      before === null
        ? await providers.find(environment, userId, slug)
        : await providers.of(environment, before.providerOwnerId, before.provider)
    if (provider === null) throw providerUnknown(before?.provider ?? slug)
    return provider
  }

  async function start(caller: Caller, input: AuthorizeInput, operation: Id<'op'>) {
    const owner = accountOf(caller)
    const before = input.connectionId === null ? null : await store.find(owner, input.connectionId)
    if (input.connectionId !== null && before === null) throw connectionMissing()
    const provider = await providerFor(caller, input.provider, before)
    const id = before?.id ?? deriveId('cnx', operation)
    const grant = await serverOf(deps, provider)
    if (grant.client.grant === 'client_credentials') throw clientMissing(provider.name)
    // What a client of its own was granted may be no scope for a person.
    const allowed = before?.kind === 'oauth' ? before.scopes : []
    const scopes = [...new Set([...grant.client.scopes, ...input.scopes, ...allowed])]
    const byCode = input.byCode || grant.client.grant === 'device_code'
    const { request, authorizationUrl, userCode } = await (byCode ? beginByCode : beginByReturn)(deps, grant, {
      id,
      scopes,
    })
    const now = clock.now()
    const connection = before ?? (await add(provider, { ...input, id, owner, scopes, request, now }))
    // Also where the same operation is repeated: each start has a state of its own.
    if (!(await store.request(owner, connection.id, request, now))) throw connectionMissing()
    await failpoints.reach('connection requested')
    return { connection, authorizationUrl, userCode, expiresAt: request.expiresAt }
  }

  async function add(provider: Provider, wanted: Wanted): Promise<Connection> {
    const { id, owner, scopes, request, agentId, name, now } = wanted
    await assertAgent(deps, owner, agentId)
    const taken = (await store.ofProvider(owner, provider.slug, provider.ownerId)).map((one) => one.name)
    return await store.add({
      id,
      owner,
      agentId,
      scopes,
      request,
      provider: provider.slug,
      providerOwnerId: provider.ownerId,
      name: name ?? freeName(provider.name, taken),
      kind: 'oauth',
      isDefault: false,
      schemes: oauthSchemes(provider),
      hosts: provider.security.hosts,
      secret: null,
      createdAt: now,
    })
  }

  return {
    start,

    /** The person has come back: `query` is what the provider added to the callback's address. */
    async finish(caller: Caller, query: string): Promise<Connection> {
      const owner = accountOf(caller)
      const parameters = new URLSearchParams(query)
      const state = parameters.get('state') ?? ''
      if (state === '' || parameters.getAll('state').length !== 1) throw authorizationUnknown()
      const now = clock.now()
      const keptUntil = new Date(now.getTime() + EXCHANGE_MS)
      const taken = await store.takeRequest(owner, hashOf(state), { now, keptUntil })
      if (taken === null) throw authorizationUnknown()
      await failpoints.reach('connection returned')
      try {
        return await redeem(taken, parameters)
      } catch (error) {
        await store.forget(taken.id)
        if (error instanceof GrantOver) throw authorizationRefused(taken.name, 'its server refused the code')
        throw error
      }
    },
  }

  async function redeem(taken: Connection, parameters: URLSearchParams): Promise<Connection> {
    const provider = await providers.of(taken.owner.environment, taken.providerOwnerId, taken.provider)
    if (provider?.client == null) throw clientMissing(provider?.name ?? taken.provider)
    const { state, verifier, server, clientId } = openRequest(deps, taken)
    const { name, client, clientSecret: secret } = provider
    if (client.clientId !== clientId) throw authorizationRefused(name, 'its OAuth client was changed meanwhile')
    const redirectUri = callbackUrl(deps)
    const grant = { name, server, client, secret }
    const tokens = await servers.redeem(grant, { parameters, state, verifier, redirectUri })
    await failpoints.reach('connection redeemed')
    return await storeIssued(
      deps,
      { connection: taken, provider, grant, scopes: openRequest(deps, taken).scopes },
      tokens,
    )
  }
}

type Wish = Pick<Connection, 'id' | 'scopes'>

/** The person goes to the provider and comes back. */
async function beginByReturn(deps: ConnectionsDeps, grant: OperatorClient, { id, scopes }: Wish): Promise<Begun> {
  const { servers, clock } = deps
  const { server, client } = grant
  const { clientId } = client
  const { state, verifier, challenge } = await servers.challenge()
  const redirectUri = callbackUrl(deps)
  const authorizationUrl = servers.authorizationUrl(server, { clientId, redirectUri, scopes, state, challenge })
  const request = {
    stateHash: hashOf(state),
    request: sealRequest(deps, id, { state, verifier, server, clientId, scopes }),
    expiresAt: new Date(clock.now().getTime() + REQUEST_MS),
    poll: null,
  }
  return { request, authorizationUrl, userCode: null }
}

/** The person enters a code at the provider, on whatever device; the sweeper asks for the tokens. */
async function beginByCode(deps: ConnectionsDeps, grant: OperatorClient, { id, scopes }: Wish): Promise<Begun> {
  const { servers, clock } = deps
  const { server, client, name } = grant
  if (server.deviceUrl === null) throw authorizationRefused(name, 'it does not offer to sign in with a code')
  const given = await servers.deviceCode(grant, scopes).catch((error: unknown) => {
    throw error instanceof GrantOver ? authorizationRefused(name, 'its server gave no code') : error
  })
  const { deviceCode, userCode, verificationUrl, intervalSeconds, expiresInSeconds } = given
  const now = clock.now().getTime()
  const request = {
    stateHash: hashOf(deviceCode),
    request: sealRequest(deps, id, { deviceCode, server, clientId: client.clientId, scopes }),
    expiresAt: new Date(now + Math.min(REQUEST_MS, expiresInSeconds * 1_000)),
    poll: { at: new Date(now + intervalSeconds * 1_000), intervalSeconds },
  }
  return { request, authorizationUrl: verificationUrl, userCode }
}

/** The connection becomes active with what a person allowed. */
export async function storeIssued(deps: ConnectionsDeps, issued: Issued, tokens: Tokens): Promise<Connection> {
  const { store, clock, failpoints } = deps
  const { connection, provider, grant } = issued
  const schemes = oauthSchemes(provider)
  const fresh = toNewSecret(deps, { id: connection.id, schemes, kind: 'oauth' }, tokens, {
    refreshToken: null,
    server: grant.server,
  })
  const scopes = fresh.scopes ?? issued.scopes
  const { hosts } = provider.security
  const now = clock.now()
  const secret = { ...fresh, scopes, hosts, schemes }
  const active = await store.activate(connection.id, secret, {
    now,
    kind: 'oauth',
    replaced: (before) => toRevocation(deps, { before, now }, { tokens, server: grant.server }),
  })
  if (active === null) await takeBack(deps, grant, tokens)
  // Removed meanwhile: the sweeper revokes what was issued.
  if (active === null || active.state === 'revoked') throw connectionMissing()
  await failpoints.reach('connection stored')
  return active
}

/** The grant of before, to be revoked: unless it is the same one, or revoking it would end the new one, too. */
export function toRevocation(
  deps: ConnectionsDeps,
  { before, now }: { before: Connection; now: Date },
  /** Null where a key takes its place. */
  issued: { tokens: Tokens; server: AuthorizationServer } | null,
): { id: ConnectionId; secret: string } | null {
  // Nobody issued it here.
  if (before.kind === 'key') return null
  const secret = openSecret(deps, before)
  const known = [secret.refreshToken, ...Object.values(secret.values)]
  if (issued !== null && known.includes(issued.tokens.refreshToken ?? issued.tokens.accessToken)) return null
  if (issued !== null && endsAllGrants(issued.server)) return null
  const id = newId('cnx', now)
  return { id, secret: sealSecret(deps, id, secret) }
}

interface Issued {
  connection: Connection
  provider: Provider
  grant: ServerClient
  /** Those that were requested. */
  scopes: readonly string[]
}

interface Begun {
  request: PendingRequest
  authorizationUrl: string
  userCode: string | null
}

interface Wanted {
  id: Id<'cnx'>
  owner: Connection['owner']
  agentId: string | null
  name: string | null
  scopes: readonly string[]
  request: PendingRequest
  now: Date
}

/** The schemes that take a token of OAuth. A document may have named only a bearer token. */
export function oauthSchemes({ name, security: { schemes } }: Pick<Provider, 'name' | 'security'>): string[] {
  const named = schemes.filter(({ oauth }) => oauth !== null)
  const found = named.length > 0 ? named : schemes.filter(({ place }) => place.kind === 'bearer')
  if (found.length === 0) throw clientMissing(name)
  return found.map((scheme) => scheme.name)
}

/** `GitHub`, then `GitHub 2`, and so on. */
export function freeName(name: string, taken: readonly string[]): string {
  const short = name.slice(0, 60)
  for (let number = 1; ; number++) {
    const wanted = number === 1 ? short : `${short} ${String(number)}`
    if (!taken.includes(wanted)) return wanted
  }
}

/** A short hash finds the row, so that a copy of the database has no states. */
function hashOf(state: string): Buffer {
  return createHash('sha256').update(state).digest()
}
