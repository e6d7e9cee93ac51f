import { DomainError } from '../../kit/errors.ts'
import { FairTurns } from '../../kit/fair-line.ts'
import { GrantOver, refreshFailed } from '../errors.ts'
import type { Connection, ConnectionId, ConnectionSecret, Provider, Tokens } from '../model.ts'
import type { NewSecret, Providers, ServerClient } from '../ports.ts'
import {
  CONNECTIONS_MAX,
  endsAllGrants,
  isFresh,
  isGivenUp,
  isSameProject,
  LEASE_MS,
  pauseMs,
  renewalPauseMs,
  REVOKE_ATTEMPTS,
} from '../rules.ts'
import { issuerOf, openSecret, toNewSecret, type ConnectionsDeps } from './deps.ts'

/**
 * Renews tokens ahead of their end, each once over all processes: the process that holds the row's lease asks, and no
 * transaction is open meanwhile. When it dies the sweeper asks again with the old refresh token; a server that had
 * replaced it refuses, and the connection has expired.
 */
export function createTokens(deps: ConnectionsDeps) {
  const { store, providers, servers, clock, log, failpoints, tell, newLease, pause } = deps
  /** Renewals of this process. Others wait for them here, and for those of other processes at the row. */
  const renewing = new Map<ConnectionId, Promise<Connection | null>>()

  async function ask(connection: Connection) {
    const provider = await providerOf(providers, connection)
    if (provider === null) throw new GrantOver('the provider was removed')
    const secret = openSecret(deps, connection)
    const grant = await issuerOf(deps, provider, secret)
    const { refreshToken, client } = secret
    // A connection of an earlier version did not keep its server.
    const kept = client === undefined ? { server: grant.server, ...secret } : secret
    if (connection.kind === 'client') {
      return { tokens: await servers.clientCredentials(grant, client?.scopes ?? connection.scopes), kept }
    }
    if (refreshToken === null) throw new GrantOver('the access ended and cannot be renewed')
    return { tokens: await servers.refresh(grant, refreshToken), kept }
  }

  async function renewOnce(connection: Connection): Promise<Connection | null> {
    const { id, version } = connection
    const now = clock.now()
    const leaseId = newLease()
    const lease = { leaseId, until: new Date(now.getTime() + LEASE_MS), version }
    const claimed = await store.claim(id, lease, now)
    if (claimed === null) return await otherRenews(connection)
    await failpoints.reach('connection refreshing')
    let renewed: { tokens: Tokens; kept: ConnectionSecret }
    try {
      renewed = await ask(claimed)
    } catch (error) {
      await fail(claimed, leaseId, error)
      return await store.byId(id)
    }
    await failpoints.reach('connection refreshed')
    const secret = toNewSecret(deps, claimed, renewed.tokens, renewed.kept)
    await storeRenewed(deps, { id, leaseId, secret })
    await failpoints.reach('connection renewed')
    return await store.byId(id)
  }

  async function fail(connection: Connection, leaseId: string, error: unknown): Promise<void> {
    const { id, provider, attempts } = connection
    const now = clock.now()
    const code = error instanceof GrantOver || error instanceof DomainError ? error.code : 'internal'
    log.warn({ connectionId: id, provider, code, attempts }, 'a connection could not be renewed')
    if (error instanceof GrantOver || isGivenUp(connection, now)) {
      await store.expire(id, { leaseId }, { failure: ENDED, tell, now })
      return
    }
    const dueAt = new Date(now.getTime() + renewalPauseMs(attempts))
    await store.postpone(id, leaseId, 'It could not be renewed and is tried again.', { dueAt, now })
  }

  /** Another process renews it, or has failed to just now: its result is in the row. */
  async function otherRenews({ id, version }: Connection): Promise<Connection | null> {
    for (let turn = 0; turn < WAIT_TURNS; turn++) {
      const now = await store.byId(id)
      if (now?.state !== 'refreshing' || now.version !== version) return now
      await pause(WAIT_MS)
    }
    return await store.byId(id)
  }

  function renew(connection: Connection): Promise<Connection | null> {
    const { id } = connection
    let work = renewing.get(id)
    if (work === undefined) {
      work = renewOnce(connection).finally(() => renewing.delete(id))
      renewing.set(id, work)
    }
    return work
  }

  return {
    /** The connection with a token that may be sent. Null when it has expired. */
    async fresh(connection: Connection): Promise<Connection | null> {
      if (isFresh(connection, clock.now())) return connection
      const now = await renew(connection)
      if (now === null || now.state === 'expired' || now.state === 'revoked') return null
      if (!isFresh(now, clock.now())) throw refreshFailed(connection.provider)
      return now
    },

    /** Renews what is due, and revokes what was removed. */
    async sweep(now: Date, signal: AbortSignal): Promise<void> {
      await store.forgetRequests(now)
      const turns = new FairTurns(SWEEP_TURNS)
      const work = async (one: Connection): Promise<void> => {
        if (!signal.aborted) await (one.state === 'revoked' ? revoke(deps, one) : renew(one))
      }
      // More than one share of an account's would let it hold up the others with a server that is slow on purpose.
      const due = await store.due(now, { all: SWEEP_TURNS.waiting, perAccount: SWEEP_TURNS.waitingPerAccount })
      await Promise.all(
        due.map((one) =>
          turns.run(
            one.owner.userId,
            () => work(one),
            () => new Error('more than a sweep was due'),
          ),
        ),
      )
    },

    async expire(connection: Connection, failure: string): Promise<void> {
      await store.expire(connection.id, { version: connection.version }, { failure, tell, now: clock.now() })
    },
  }
}

/** Retried, because the server may have replaced the old token: an outage of the database must not lose the new one. */
async function storeRenewed(
  { store, clock, pause }: ConnectionsDeps,
  { id, leaseId, secret }: { id: ConnectionId; leaseId: string; secret: NewSecret },
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await store.renewed(id, leaseId, secret, clock.now())
      return
    } catch (error) {
      if (attempt === STORE_ATTEMPTS) throw error
      await pause(attempt * STORE_PAUSE_MS)
    }
  }
}

/** Only then is the secret forgotten. A provider that takes nothing back, or does not answer for a day, is left. */
async function revoke(deps: ConnectionsDeps, connection: Connection): Promise<void> {
  const { store, providers, servers, clock, log, failpoints } = deps
  const { id, version, kind, attempts } = connection
  try {
    const provider = kind === 'key' ? null : await providerOf(providers, connection)
    const secret = openSecret(deps, connection)
    const grant = provider === null ? null : await issuerOf(deps, provider, secret)
    if (grant?.server.revocationUrl != null && !(await isNeeded(deps, connection, grant))) {
      const { refreshToken, values } = secret
      const token = refreshToken ?? Object.values(values)[0]
      await failpoints.reach('connection revoking')
      if (token !== undefined) await servers.revoke(grant, token)
      await failpoints.reach('connection revoked')
    }
    await store.revoked(id, version, null)
  } catch (error) {
    const code = error instanceof DomainError ? error.code : 'refused'
    log.warn({ connectionId: id, code, attempts }, 'a removed connection could not be revoked at its provider')
    const again = attempts >= REVOKE_ATTEMPTS ? null : new Date(clock.now().getTime() + pauseMs(attempts))
    await store.revoked(id, version, again)
  }
}

/** Revoking it would end another connection of its account, whose person may be the same. */
async function isNeeded(
  deps: ConnectionsDeps,
  { owner }: Connection,
  { server, client }: ServerClient,
): Promise<boolean> {
  if (!endsAllGrants(server)) return false
  const { connections } = await deps.store.list(owner, { limit: CONNECTIONS_MAX, offset: 0 })
  const live = connections.filter(({ kind, state }) => kind === 'oauth' && LIVE.has(state))
  const others = await Promise.all(live.map((one) => providerOf(deps.providers, one)))
  return others.some((other) => other?.client != null && isSameProject(other.client.clientId, client.clientId))
}

const LIVE: ReadonlySet<Connection['state']> = new Set(['active', 'refreshing'])

function providerOf(providers: Providers, connection: Connection): Promise<Provider | null> {
  const { owner, provider, providerOwnerId } = connection
  return providers.of(owner.environment, providerOwnerId, provider)
}

export type ConnectionTokens = ReturnType<typeof createTokens>

const ENDED = 'The provider no longer accepts it. Connect again.'
const STORE_ATTEMPTS = 5
const STORE_PAUSE_MS = 500
const SWEEP_TURNS = { atOnce: 10, perAccount: 2, waitingPerAccount: 10, waiting: 100 }
const WAIT_MS = 200
/** Half a minute, longer than a server may take to answer. */
const WAIT_TURNS = 150
