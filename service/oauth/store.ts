import type { StatementPool, Statements } from '../kit/transaction.ts'
import type { Client, ClientStore, Device, DeviceStore, Grant, GrantStore } from './model.ts'

export function createGrantStore(statements: StatementPool): GrantStore {
  const one = async (inside: Statements, text: string, hash: Buffer, name: string): Promise<Grant | null> =>
    (await inside.run<Grant>(text, [hash], name))[0] ?? null

  return {
    async add(grant, codeHash) {
      const { keyId, agentId, userId, environment, clientId, redirectUri, resource, challenge, expiresAt } = grant
      const terms = [clientId, redirectUri, resource, challenge]
      await statements.run(ADD, [keyId, agentId, userId, environment, ...terms, codeHash, expiresAt], 'oauth_add_grant')
    },

    findByAccess: (hash) => one(statements, `${SELECT} WHERE access_hash = $1`, hash, 'oauth_grant_by_access'),

    find: (by, hash) => one(statements, FIND_BY[by], hash, `oauth_grant_by_${by}`),

    exchange: (by, hash, decide) =>
      statements.together(async (inside) => {
        const grant = await one(inside, `${FIND_BY[by]} FOR UPDATE`, hash, `oauth_hold_grant_by_${by}`)
        const { tokens, issued } = decide(grant)
        if (issued === null) return tokens
        const { redeemedAt, familyHash, refreshHash, accessHash, accessExpiresAt, expiresAt } = issued
        const { previousHash, rotationSalt, rotatedAt } = issued
        const values = [hash, redeemedAt, familyHash, refreshHash, accessHash, accessExpiresAt, expiresAt]
        await inside.run(ISSUE[by], [...values, previousHash, rotationSalt, rotatedAt], `oauth_issue_by_${by}`)
        await inside.run(KEEP_CLIENT, [grant?.clientId, issued.clientExpiresAt], 'oauth_keep_client')
        return tokens
      }),

    async end(keyId, now) {
      await statements.run('UPDATE oauth_grant SET ended_at = $2 WHERE key_id = $1', [keyId, now], 'oauth_end_grant')
    },

    expired: (now, limit) => statements.run<Grant>(EXPIRED, [now, limit], 'oauth_expired_grants'),
  }
}

const ADD = `
INSERT INTO oauth_grant (key_id, agent_id, user_id, environment, client_id, redirect_uri, resource, challenge, code_hash,
  expires_at)
VALUES ($1, $2, $3, $4::environment, $5, $6, $7, $8, $9, $10)`

const SELECT = `
SELECT key_id AS "keyId", agent_id AS "agentId", user_id AS "userId", environment, client_id AS "clientId",
  redirect_uri AS "redirectUri", resource, challenge, redeemed_at AS "redeemedAt", refresh_hash AS "refreshHash",
  previous_refresh_hash AS "previousHash", rotation_salt AS "rotationSalt", rotated_at AS "rotatedAt",
  access_hash AS "accessHash", access_expires_at AS "accessExpiresAt", expires_at AS "expiresAt", ended_at AS "endedAt"
FROM oauth_grant`

const FIND_BY = { code: `${SELECT} WHERE code_hash = $1`, family: `${SELECT} WHERE family_hash = $1` }

const ISSUED = `
UPDATE oauth_grant SET redeemed_at = $2, family_hash = $3, refresh_hash = $4, access_hash = $5, access_expires_at = $6,
  expires_at = $7, previous_refresh_hash = $8, rotation_salt = $9, rotated_at = $10`

const ISSUE = { code: `${ISSUED} WHERE code_hash = $1`, family: `${ISSUED} WHERE family_hash = $1` }

const KEEP_CLIENT = 'UPDATE oauth_client SET expires_at = $2 WHERE id = $1'

const EXPIRED = `${SELECT} WHERE expires_at <= $1 AND ended_at IS NULL ORDER BY expires_at, key_id LIMIT $2`

export function createClientStore(statements: StatementPool): ClientStore {
  return {
    async add({ id, name, redirectUris }, expiresAt) {
      await statements.run(ADD_CLIENT, [id, name, redirectUris, expiresAt], 'oauth_add_client')
    },
    async find(id) {
      if (!/^[\w-]{1,100}$/.test(id)) return null
      const [row] = await statements.run<Client>(FIND_CLIENT, [id], 'oauth_find_client')
      return row ?? null
    },
  }
}

const ADD_CLIENT = 'INSERT INTO oauth_client (id, name, redirect_uris, expires_at) VALUES ($1, $2, $3, $4)'
const FIND_CLIENT = 'SELECT id, name, redirect_uris AS "redirectUris" FROM oauth_client WHERE id = $1'

export function createDeviceStore(statements: StatementPool): DeviceStore {
  return {
    async add({ userCode, name, intervalSeconds, expiresAt }, deviceHash) {
      await statements.run(ADD_DEVICE, [deviceHash, userCode, name, intervalSeconds, expiresAt], 'oauth_add_device')
    },

    async waiting(userCode, now) {
      const [row] = await statements.run<Device>(WAITING_DEVICE, [userCode, now], 'oauth_waiting_device')
      return row ?? null
    },

    async decide(userCode, owner, now) {
      const decision = owner === null ? 'refused' : 'approved'
      const values = [userCode, now, decision, owner?.userId ?? null, owner?.environment ?? null]
      const rows = await statements.run<{ userCode: string }>(DECIDE_DEVICE, values, 'oauth_decide_device')
      return rows.length > 0
    },

    async poll(deviceHash, now, decide) {
      // What was found out about the pace is kept although the answer is a refusal, so it is thrown afterwards.
      const [device, poll] = await statements.together(async (inside) => {
        const [row] = await inside.run<Device>(HOLD_DEVICE, [deviceHash], 'oauth_hold_device')
        const found = row ?? null
        const decided = decide(found)
        if (decided.outcome === 'wait') {
          await inside.run(POLLED_DEVICE, [deviceHash, now, decided.intervalSeconds], 'oauth_polled_device')
        }
        if (decided.outcome === 'redeem') await inside.run(REDEEM_DEVICE, [deviceHash, now], 'oauth_redeem_device')
        return [found, decided] as const
      })
      if (poll.outcome !== 'redeem') throw poll.refusal
      const { name = '', userId, environment } = device ?? {}
      if (userId == null || environment == null) throw new Error('An approved device has no owner.')
      return { name, owner: { userId, environment } }
    },
  }
}

const ADD_DEVICE = `
INSERT INTO oauth_device (device_hash, user_code, name, interval_seconds, expires_at) VALUES ($1, $2, $3, $4, $5)`

const SELECT_DEVICE = `
SELECT user_code AS "userCode", name, interval_seconds AS "intervalSeconds", polled_at AS "polledAt", decision,
  user_id AS "userId", environment, redeemed_at AS "redeemedAt", expires_at AS "expiresAt"
FROM oauth_device`

const WAITING_DEVICE = `${SELECT_DEVICE} WHERE user_code = $1 AND decision IS NULL AND expires_at > $2`

const HOLD_DEVICE = `${SELECT_DEVICE} WHERE device_hash = $1 FOR UPDATE`

const DECIDE_DEVICE = `
UPDATE oauth_device SET decision = $3, user_id = $4, environment = $5::environment
WHERE user_code = $1 AND decision IS NULL AND expires_at > $2
RETURNING user_code AS "userCode"`

const POLLED_DEVICE = 'UPDATE oauth_device SET polled_at = $2, interval_seconds = $3 WHERE device_hash = $1'

const REDEEM_DEVICE = 'UPDATE oauth_device SET redeemed_at = $2 WHERE device_hash = $1'
