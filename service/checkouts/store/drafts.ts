import type { StatementPool } from '../../kit/transaction.ts'
import type { CheckoutStore } from '../stores.ts'

/** What stands in the forms of payment pages, on its way to another device. */
export function drafts(statements: StatementPool): Pick<CheckoutStore, 'putDraft' | 'findDraft'> {
  return {
    async putDraft({ tokenHash, checkout, content, until }, now) {
      const values = [tokenHash, checkout, content, until, now, DRAFTS_MAX]
      return (await statements.run(PUT, values, 'checkout_put_draft')).length > 0
    },

    async findDraft(tokenHash, checkout, now) {
      const [row] = await statements.run<{ content: string }>(FIND, [tokenHash, checkout, now], 'checkout_find_draft')
      return row?.content ?? null
    },
  }
}

/** Of one checkout at a time. */
const DRAFTS_MAX = 1_000

const PUT = `
INSERT INTO checkout_draft (token_hash, checkout_id, content, expires_at)
SELECT $1, $2, $3, $4
WHERE (SELECT count(*) FROM checkout_draft WHERE checkout_id = $2 AND expires_at > $5) < $6
ON CONFLICT (token_hash) DO UPDATE SET content = excluded.content, expires_at = excluded.expires_at
  WHERE checkout_draft.checkout_id = excluded.checkout_id
RETURNING token_hash`

const FIND = `
SELECT content FROM checkout_draft WHERE token_hash = $1 AND checkout_id = $2 AND expires_at > $3`
