import type { Tables } from '../kit/tables.ts'
import type { StatementPool } from '../kit/transaction.ts'
import type { MessageStore } from './page.ts'

export function createMessageStore(statements: StatementPool): MessageStore {
  return {
    async add(kind, content, now) {
      await statements.run(ADD, [kind, JSON.stringify(content), now], 'sandbox_message_add')
      await statements.run(TRIM, [kind, KEPT], 'sandbox_message_trim')
    },
    newest: (kind) => statements.run(NEWEST, [kind, SHOWN], 'sandbox_message_newest'),
  }
}

const KEPT = 200
const SHOWN = 50

const ADD = 'INSERT INTO sandbox_message (kind, content, created_at) VALUES ($1, $2::json, $3)'
const TRIM = `
DELETE FROM sandbox_message WHERE kind = $1
AND id <= (SELECT id FROM sandbox_message WHERE kind = $1 ORDER BY id DESC OFFSET $2 LIMIT 1)`
const NEWEST = `
SELECT content, created_at AS "createdAt" FROM sandbox_message WHERE kind = $1 ORDER BY id DESC LIMIT $2`

export const sandboxTables: Tables = {
  retention: () => ({ sandbox_message: { ends: 'when 200 newer messages of its kind exist' } }),
}
