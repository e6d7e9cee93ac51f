import type { Statements } from '../../kit/transaction.ts'
import type { Difference } from '../ports.ts'

/**
 * Recomputes every balance from the postings and holds and names each difference. The statements read one
 * snapshot each; on a quiet ledger, or inside a repeatable-read transaction, all of them read the same.
 */
export async function findDifferences(statements: Statements): Promise<Difference[]> {
  const found: Difference[] = []
  for (const text of CHECKS) found.push(...(await statements.run<Difference>(text, [])))
  return found
}

const CHECKS = [
  // Accounts follow their postings.
  `
WITH recomputed AS (
  SELECT account_id, sum(available) AS available, sum(locked) AS locked,
         coalesce(sum(available) FILTER (WHERE side = 'receiver' AND kind IN ('deposit', 'grant')), 0) AS deposited,
         coalesce(-sum(available + locked) FILTER (WHERE side = 'payer' AND kind IN ('capture', 'transfer')), 0) AS spent
  FROM ledger_posting
  GROUP BY account_id
)
SELECT 'account ' || coalesce(a.id, r.account_id) || ' (' || coalesce(a.environment || ' ' || a.owner || ' ' || a.kind, 'none') || ')' AS subject,
       figure.name AS figure, coalesce(figure.recorded::text, 'none') AS recorded, figure.recomputed::text AS recomputed
FROM ledger_account a
FULL JOIN recomputed r ON r.account_id = a.id
CROSS JOIN LATERAL (VALUES
  ('available', a.available, coalesce(r.available, 0)),
  ('locked', a.locked, coalesce(r.locked, 0)),
  ('deposited', a.deposited, coalesce(r.deposited, 0)),
  ('spent', a.spent, coalesce(r.spent, 0))
) AS figure(name, recorded, recomputed)
WHERE figure.recorded IS DISTINCT FROM figure.recomputed
LIMIT 1000`,
  // The postings of a movement add up to zero.
  `
SELECT 'movement ' || p.movement_id AS subject, 'sum' AS figure, '0' AS recorded, sum(p.available + p.locked)::text AS recomputed
FROM ledger_posting p
GROUP BY p.movement_id
HAVING sum(p.available + p.locked) <> 0
LIMIT 1000`,
  // A movement stays in one environment.
  `
SELECT 'movement ' || p.movement_id AS subject, 'environments' AS figure, '1' AS recorded, count(DISTINCT a.environment)::text AS recomputed
FROM ledger_posting p JOIN ledger_account a ON a.id = p.account_id
GROUP BY p.movement_id
HAVING count(DISTINCT a.environment) <> 1
LIMIT 1000`,
  // Each posting has a movement of its kind.
  `
SELECT 'movement ' || p.movement_id AS subject, 'kind' AS figure, coalesce(m.kind::text, 'none') AS recorded, p.kind::text AS recomputed
FROM ledger_posting p LEFT JOIN ledger_movement m ON m.id = p.movement_id
WHERE m.kind IS DISTINCT FROM p.kind
LIMIT 1000`,
  // Locked money is the sum of the open holds.
  `
WITH held AS (
  SELECT account_id, sum(amount) AS amount FROM (
    SELECT wallet_id AS account_id, amount - from_credits AS amount FROM ledger_hold WHERE state = 'open'
    UNION ALL
    SELECT credits_id, from_credits FROM ledger_hold WHERE state = 'open' AND from_credits > 0
  ) parts GROUP BY account_id
)
SELECT 'account ' || coalesce(a.id, h.account_id) AS subject, 'open locks' AS figure, coalesce(a.locked, 0)::text AS recorded, coalesce(h.amount, 0)::text AS recomputed
FROM ledger_account a FULL JOIN held h ON h.account_id = a.id
WHERE coalesce(a.locked, 0) <> coalesce(h.amount, 0)
LIMIT 1000`,
  // Each hold has its movements.
  `
SELECT 'lock ' || h.id AS subject, 'movements' AS figure,
       CASE WHEN h.state = 'open' THEN 'reserve' ELSE 'reserve, end' END AS recorded,
       concat_ws(', ', CASE WHEN r.id IS NOT NULL THEN 'reserve' END, CASE WHEN e.id IS NOT NULL THEN 'end' END) AS recomputed
FROM ledger_hold h
LEFT JOIN ledger_movement r ON r.id = h.id || '.reserve'
LEFT JOIN ledger_movement e ON e.id = h.id || '.end'
WHERE r.id IS NULL OR (e.id IS NULL) <> (h.state = 'open')
LIMIT 1000`,
  // Captures are posted.
  `
WITH posted AS (
  SELECT movement_id, -sum(available + locked) AS amount FROM ledger_posting
  WHERE side = 'payer' AND kind IN ('capture', 'payout') GROUP BY movement_id
)
SELECT 'lock ' || h.id AS subject, 'captured' AS figure, h.captured::text AS recorded, coalesce(p.amount, 0)::text AS recomputed
FROM ledger_hold h LEFT JOIN posted p ON p.movement_id = h.id || '.end'
WHERE h.captured <> coalesce(p.amount, 0)
LIMIT 1000`,
]
