import { SEALED_BEFORE, SEALED_COLUMNS, toSealedSecrets, type SealedRow } from '../../kit/sealed-secrets.ts'
import type { StatementPool } from '../../kit/transaction.ts'
import type { TargetStore } from '../ports.ts'
import { endpoints } from './endpoints.ts'

/** Addresses and their secrets in PostgreSQL. */
export function createTargetStore(statements: StatementPool): TargetStore {
  return {
    ...endpoints(statements),

    async put(inside, { id, owner, url, sealed, madeBy, createdAt }) {
      const values = [id, owner.userId, owner.environment, url, sealed, madeBy, createdAt]
      const [row] = await inside.run<SealedRow>(PUT, values, 'delivery_target_put')
      if (row === undefined) throw new Error(`the target ${id} belongs to another account`)
      return toSealedSecrets(row)
    },

    async rotate({ userId, environment }, id, { sealed, madeBy }, until) {
      await statements.run(ROTATE, [userId, environment, id, sealed, madeBy, until], 'delivery_target_rotate')
    },

    async secrets({ userId, environment }, id) {
      const [row] = await statements.run<SealedRow>(SECRETS, [userId, environment, id], 'delivery_target_secrets')
      return row === undefined ? null : toSealedSecrets(row)
    },
  }
}

// An existing target keeps its secret; the new one is dropped.
const PUT = `
INSERT INTO delivery_target AS t (id, user_id, environment, url, sealed, made_by, created_at)
VALUES ($1, $2, $3::environment, $4, $5, $6, $7::timestamptz)
ON CONFLICT (id) DO UPDATE SET url = excluded.url
WHERE t.user_id = excluded.user_id AND t.environment = excluded.environment
RETURNING ${SEALED_COLUMNS}`

const ROTATE = `
UPDATE delivery_target t SET
  sealed = $4, made_by = $5, previous_expires_at = $6::timestamptz,${SEALED_BEFORE}
WHERE t.id = $3 AND t.user_id = $1 AND t.environment = $2::environment AND t.made_by <> $5`

const SECRETS = `
SELECT ${SEALED_COLUMNS} FROM delivery_target t WHERE t.id = $3 AND t.user_id = $1 AND t.environment = $2::environment`
