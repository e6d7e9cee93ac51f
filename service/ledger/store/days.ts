import { usdc } from '../../kit/money.ts'
import type { Statements } from '../../kit/transaction.ts'
import type { Day } from '../model.ts'
import type { Owner } from '../../kit/owner.ts'
import type { Accounts } from './accounts.ts'

/**
 * The wallet's days. What is `sold` are references of deposits that paid for something. Postings carry no time, so the newest ones are read in the order in which they came: more than
 * `READ` of them are too many to be worth their time on a page that shows a plot.
 */
export async function readDays(
  statements: Statements,
  accounts: Accounts,
  owner: Owner,
  since: Date,
  sold: readonly string[],
): Promise<readonly Day[]> {
  const own = await accounts.find(owner)
  if (own === null) return []
  const rows = await statements.run<{ day: string; money_in: bigint; sales: bigint; money_out: bigint }>(
    DAYS,
    [own.wallet, since, READ, sold],
    'ledger_days',
  )
  return rows.map(({ day, money_in, sales, money_out }) => ({
    day,
    moneyIn: usdc(money_in),
    sales: usdc(sales),
    moneyOut: usdc(money_out),
  }))
}

const READ = 20_000

const DAYS = `
SELECT to_char(m.at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day,
       coalesce(sum(p.change) FILTER (WHERE p.change > 0), 0)::bigint AS money_in,
       coalesce(sum(p.change) FILTER (
         WHERE p.change > 0 AND (p.kind IN ('capture', 'transfer') OR m.reference = ANY ($4::text[]))
       ), 0)::bigint AS sales,
       coalesce(-sum(p.change) FILTER (WHERE p.change < 0), 0)::bigint AS money_out
FROM (
  SELECT movement_id, kind, available + locked AS change FROM ledger_posting
  WHERE account_id = $1 AND available + locked <> 0
  ORDER BY sequence DESC
  LIMIT $3
) p
JOIN ledger_movement m ON m.id = p.movement_id
WHERE m.at >= $2
GROUP BY 1 ORDER BY 1`
