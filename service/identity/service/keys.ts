import { randomBytes } from 'node:crypto'
import type { Clock } from '../../kit/clock.ts'
import { invalid } from '../../kit/errors.ts'
import { deriveId, type Id } from '../../kit/ids.ts'
import type { Owner } from '../../kit/owner.ts'
import { keyMissing } from '../errors.ts'
import type { Statements } from '../../kit/transaction.ts'
import type { ApiKey, NewKey, Notice } from '../model.ts'
import { accountOf, type Caller } from '../../kit/caller.ts'
import type { AgentExists, IdentityStore } from '../ports.ts'
import { toKey, traceOf } from '../rules.ts'

/** A person's API keys in their current environment. */
export function createKeys({ store, clock, agentExists, tellOwner }: KeysDeps) {
  async function createOf(
    owner: Owner,
    wanted: WantedKey,
    operation: Id<'op'>,
    parentId: Id<'key'> | null = null,
  ): Promise<NewKey> {
    const now = clock.now()
    if (wanted.expiresAt !== null && wanted.expiresAt <= now) throw invalid({ expiresAt: 'must be in the future' })
    if (wanted.agentId !== null && !(await agentExists(owner, wanted.agentId))) {
      throw invalid({ agentId: 'is not the id of one of your agents' })
    }
    const made = drawKey(owner, { ...wanted, id: deriveId('key', operation), createdAt: now })
    const { environment, name, lastFour } = made.key
    const key = await store.saveKey(made.key, traceOf(made.secret, environment), {
      parentId,
      made: (inside) => tellOwner(inside, owner.userId, { kind: 'key-created', environment, name, lastFour }),
    })
    if (key === null) throw keyMissing()
    return { key, secret: made.secret }
  }

  return {
    async list(caller: Caller, page: { limit: number; offset: number }) {
      return await store.listKeys(accountOf(caller), page)
    },

    /** The operation names the key: a request that is repeated after a crash finds the row and gives it a new secret. */
    async create(caller: Caller, wanted: WantedKey, operation: Id<'op'>): Promise<NewKey> {
      const { keyId } = caller
      const until = keyId === null ? null : ((await store.findKeyById(keyId))?.expiresAt ?? null)
      return await createOf(
        accountOf(caller),
        { ...wanted, expiresAt: earlier(wanted.expiresAt, until) },
        operation,
        keyId,
      )
    },

    /** For an owner who has agreed before. */
    createOf: (owner: Owner, wanted: WantedKey, operation: Id<'op'>) => createOf(owner, wanted, operation),

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
  tellOwner(inside: Statements, userId: string, notice: Notice): Promise<void>
}

/** A key that a key makes must not outlive it. */
function earlier(one: Date | null, other: Date | null): Date | null {
  if (one === null || other === null) return one ?? other
  return one < other ? one : other
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
