import type { StatementPool } from '../../kit/transaction.ts'
import type { SealedSecrets, TargetStore } from '../ports.ts'
import { endpoints } from './endpoints.ts'

/** Addresses and their secrets in PostgreSQL. */
export function createTargetStore(statements: StatementPool): TargetStore {
  return {
    ...endpoints(statements),

    async put(inside, { id, owner, url, sealed, madeBy, createdAt }) {
      const values = [id, owner.userId, owner.environment, url, sealed, madeBy, createdAt]
      const [row] = await inside.run<SecretsRow>(PUT, values, 'delivery_target_put')
      if (row === undefined) throw new Error(`the target ${id} belongs to another account`)
      return toSecrets(row)
    },

    async rotate({ userId, environment }, id, { sealed, madeBy }, until) {
      await statements.run(ROTATE, [userId, environment, id, sealed, madeBy, until], 'delivery_target_rotate')
    },

    async secrets({ userId, environment }, id) {
      const [row] = await statements.run<SecretsRow>(SECRETS, [userId, environment, id], 'delivery_target_secrets')
      return row === undefined ? null : toSecrets(row)
    },
  }
}

const SEALED = 't.sealed, t.previous_sealed AS "previousSealed", t.previous_expires_at AS "previousExpiresAt"'

// An existing target keeps its secret; the new one is dropped.
const PUT = `
INSERT INTO delivery_target AS t (id, user_id, environment, url, sealed, made_by, created_at)
VALUES ($1, $2, $3::environment, $4, $5, $6, $7::timestamptz)
ON CONFLICT (id) DO UPDATE SET url = excluded.url
WHERE t.user_id = excluded.user_id AND t.environment = excluded.environment
RETURNING ${SEALED}`

const ROTATE = `
UPDATE delivery_target t SET
  sealed = $4, made_by = $5, previous_sealed = t.sealed, previous_expires_at = $6::timestamptz
WHERE t.id = $3 AND t.user_id = $1 AND t.environment = $2::environment AND t.made_by <> $5`

const SECRETS = `
SELECT ${SEALED} FROM delivery_target t WHERE t.id = $3 AND t.user_id = $1 AND t.environment = $2::environment`

interface SecretsRow {
  sealed: string
  previousSealed: string | null
  previousExpiresAt: Date | null
}

export function toSecrets({ sealed, previousSealed, previousExpiresAt }: SecretsRow): SealedSecrets {
  const hasPrevious = previousSealed !== null && previousExpiresAt !== null
  return { sealed, previous: hasPrevious ? { sealed: previousSealed, expiresAt: previousExpiresAt } : null }
}
