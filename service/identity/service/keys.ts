import { randomBytes } from 'node:crypto'
import type { Clock } from '../../kit/clock.ts'
import { invalid } from '../../kit/errors.ts'
import { deriveId, type Id } from '../../kit/ids.ts'
import type { Owner } from '../../kit/owner.ts'
import { keyMissing } from '../errors.ts'
import type { ApiKey, NewKey } from '../model.ts'
import { accountOf, type Caller } from '../../kit/caller.ts'
import type { AgentExists, IdentityStore } from '../ports.ts'
import { toKey, traceOf } from '../rules.ts'

/** A person's API keys in their current environment. */
export function createKeys({ store, clock, agentExists }: KeysDeps) {
  async function createOf(owner: Owner, wanted: WantedKey, operation: Id<'op'>): Promise<NewKey> {
    const now = clock.now()
    if (wanted.expiresAt !== null && wanted.expiresAt <= now) throw invalid({ expiresAt: 'must be in the future' })
    if (wanted.agentId !== null && !(await agentExists(owner, wanted.agentId))) {
      throw invalid({ agentId: 'is not the id of one of your agents' })
    }
    const made = drawKey(owner, { ...wanted, id: deriveId('key', operation), createdAt: now })
    const key = await store.saveKey(made.key, traceOf(made.secret, owner.environment))
    if (key === null) throw keyMissing()
    return { key, secret: made.secret }
  }

  return {
    async list(caller: Caller, page: { limit: number; offset: number }) {
      return await store.listKeys(accountOf(caller), page)
    },

    /** The operation names the key: a request that is repeated after a crash finds the row and gives it a new secret. */
    async create(caller: Caller, wanted: WantedKey, operation: Id<'op'>): Promise<NewKey> {
      return await createOf(accountOf(caller), wanted, operation)
    },

    /** For an owner who has agreed before. */
    createOf,

    /** Takes effect at once: every process refuses the next request with this key. */
    async revoke(caller: Caller, id: string): Promise<void> {
      if (!(await store.revokeKey(accountOf(caller), id, clock.now()))) throw keyMissing()
    },

    /** Revokes all keys of an agent that was deleted. */
    async revokeOf(owner: Owner, agentId: Id<'agt'>): Promise<void> {
      await store.revokeKeysOf(owner, agentId, clock.now())
    },
  }
}

export interface KeysDeps {
  store: IdentityStore
  clock: Clock
  agentExists: AgentExists
}

export interface WantedKey {
  name: string
  agentId: string | null
  expiresAt: Date | null
}

export function drawKey(owner: Owner, of: WantedKey & { id: Id<'key'>; createdAt: Date }, given?: string): NewKey {
  const secret = given ?? toKey(owner.environment, randomBytes(32))
  const { prefix, lastFour } = traceOf(secret, owner.environment)
  const key: ApiKey = {
    id: of.id,
    userId: owner.userId as Id<'usr'>,
    environment: owner.environment,
    agentId: of.agentId as Id<'agt'> | null,
    name: of.name,
    prefix,
    lastFour,
    expiresAt: of.expiresAt,
    lastUsedAt: null,
    createdAt: of.createdAt,
  }
  return { key, secret }
}
