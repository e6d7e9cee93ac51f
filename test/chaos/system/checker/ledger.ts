import type { Statements } from '../../../../service/kit/transaction.ts'
import { findDifferences } from '../../../../service/ledger/store/check.ts'

/** The ledger's own check, and one that it can't make: every hold belongs to an operation that really took place. */
export async function checkLedger(statements: Statements): Promise<string[]> {
  const differences = await findDifferences(statements)
  const problems = differences.map(
    ({ subject, figure, recorded, recomputed }) => `ledger: ${subject}: ${figure} is ${recorded}, not ${recomputed}`,
  )
  for (const [what, text] of LIES) {
    const rows = await statements.run<{ id: string }>(text, [])
    problems.push(...rows.map(({ id }) => `${what}: ${id}`))
  }
  return problems
}

const LIES: readonly (readonly [what: string, text: string])[] = [
  [
    'a sum of money that came from nowhere',
    `SELECT coalesce(sum(available + locked), 0)::text AS id FROM ledger_account HAVING sum(available + locked) <> 0`,
  ],
  [
    'a balance below zero',
    `SELECT id::text FROM ledger_account WHERE kind IN ('wallet', 'credits') AND (available < 0 OR locked < 0)`,
  ],
  [
    'a lock of nothing',
    `SELECT h.id FROM ledger_hold h
     WHERE NOT EXISTS (SELECT FROM run WHERE id = h.id)
       AND NOT EXISTS (SELECT FROM wallet_withdrawal WHERE id = h.id)
       AND NOT EXISTS (SELECT FROM spending_payment WHERE id = h.id)
       AND h.state = 'captured'
       AND NOT EXISTS (SELECT FROM tool_call WHERE id = split_part(h.id, '~', 1))`,
  ],
  [
    'a run whose price is not what was taken',
    `SELECT r.id FROM run r LEFT JOIN ledger_hold h ON h.id = r.id
     WHERE r.cost <> coalesce(h.captured, 0) OR (r.status <> 'succeeded' AND r.cost > 0)
       OR (r.status = 'succeeded' AND r.price > 0 AND h.state IS DISTINCT FROM 'captured')`,
  ],
  [
    'a call of a tool whose price is not what was taken',
    `SELECT c.id FROM tool_call c LEFT JOIN (
       SELECT split_part(id, '~', 1) AS call, sum(captured) AS captured FROM ledger_hold GROUP BY 1
     ) h ON h.call = c.id
     WHERE c.user_id IS NOT NULL
       AND coalesce(h.captured, 0) <> CASE WHEN c.error_code IS NULL THEN c.cost ELSE 0 END`,
  ],
  [
    'a withdrawal whose amount is not what was taken',
    `SELECT w.id FROM wallet_withdrawal w LEFT JOIN ledger_hold h ON h.id = w.id
     WHERE coalesce(h.captured, 0) <> CASE WHEN w.state = 'confirmed' THEN w.amount ELSE 0 END`,
  ],
  [
    'a paid call whose amount is not what was taken',
    `SELECT p.id FROM spending_payment p LEFT JOIN ledger_hold h ON h.id = p.id
     WHERE coalesce(h.captured, 0) <> CASE WHEN p.state = 'settled' THEN p.amount ELSE 0 END`,
  ],
  [
    'a creator who was paid something else than the runs cost',
    `SELECT a.owner AS id FROM ledger_account a
     JOIN (SELECT owner_id, environment, sum(cost) AS earned FROM run GROUP BY 1, 2) r
       ON r.owner_id = a.owner AND r.environment = a.environment
     WHERE a.kind = 'wallet' AND r.earned <> (
       SELECT coalesce(sum(p.available), 0) FROM ledger_posting p
       WHERE p.account_id = a.id AND p.side = 'receiver' AND p.kind = 'capture')`,
  ],
  ['a word that was given up', `SELECT id::text FROM outbox WHERE failed_at IS NOT NULL`],
]
