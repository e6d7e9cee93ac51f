import type { Caller } from '../../kit/caller.ts'
import { accountOf } from '../../kit/caller.ts'
import type { DomainError } from '../../kit/errors.ts'
import { accountNeeded, connectionRequired } from '../errors.ts'
import type { Connection, Credentials, ToolAccess } from '../model.ts'
import { choose, isUsedLately, placed, wantedScopes, wayOf } from '../rules.ts'
import { credentialsOf } from './credentials.ts'
import { connectUrl, openSecret, type ConnectionsDeps } from './deps.ts'
import type { ConnectionTokens } from './tokens.ts'

/** The connection that a call uses, found before anything is charged. */
export interface ChosenConnection {
  readonly connection: Connection
  readonly access: ToolAccess
}

/** Connections as calls of tools use them. */
export function createUse(deps: ConnectionsDeps & { tokens: ConnectionTokens }) {
  const { store, providers, tokens, clock, pause } = deps

  function required(access: ToolAccess, why: Why, connection: Connection | null): DomainError {
    const { provider: slug, providerName: name } = access
    // A key in the place of another would end what that one is for.
    const again = connection?.kind === 'oauth' || why !== 'schemes' ? (connection?.id ?? null) : null
    return connectionRequired(
      { slug, name },
      connectUrl(deps, slug, { scopes: wantedScopes(access, connection), again }),
      why,
    )
  }

  /** Null when the caller has none, and the call does not need one. */
  async function find(
    caller: Caller,
    access: ToolAccess,
    { isRequired, named }: Wanted,
  ): Promise<ChosenConnection | null> {
    if (caller.user === null) {
      if (isRequired) throw accountNeeded(access.providerName)
      return null
    }
    const own = await store.ofProvider(accountOf(caller), access.provider, access.providerOwnerId)
    const connection = choose(own, { agentId: caller.agentId, named })
    const fault = connection === null ? 'none' : faultOf(connection, access)
    if (connection !== null && fault === null) return { connection, access }
    if (isRequired || named !== null) throw required(access, fault ?? 'none', connection)
    return null
  }

  return {
    find,

    /** Opened for the request of one call. Renews the token first if it has ended. */
    async credentials({ connection, access }: ChosenConnection): Promise<Credentials> {
      const fresh = await tokens.fresh(connection)
      if (fresh === null) throw required(access, 'expired', connection)
      const way = wayOf(access, fresh.schemes)
      const provider = await providers.of(fresh.owner.environment, fresh.providerOwnerId, fresh.provider)
      if (way === null || provider === null) throw required(access, 'schemes', connection)
      if (!isUsedLately(fresh, clock.now())) await store.used(fresh.id, clock.now())
      return credentialsOf(placed(provider.security.schemes, way, openSecret(deps, fresh)))
    },

    /** The provider's answer to a call with this connection: a 401 means that it no longer accepts it. */
    async answered({ connection }: ChosenConnection, status: number): Promise<void> {
      const { id, version, failure, kind, expiresAt } = connection
      if (status !== 401) {
        if (failure !== null && status < 400) await store.fail(id, version, null)
        return
      }
      if (kind === 'key') await store.fail(id, version, REFUSED)
      else if (expiresAt === null && kind === 'oauth') await tokens.expire(connection, REFUSED)
      else await store.hurry(id, version, REFUSED, clock.now())
    },

    /** True as soon as the person has connected; false when they did not in time. */
    async awaitConnected(caller: Caller, provider: string, waitMs: number, gone: AbortSignal): Promise<boolean> {
      const owner = accountOf(caller)
      const found = await providers.find(owner.environment, owner.userId, provider)
      if (found === null) return false
      const end = clock.now().getTime() + waitMs
      while (!gone.aborted && clock.now().getTime() < end) {
        await pause(ASK_EVERY_MS)
        const own = await store.ofProvider(owner, provider, found.ownerId)
        const { state } = choose(own, { agentId: caller.agentId, named: null }) ?? {}
        if (state === 'active' || state === 'refreshing') return true
      }
      return false
    },
  }
}

type Why = Parameters<typeof connectionRequired>[2]

export type ConnectionUse = ReturnType<typeof createUse>

interface Wanted {
  isRequired: boolean
  /** The name or id that the caller chose. */
  named: string | null
}

function faultOf({ state, hosts, schemes }: Connection, access: ToolAccess): 'expired' | 'hosts' | 'schemes' | null {
  if (state === 'expired') return 'expired'
  if (!hosts.includes(access.origin)) return 'hosts'
  return wayOf(access, schemes) === null ? 'schemes' : null
}

const REFUSED = 'The provider answered 401: it did not accept this connection.'
const ASK_EVERY_MS = 400
