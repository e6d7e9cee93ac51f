import { randomBytes } from 'node:crypto'
import { NO_RULES } from '../../budgets/model.ts'
import type { Agents } from '../../budgets/service/agents.ts'
import type { Identity } from '../../identity/service/identity.ts'
import { accountOf, type Caller } from '../../kit/caller.ts'
import type { Clock } from '../../kit/clock.ts'
import { DomainError } from '../../kit/errors.ts'
import { newId } from '../../kit/ids.ts'
import type { Usdc } from '../../kit/money.ts'
import { GrantRefused } from '../errors.ts'
import type { AuthorizationRequest, Grant, GrantStore, Tokens } from '../model.ts'
import {
  ACCESS_PREFIX,
  assertAccess,
  assertRedeemable,
  CODE_MS,
  familyOf,
  hashOf,
  REFRESH_PREFIX,
  toIssued,
  toRefreshed,
  type Redemption,
  type Refresh,
} from '../rules/grants.ts'

/** Grants of access: an ordinary API key of the owner with an agent's limits, used through tokens. */
export function createGrants({ store, identity, agents, clock, resource, secret }: GrantsDeps) {
  async function end(grant: Grant): Promise<void> {
    // The key first: after a crash between the two, the tokens are already useless.
    await identity.keys.revokeOf({ userId: grant.userId, environment: grant.environment }, grant.agentId)
    await store.end(grant.keyId, clock.now())
  }

  /** Runs the exchange; a code or token that is used twice ends its grant. */
  async function exchange(...[by, hash, decide]: Parameters<GrantStore['exchange']>): Promise<Tokens> {
    try {
      return await store.exchange(by, hash, decide)
    } catch (error) {
      if (error instanceof GrantRefused && error.ends) {
        const grant = await store.find(by, hash)
        if (grant !== null) await end(grant)
      }
      throw error
    }
  }

  async function assertKey({ keyId }: Grant, now: Date): Promise<void> {
    await identity.identifyKey(keyId, { environmentHeader: undefined, now }).catch((error: unknown) => {
      if (!(error instanceof DomainError) || error.kind !== 'unauthenticated') throw error
      throw new GrantRefused('invalid_grant', 'The owner revoked this connection. Connect again.')
    })
  }

  return {
    /** The owner approved. Returns the code for the client. */
    async approve(caller: Caller, request: AuthorizationRequest, perDay: Usdc): Promise<string> {
      const { client, ...terms } = request
      const { userId, environment } = accountOf(caller)
      const now = clock.now()
      const operation = newId('op', now)
      const policy = { ...NO_RULES, limits: { ...NO_RULES.limits, perDay } }
      const agent = await agents.create(caller, { name: client.name, status: 'active', policy }, operation)
      // Its secret is dropped: only the tokens of this grant use the key.
      const wanted = { name: client.name, agentId: agent.id, expiresAt: null }
      const { key } = await identity.keys.create(caller, wanted, operation).catch(async (error: unknown) => {
        // The account may have all the keys that it can have; the next attempt makes an agent of its own.
        await agents.remove(caller, agent.id)
        throw error
      })
      const code = random()
      const grant = {
        keyId: key.id,
        agentId: agent.id,
        userId,
        environment,
        clientId: client.id,
        ...terms,
        redeemedAt: null,
        refreshHash: null,
        previousHash: null,
        rotationSalt: null,
        rotatedAt: null,
        accessHash: null,
        accessExpiresAt: null,
        endedAt: null,
        expiresAt: new Date(now.getTime() + CODE_MS),
      }
      await store.add(grant, hashOf(code))
      return code
    },

    async redeem(code: string, proof: Redemption): Promise<Tokens> {
      const tokens = { access: ACCESS_PREFIX + random(), refresh: `${REFRESH_PREFIX}${random()}.${random()}` }
      const now = clock.now()
      return await exchange('code', hashOf(code), (grant) => {
        assertRedeemable(grant, proof, now)
        return { tokens, issued: toIssued(tokens, grant, now) }
      })
    },

    async refresh(refresh: string, from: Omit<Refresh, 'refresh'>): Promise<Tokens> {
      const salt = randomBytes(16)
      const now = clock.now()
      const family = familyOf(refresh)
      const known = await store.find('family', family)
      if (known !== null) await assertKey(known, now)
      return await exchange('family', family, (grant) =>
        toRefreshed(grant, { ...from, refresh }, { secret, salt, now }),
      )
    },

    /** Ends the grant of an access or refresh token; an unknown token is no error. */
    async revoke(token: string, clientId: string): Promise<void> {
      const grant = token.startsWith(ACCESS_PREFIX)
        ? await store.findByAccess(hashOf(token))
        : await store.find('family', familyOf(token))
      if (grant?.clientId === clientId && grant.endedAt === null) await end(grant)
    },

    /** Identifies the caller of an access token, as its key would. */
    async identify(token: string, environmentHeader: string | undefined): Promise<Caller> {
      const now = clock.now()
      const grant = await store.findByAccess(hashOf(token))
      assertAccess(grant, resource, now)
      return await identity.identifyKey(grant.keyId, { environmentHeader, now })
    },

    /** Revokes the keys of codes that were never redeemed and of connections that were not used for long. */
    async endExpired(now: Date): Promise<void> {
      for (const grant of await store.expired(now, SWEPT_AT_ONCE)) await end(grant)
    },
  }
}

export type Grants = ReturnType<typeof createGrants>

interface GrantsDeps {
  store: GrantStore
  identity: Pick<Identity, 'keys' | 'identifyKey'>
  agents: Pick<Agents, 'create' | 'remove'>
  clock: Clock
  /** The address of the MCP server, for which all tokens are. */
  resource: string
  /** The service's own, from which refreshed tokens are derived. */
  secret: string
}

function random(): string {
  return randomBytes(32).toString('base64url')
}

const SWEPT_AT_ONCE = 100
