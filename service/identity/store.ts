import type { Database } from '../database/client.ts'
import type { Prisma } from '../database/generated/client.ts'
import { Batch } from '../kit/batch.ts'
import type { Id } from '../kit/ids.ts'
import { holdQuota, QUOTAS } from '../kit/quota.ts'
import { SEALED_BEFORE, SEALED_COLUMNS, toSealedSecrets, type SealedRow } from '../kit/sealed-secrets.ts'
import { retryConflicts, type StatementPool, type Statements } from '../kit/transaction.ts'
import { handleTaken } from './errors.ts'
import type { ApiKey } from './model.ts'
import type { User } from '../kit/caller.ts'
import type { Account, FoundKey, IdentityStore } from './ports.ts'
import { HANDLE_KEPT_MS, HANDLES_KEPT_MAX, type KeyTrace } from './rules.ts'

/** Users, keys and signing secrets in PostgreSQL. */
export function createIdentityStore(
  { prisma, statements, transaction }: Database,
  keysMax: number = QUOTAS.keys,
): IdentityStore {
  // Every request looks up a key, so simultaneous lookups share one query.
  const keys = new Batch<Buffer, FoundKey | null>({ largest: 256, run: findKeys })

  async function findKeys(hashes: readonly Buffer[]): Promise<(FoundKey | null)[]> {
    const rows = await statements.run<KeyRow>(FIND_KEYS, [hashes], 'identity_find_keys')
    const found = new Map(rows.map((row) => [row.hash.toString('hex'), toFoundKey(row)]))
    return hashes.map((hash) => found.get(hash.toString('hex')) ?? null)
  }

  return {
    ...usersIn(statements),
    ...handlesIn(statements),

    inTransaction: (work) => transaction(work),

    findKey: (hash) => keys.add(hash),

    async findKeyById(id) {
      const [row] = await statements.run<KeyRow>(FIND_KEY_BY_ID, [id], 'identity_find_key_by_id')
      return row === undefined ? null : toFoundKey(row)
    },

    async touchKey(id, now) {
      await statements.run(TOUCH_KEY, [id, now], 'identity_touch_key')
    },

    async listKeys(owner, { limit, offset }) {
      const where = { ...owner, revokedAt: null } satisfies Prisma.ApiKeyWhereInput
      const [rows, total] = await Promise.all([
        prisma.apiKey.findMany({
          where,
          omit: { secretHash: true },
          orderBy: { id: 'desc' },
          take: limit,
          skip: offset,
        }),
        prisma.apiKey.count({ where }),
      ])
      return { keys: rows.map(toApiKey), total }
    },

    async saveKey(key, trace, { parentId, made: tell }) {
      const { hash: secretHash, prefix, lastFour } = trace
      const made = await statements.together(async (inside) => {
        const { userId, environment, id, createdAt } = key
        // Held, so that a revocation at the same moment finds the new key.
        if (parentId !== null && (await inside.run(HOLD_PARENT, [parentId])).length === 0) return null
        await holdQuota(inside, {
          quota: 'keys',
          owner: key,
          limit: keysMax,
          values: [userId, environment, id, createdAt],
          rows: `identity_api_key WHERE user_id = $1 AND environment = $2 AND id <> $3 AND revoked_at IS NULL
            AND (expires_at IS NULL OR expires_at > $4)`,
        })
        const columns = [id, userId, environment, key.agentId, key.name, secretHash, prefix, lastFour, key.expiresAt]
        const rows = await inside.run(ADD_KEY, [...columns, createdAt, parentId], 'identity_add_key')
        if (rows.length === 1) await tell(inside)
        return rows
      })
      if (made === null) return null
      if (made.length === 1) return key
      // A repeated request never got the first secret: the answer with it was lost when the process died.
      const [row] = await prisma.apiKey.updateManyAndReturn({
        where: { id: key.id, userId: key.userId, environment: key.environment, lastUsedAt: null, revokedAt: null },
        data: { secretHash: bytes(secretHash), prefix, lastFour },
        omit: { secretHash: true },
      })
      return row === undefined ? null : toApiKey(row)
    },

    async addKey(key, trace) {
      return (await prisma.apiKey.createMany({ data: toRow(key, trace), skipDuplicates: true })).count === 1
    },

    async revokeKey(owner, id, now) {
      const { userId, environment } = owner
      return await statements.together(async (inside) => {
        if ((await inside.run(REVOKE_KEY, [userId, environment, id, now])).length === 0) return false
        // What those keys made is found by the next statement.
        while ((await inside.run(REVOKE_MADE, [userId, environment, now])).length > 0);
        return true
      })
    },

    async revokeKeysOf(owner, agentId, now) {
      await prisma.apiKey.updateMany({ where: { ...owner, agentId, revokedAt: null }, data: { revokedAt: now } })
    },

    async findSigningSecret(owner) {
      const values = [owner.userId, owner.environment]
      const [row] = await statements.run<SealedRow & { createdAt: Date }>(
        SIGNING_SECRET,
        values,
        'identity_signing_secret',
      )
      return row === undefined ? null : { ...toSealedSecrets(row), createdAt: row.createdAt }
    },

    async addSigningSecret(owner, made) {
      await prisma.signingSecret.createMany({ data: { ...owner, ...made }, skipDuplicates: true })
    },

    async rotateSigningSecret({ userId, environment }, { sealed, madeBy, createdAt }, until) {
      await statements.run(ROTATE, [userId, environment, sealed, madeBy, createdAt, until])
    },
  }
}

function usersIn(statements: StatementPool): Users {
  return {
    async findUser(issuer, subject) {
      const [row] = await statements.run<UserRow>(FIND_USER, [issuer, subject], 'identity_find_user')
      return row === undefined ? null : toAccount(row)
    },

    async saveUser(person, id, now, inside) {
      const { issuer, subject, name, email, emailConfirmed } = person
      const values = [id, issuer, subject, name, email, emailConfirmed, now]
      const [row] = await inside.run<UserRow & { created: boolean }>(SAVE_USER, values, 'identity_save_user')
      if (row === undefined) throw new Error('the user statement returned no row')
      return { ...toAccount(row), created: row.created }
    },

    async markGranted(user, environment, now, inside) {
      await inside.run(MARK_GRANTED[environment], [user, now], `identity_granted_${environment}`)
    },

    async takeGrants(sources, now, inside) {
      const day = new Date(Math.floor(now.getTime() / DAY_MS) * DAY_MS)
      for (const { source, most } of sources) {
        const taken = await inside.run(TAKE_GRANT, [day, source, most], 'identity_take_grant')
        if (taken.length === 0) return false
      }
      return true
    },

    async markWithheld(user, now, inside) {
      await inside.run('UPDATE identity_user SET credits_withheld_at = $2 WHERE id = $1', [user, now])
    },

    async findConfirmedEmail(id, inside = statements) {
      const [row] = await inside.run<{ email: string | null }>(CONFIRMED_EMAIL, [id])
      return row?.email ?? null
    },
  }
}

type Users = Pick<
  IdentityStore,
  'findUser' | 'saveUser' | 'markGranted' | 'takeGrants' | 'markWithheld' | 'findConfirmedEmail'
>

/** The free credits of sign-ups, for the wallet that shows them. */
export function createSignUpCredits(statements: Statements) {
  return {
    /** Whether this account's credits were withheld because of a daily limit. */
    async areWithheld(user: string): Promise<boolean> {
      const found = 'SELECT FROM identity_user WHERE id = $1 AND credits_withheld_at IS NOT NULL'
      return (await statements.run(found, [user], 'identity_is_withheld')).length > 0
    },
  }
}

function handlesIn(statements: StatementPool): Pick<IdentityStore, 'handleOf' | 'findByHandle' | 'saveHandle'> {
  return {
    async handleOf(user) {
      const [row] = await statements.run<{ handle: string }>(HANDLE_OF, [user], 'identity_handle_of')
      return row?.handle ?? null
    },

    async findByHandle(handle) {
      const [row] = await statements.run<{ userId: string }>(FIND_BY_HANDLE, [handle], 'identity_find_by_handle')
      return row?.userId ?? null
    },

    // Two accounts that exchange their handles at one moment wait for each other's rows.
    saveHandle: (user, handle, now) =>
      retryConflicts(() =>
        statements.together(async (inside) => {
          // Changes of one account wait for each other.
          await inside.run('SELECT FROM identity_user WHERE id = $1 FOR NO KEY UPDATE', [user])
          await inside.run(RELEASE, [user, handle, now])
          if (handle !== null) {
            const taken = await inside.run(TAKE_HANDLE, [handle, user, new Date(now.getTime() - HANDLE_KEPT_MS)])
            if (taken.length === 0) throw handleTaken()
          }
          await inside.run(FORGET_RELEASED, [user, HANDLES_KEPT_MAX])
        }),
      ),
  }
}

const HANDLE_OF = 'SELECT handle FROM identity_handle WHERE user_id = $1 AND released_at IS NULL'
const FIND_BY_HANDLE = 'SELECT user_id AS "userId" FROM identity_handle WHERE handle = $1 AND released_at IS NULL'

const RELEASE = `
UPDATE identity_handle SET released_at = $3 WHERE user_id = $1 AND released_at IS NULL AND handle IS DISTINCT FROM $2`

const TAKE_HANDLE = `
INSERT INTO identity_handle AS h (handle, user_id) VALUES ($1, $2)
ON CONFLICT (handle) DO UPDATE SET user_id = excluded.user_id, released_at = NULL
WHERE h.user_id = excluded.user_id OR h.released_at <= $3
RETURNING 1`

const FORGET_RELEASED = `
DELETE FROM identity_handle WHERE handle IN (
  SELECT handle FROM identity_handle WHERE user_id = $1 AND released_at IS NOT NULL
  ORDER BY released_at DESC, handle OFFSET $2)`

const USER = 'u.id AS "userId", u.issuer, u.subject, u.name, u.email, u.email_confirmed AS "emailConfirmed"'
const GRANTED = 'u.sandbox_granted_at IS NOT NULL AS sandbox, u.production_granted_at IS NOT NULL AS production'

const FIND_USER = `SELECT ${USER}, ${GRANTED} FROM identity_user u WHERE u.issuer = $1 AND u.subject = $2`

const CONFIRMED_EMAIL = 'SELECT email FROM identity_user WHERE id = $1 AND email_confirmed'

// A known address stays confirmed; for a new one the issuer decides. A claim that is missing from a token is not a
// withdrawal.
const SAVE_USER = `
INSERT INTO identity_user AS u (id, issuer, subject, name, email, email_confirmed, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (issuer, subject) DO UPDATE SET
  name = coalesce(excluded.name, u.name),
  email = coalesce(excluded.email, u.email),
  email_confirmed = excluded.email_confirmed
    OR (u.email_confirmed AND coalesce(excluded.email, u.email) IS NOT DISTINCT FROM u.email)
RETURNING ${USER}, ${GRANTED}, xmax = 0 AS created`

const DAY_MS = 86_400_000

// The row stays locked until the granting transaction ends: of two at once, the second sees the first one's count.
const TAKE_GRANT = `
INSERT INTO identity_grant_count AS c (at, source, used) SELECT $1, $2, 1 WHERE $3::int > 0
ON CONFLICT (at, source) DO UPDATE SET used = c.used + 1 WHERE c.used < $3::int
RETURNING 1`

const MARK_GRANTED = {
  sandbox: 'UPDATE identity_user SET sandbox_granted_at = $2 WHERE id = $1 AND sandbox_granted_at IS NULL',
  production: 'UPDATE identity_user SET production_granted_at = $2 WHERE id = $1 AND production_granted_at IS NULL',
}

const SELECT_KEYS = `
SELECT k.secret_hash AS hash, k.id, k.environment, k.agent_id AS "agentId", k.expires_at AS "expiresAt", k.revoked_at AS "revokedAt",
  k.last_used_at AS "lastUsedAt", ${USER}
FROM identity_api_key k JOIN identity_user u ON u.id = k.user_id`

const FIND_KEYS = `${SELECT_KEYS} WHERE k.secret_hash = ANY ($1::bytea[])`
const FIND_KEY_BY_ID = `${SELECT_KEYS} WHERE k.id = $1`

const ADD_KEY = `
INSERT INTO identity_api_key (id, user_id, environment, agent_id, name, secret_hash, prefix, last_four, expires_at,
  created_at, parent_id)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
ON CONFLICT DO NOTHING
RETURNING id`

const HOLD_PARENT = 'SELECT 1 FROM identity_api_key WHERE id = $1 AND revoked_at IS NULL FOR SHARE'

const REVOKE_KEY = `
UPDATE identity_api_key SET revoked_at = $4
WHERE user_id = $1 AND environment = $2 AND id = $3 AND revoked_at IS NULL
RETURNING id`

const REVOKE_MADE = `
UPDATE identity_api_key SET revoked_at = $3
WHERE user_id = $1 AND environment = $2 AND revoked_at IS NULL AND parent_id IN (
  SELECT id FROM identity_api_key WHERE user_id = $1 AND environment = $2 AND revoked_at IS NOT NULL)
RETURNING id`

const TOUCH_KEY = `
UPDATE identity_api_key SET last_used_at = $2
WHERE id = $1 AND (last_used_at IS NULL OR last_used_at <= $2::timestamptz - interval '1 minute')`

const ROTATE = `
INSERT INTO identity_signing_secret AS t (user_id, environment, sealed, made_by, created_at)
VALUES ($1, $2::environment, $3, $4, $5)
ON CONFLICT (user_id, environment) DO UPDATE SET
  sealed = excluded.sealed, made_by = excluded.made_by, created_at = excluded.created_at,
  previous_expires_at = $6,${SEALED_BEFORE}
WHERE t.made_by <> excluded.made_by`

const SIGNING_SECRET = `
SELECT ${SEALED_COLUMNS}, t.created_at AS "createdAt" FROM identity_signing_secret t
WHERE t.user_id = $1 AND t.environment = $2::environment`

interface UserRow {
  userId: Id<'usr'>
  issuer: string
  subject: string
  name: string | null
  email: string | null
  emailConfirmed: boolean
  sandbox: boolean
  production: boolean
}

type KeyRow = Omit<FoundKey, 'user'> & Omit<UserRow, 'sandbox' | 'production'> & { hash: Buffer }

function toAccount(row: UserRow): Account {
  return { user: toUser(row), granted: { sandbox: row.sandbox, production: row.production } }
}

function toUser({
  userId: id,
  issuer,
  subject,
  name,
  email,
  emailConfirmed,
}: Omit<UserRow, 'sandbox' | 'production'>): User {
  return { id, issuer, subject, name, email, emailConfirmed }
}

function toFoundKey(row: KeyRow): FoundKey {
  const { id, environment, agentId, expiresAt, revokedAt, lastUsedAt } = row
  return { id, environment, agentId, expiresAt, revokedAt, lastUsedAt, user: toUser(row) }
}

function toRow(key: ApiKey, { hash }: KeyTrace): Prisma.ApiKeyCreateManyInput {
  return { ...key, secretHash: bytes(hash) }
}

/** Prisma's types require a buffer that no other thread can share. */
function bytes(hash: Buffer): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(hash)
}

type Stored = Omit<ApiKey, 'id' | 'userId' | 'agentId'> & { id: string; userId: string; agentId: string | null }

function toApiKey(row: Stored): ApiKey {
  const { id, userId, agentId, environment, name, prefix, lastFour, expiresAt, lastUsedAt, createdAt } = row
  return {
    id: id as ApiKey['id'],
    userId: userId as ApiKey['userId'],
    agentId: agentId as ApiKey['agentId'],
    environment,
    name,
    prefix,
    lastFour,
    expiresAt,
    lastUsedAt,
    createdAt,
  }
}
