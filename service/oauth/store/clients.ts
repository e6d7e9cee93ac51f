import type { StatementPool } from '../../kit/transaction.ts'
import type { Client } from '../model.ts'
import type { ClientStore } from '../ports.ts'

export function createClientStore(statements: StatementPool): ClientStore {
  return {
    async add({ id, name, redirectUris }, expiresAt) {
      await statements.run(ADD, [id, name, redirectUris, expiresAt], 'oauth_add_client')
    },
    async find(id) {
      if (!/^[\w-]{1,100}$/.test(id)) return null
      const [row] = await statements.run<Client>(FIND, [id], 'oauth_find_client')
      return row ?? null
    },
    async keep(id, expiresAt) {
      await statements.run(
        'UPDATE oauth_client SET expires_at = $2 WHERE id = $1',
        [id, expiresAt],
        'oauth_keep_client',
      )
    },
  }
}

const ADD = 'INSERT INTO oauth_client (id, name, redirect_uris, expires_at) VALUES ($1, $2, $3, $4)'
const FIND = 'SELECT id, name, redirect_uris AS "redirectUris" FROM oauth_client WHERE id = $1'
