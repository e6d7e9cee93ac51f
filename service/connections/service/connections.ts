import { accountOf, type Caller } from '../../kit/caller.ts'
import { invalid } from '../../kit/errors.ts'
import { deriveId, type Id } from '../../kit/ids.ts'
import {
  authorizationRefused,
  clientMissing,
  connectionMissing,
  GrantOver,
  notActive,
  nothingToConnect,
  providerUnknown,
} from '../errors.ts'
import type { Connection, ConnectionSecret, OwnClient, Provider } from '../model.ts'
import type { ConnectionChange, NewSecret, Page, ServerClient } from '../ports.ts'
import { placed, SECRET_TEXT, wayOf } from '../rules.ts'
import { createAuthorizing, freeName, oauthSchemes, toRevocation } from './authorize.ts'
import { credentialsOf } from './credentials.ts'
import {
  assertAgent,
  endpointsOf,
  openSecret,
  sealSecret,
  serverOf,
  takeBack,
  toNewSecret,
  type ConnectionsDeps,
} from './deps.ts'
import { createCodes } from './codes.ts'
import { createTokens, type ConnectionTokens } from './tokens.ts'
import { createUse } from './use.ts'

export interface KeyInput {
  readonly provider: string
  readonly name: string | null
  readonly agentId: string | null
  readonly isDefault: boolean
  /** A connection that is there, to connect it again. */
  readonly connectionId: string | null
  /** By scheme, for providers that need several together. Empty where the client itself is authorized. */
  readonly secrets: Readonly<Record<string, string>>
  /** For a provider with one scheme, or for the first that takes a key. */
  readonly secret: string | null
  /** The account's own OAuth client at the provider, instead of a key. */
  readonly client: ClientInput | null
}

export type ClientInput = Omit<OwnClient, 'server'>

/** An account's access to providers of tools. */
export function createConnections(deps: ConnectionsDeps) {
  const { store, providers, clock } = deps
  const tokens = createTokens(deps)
  const authorizing = createAuthorizing(deps)
  const { save, createByClient } = createSaving(deps)

  async function get(caller: Caller, id: string): Promise<Connection> {
    const found = await store.find(accountOf(caller), id)
    if (found === null || found.state === 'revoked') throw connectionMissing()
    return found
  }

  async function providerFor(caller: Caller, slug: string): Promise<Provider> {
    const { environment, userId } = accountOf(caller)
    const provider = await providers.find(environment, userId, slug)
    if (provider === null) throw providerUnknown(slug)
    if (provider.security.schemes.length === 0) throw nothingToConnect(provider.name)
    return provider
  }

  /** The connection to connect again. A secret goes to no other provider than the one that it was entered for. */
  async function beforeOf(caller: Caller, provider: Provider, id: string | null): Promise<Connection | null> {
    if (id === null) return null
    const before = await get(caller, id)
    if (before.provider !== provider.slug || before.providerOwnerId !== provider.ownerId) throw connectionMissing()
    return before
  }

  return {
    ...authorizing,
    ...createCodes(deps),
    use: createUse({ ...deps, tokens }),
    sweep: tokens.sweep,
    get,

    list: (caller: Caller, page: Page) => store.list(accountOf(caller), page),

    /** By a key that its owner enters, or by the client's own access where that is what the provider gives. */
    async create(caller: Caller, input: KeyInput, operation: Id<'op'>): Promise<Connection> {
      const provider = await providerFor(caller, input.provider)
      const values = valuesOf(provider, input)
      if (input.client !== null && Object.keys(values).length > 0)
        throw invalid({ client: 'takes the place of a key: leave out one of them' })
      const before = await beforeOf(caller, provider, input.connectionId)
      const id = before?.id ?? deriveId('cnx', operation)
      if (Object.keys(values).length === 0) return await createByClient(caller, provider, { input, id, before })
      const secret: NewSecret = {
        secret: sealSecret(deps, id, { values, refreshToken: null }),
        expiresAt: null,
        dueAt: null,
        scopes: null,
      }
      const added = { ...input, id, kind: 'key' as const, schemes: Object.keys(values), scopes: [], secret }
      return await save(caller, provider, { ...added, before, issued: null })
    },

    /** What is absent stays. */
    async change(caller: Caller, id: string, change: ConnectionChange): Promise<Connection> {
      const changed = await store.change(accountOf(caller), id, change, clock.now())
      if (changed === null) throw connectionMissing()
      return changed
    },

    /** Ends it at once; the provider is asked to revoke what it issued soon after. */
    async remove(caller: Caller, id: string): Promise<void> {
      if ((await store.remove(accountOf(caller), id, clock.now())) === null) throw connectionMissing()
    },

    /** Calls a tool that only reads with this connection. Costs nothing. */
    test: async (caller: Caller, id: string): Promise<TestResult> => await test(deps, tokens, await get(caller, id)),

    /** What a person can choose when they connect to a provider. */
    async options(caller: Caller, slug: string): Promise<ConnectOptions> {
      return optionsOf(await providerFor(caller, slug))
    },
  }
}

/** Stores what a provider gave or a person entered: as a new connection, or in one that is there. */
function createSaving(deps: ConnectionsDeps) {
  const { store, servers, clock } = deps

  /** One that is there keeps its name, its agent and whether it is the default. */
  async function save(caller: Caller, provider: Provider, { before, issued, ...wanted }: Saved): Promise<Connection> {
    if (before === null) return await add(caller, provider, wanted)
    const { kind, schemes, scopes, secret } = wanted
    const now = clock.now()
    const saved = await store.activate(
      before.id,
      { ...secret, schemes, scopes, hosts: provider.security.hosts },
      { now, kind, replaced: (replaced) => toRevocation(deps, { before: replaced, now }, issued) },
    )
    if (saved === null || saved.state === 'revoked') throw connectionMissing()
    return saved
  }

  async function add(caller: Caller, provider: Provider, wanted: Added): Promise<Connection> {
    const owner = accountOf(caller)
    await assertAgent(deps, owner, wanted.agentId)
    const taken = (await store.ofProvider(owner, provider.slug, provider.ownerId)).map((one) => one.name)
    const { id, name, agentId, isDefault, kind, schemes, scopes, secret } = wanted
    return await store.add({
      id,
      owner,
      agentId,
      isDefault,
      kind,
      schemes,
      scopes,
      secret,
      provider: provider.slug,
      providerOwnerId: provider.ownerId,
      name: name ?? freeName(provider.name, taken),
      hosts: provider.security.hosts,
      request: null,
      createdAt: clock.now(),
    })
  }

  /** A client's own access, without a person: each connection has a token of its own, renewed ahead of its end. */
  async function createByClient(caller: Caller, provider: Provider, { input, id, before: again }: Wanted) {
    const schemes = oauthSchemes(provider)
    const { client } = input
    const { grant, scopes, before } =
      client === null ? await clientOf(deps, provider) : await ownClientOf(deps, provider, client)
    const issued = await servers.clientCredentials(grant, scopes).catch((error: unknown) => {
      throw error instanceof GrantOver ? authorizationRefused(provider.name, 'its server refused the client') : error
    })
    await deps.failpoints.reach('connection issued')
    const secret = toNewSecret(deps, { id, schemes, kind: 'client' }, issued, before)
    try {
      const added = { ...input, id, kind: 'client' as const, schemes, scopes: issued.scopes ?? scopes, secret }
      const { server } = grant
      return await save(caller, provider, { ...added, before: again, issued: { tokens: issued, server } })
    } catch (error) {
      await takeBack(deps, grant, issued)
      throw error
    }
  }

  return { save, createByClient }
}

/** With the client that the owner of the provider set for it. */
async function clientOf(deps: ConnectionsDeps, provider: Provider): Promise<GrantedClient> {
  const grant = await serverOf(deps, provider)
  if (grant.client.grant !== 'client_credentials' || provider.ownerId === null) throw clientMissing(provider.name)
  return { grant, scopes: grant.client.scopes, before: { refreshToken: null, server: grant.server } }
}

/** With the caller's own client, whose secret goes to the server that is known now, and to no other. */
async function ownClientOf(deps: ConnectionsDeps, provider: Provider, input: ClientInput): Promise<GrantedClient> {
  if (!SECRET_TEXT.test(input.clientSecret)) {
    throw invalid({ 'client.secret': 'must be up to 4096 visible characters of ASCII' })
  }
  const server = await endpointsOf(deps, provider)
  const grant = { name: provider.name, server, client: input, secret: input.clientSecret }
  return { grant, scopes: input.scopes, before: { refreshToken: null, client: { ...input, server } } }
}

function optionsOf({ slug, name, security, client, ownerId }: Provider): ConnectOptions {
  const signsIn = client?.grant === 'authorization_code'
  const byClient = client?.grant === 'client_credentials' && ownerId !== null
  const flows = security.schemes.flatMap(({ oauth }) => (oauth === null ? [] : [oauth]))
  const takesCode = client?.deviceUrl != null || flows.some(({ deviceUrl }) => deviceUrl != null)
  const byCode = client?.grant === 'device_code' || (signsIn && takesCode)
  return { slug, name, signsIn, byCode, byClient, takesClient: flows.length > 0, ...security }
}

async function test(deps: ConnectionsDeps, tokens: ConnectionTokens, connection: Connection): Promise<TestResult> {
  const { store, providers } = deps
  const { state, owner, providerOwnerId, provider: slug } = connection
  if (state !== 'active' && state !== 'refreshing') throw notActive()
  const provider = await providers.of(owner.environment, providerOwnerId, slug)
  if (provider === null) throw providerUnknown(slug)
  const fresh = await tokens.fresh(connection)
  if (fresh === null) return { ok: false, tool: null, status: null }
  const result = await providers.probe(owner, provider, (access) => {
    // As for a call: the secret is for the hosts that it was entered for.
    const way = fresh.hosts.includes(access.origin) ? wayOf(access, fresh.schemes) : null
    return way === null ? null : credentialsOf(placed(provider.security.schemes, way, openSecret(deps, fresh)))
  })
  if (result === null) return { ok: null, tool: null, status: null }
  const { tool, status } = result
  const ok = status === null ? null : status < 400 ? true : status === 401 || status === 403 ? false : null
  if (ok !== null) await store.fail(fresh.id, fresh.version, ok ? null : `A test answered ${String(status)}.`)
  return { ok, tool, status }
}

export type Connections = ReturnType<typeof createConnections>

/** `ok` is null where nothing could be tried, or the answer says nothing about the connection. */
export interface TestResult {
  readonly ok: boolean | null
  readonly tool: string | null
  readonly status: number | null
}

export interface ConnectOptions extends Pick<Provider, 'slug' | 'name'> {
  readonly hosts: readonly string[]
  readonly signsIn: boolean
  /** By a code that the person enters at the provider. */
  readonly byCode: boolean
  readonly byClient: boolean
  /** The account's own OAuth client can be entered. */
  readonly takesClient: boolean
  readonly schemes: Provider['security']['schemes']
}

interface GrantedClient {
  grant: ServerClient
  scopes: readonly string[]
  before: Omit<ConnectionSecret, 'values'> | null
}

interface Wanted {
  input: KeyInput
  id: Id<'cnx'>
  before: Connection | null
}

interface Saved extends Added {
  before: Connection | null
  issued: Parameters<typeof toRevocation>[2]
}

type Added = Pick<Connection, 'id' | 'agentId' | 'isDefault' | 'kind' | 'schemes' | 'scopes'> & {
  name: string | null
  secret: NewSecret
}

/** The secrets by scheme. Each must be of a scheme that the provider has, and fit into a header. */
function valuesOf({ security: { schemes }, name }: Provider, { secrets, secret }: KeyInput): Record<string, string> {
  const values = { ...secrets }
  if (secret !== null) {
    const first = schemes[0]?.name
    if (first !== undefined) values[first] ??= secret
  }
  for (const [scheme, value] of Object.entries(values)) {
    if (!schemes.some((one) => one.name === scheme)) {
      throw invalid({
        [`secrets.${scheme}`]: `is not one of the schemes of ${name}: ${schemes.map((one) => one.name).join(', ')}`,
      })
    }
    if (!SECRET_TEXT.test(value)) {
      throw invalid({
        [secret === null ? `secrets.${scheme}` : 'secret']: 'must be up to 4096 visible characters of ASCII',
      })
    }
  }
  return values
}
