import { usdc, type Usdc } from '../../kit/money.ts'
import { totalOf } from '../../kit/total.ts'
import type { Statements } from '../../kit/transaction.ts'
import { GUESTS, type Funds, type Line } from '../model.ts'
import type { Environment, Owner } from '../../kit/owner.ts'
import type { Totals, WalletFigures } from '../ports.ts'
import type { Accounts } from './accounts.ts'

/** A wallet with its open locks, as of one moment. */
export async function readWallet(
  statements: Statements,
  accounts: Accounts,
  owner: Owner,
): Promise<WalletFigures | null> {
  const own = await accounts.find(owner)
  if (own === null) return null
  const rows = await statements.run<FundsRow & { hold: string | null; amount: bigint | null }>(
    `SELECT a.available, a.locked, a.deposited, a.spent, h.id AS hold, h.amount - h.from_credits AS amount
     FROM ledger_account a LEFT JOIN ledger_hold h ON h.wallet_id = a.id AND h.state = 'open'
     WHERE a.id = $1
     ORDER BY h.id`,
    [own.wallet],
    'ledger_wallet',
  )
  const [first] = rows
  if (first === undefined) return null
  const locks = rows.flatMap(({ hold, amount }) =>
    hold === null || amount === null ? [] : [{ id: hold, amount: usdc(amount) }],
  )
  return { funds: fromRow(first), locks }
}

export async function readCredits(statements: Statements, accounts: Accounts, owner: Owner): Promise<Funds | null> {
  const own = await accounts.find(owner)
  if (own === null) return null
  const [row] = await statements.run<FundsRow>(
    'SELECT available, locked, deposited, spent FROM ledger_account WHERE id = $1',
    [own.credits],
  )
  return row === undefined ? null : fromRow(row)
}

export async function readTotals(statements: Statements, environment: Environment): Promise<Totals> {
  const [row] = await statements.run<Totals>(
    `SELECT coalesce(sum(available + locked) FILTER (WHERE kind = 'wallet'), 0)::bigint AS wallets,
            coalesce(sum(available + locked) FILTER (WHERE kind IN ('revenue', 'clearing')), 0)::bigint AS revenue,
            coalesce(sum(deposited) FILTER (WHERE owner = $2 AND kind = 'wallet'), 0)::bigint AS guests
     FROM ledger_account WHERE environment = $1::environment`,
    [environment, GUESTS],
  )
  return row ?? { wallets: 0n, revenue: 0n, guests: 0n }
}

/**
 * A page of the wallet's statement, newest first. The balance after each line is the balance now less all
 * that came later: nothing is stored twice, and the first page reads only its own lines.
 */
export async function readStatement(
  statements: Statements,
  accounts: Accounts,
  owner: Owner,
  page: { limit: number; offset: number },
): Promise<{ lines: Line[]; total: number }> {
  const own = await accounts.find(owner)
  if (own === null) return { lines: [], total: 0 }
  const rows = await statements.run<LineRow>(STATEMENT, [own.wallet, page.limit, page.offset], 'ledger_statement')
  const total = await totalOf(statements, {
    from: 'ledger_posting WHERE account_id = $1 AND available + locked <> 0',
    values: [own.wallet],
    key: 'sequence',
    type: 'bigint',
    // Numbers are given in order and written within moments; so many of everybody's are some of them at any pace.
    settled: '(SELECT last_value - 200000 FROM ledger_posting_sequence_seq)',
  })
  const lines = rows.map((row) => ({
    movementId: row.movement_id,
    kind: row.kind,
    side: row.side,
    change: usdc(row.change),
    balanceAfter: usdc(row.balance_after),
    reference: row.reference,
    at: row.at,
  }))
  return { lines, total }
}

const STATEMENT = `
WITH page AS (
  SELECT p.movement_id, p.kind, p.side, p.sequence, p.available + p.locked AS change,
         sum(p.available + p.locked) OVER (ORDER BY p.sequence DESC ROWS UNBOUNDED PRECEDING) AS later_and_this
  FROM ledger_posting p
  WHERE p.account_id = $1 AND p.available + p.locked <> 0
  ORDER BY p.sequence DESC
  LIMIT $2 OFFSET $3
)
SELECT page.movement_id, page.kind, page.side, page.change,
       (a.available + a.locked - page.later_and_this + page.change)::bigint AS balance_after, m.reference, m.at
FROM page
JOIN ledger_account a ON a.id = $1
JOIN ledger_movement m ON m.id = page.movement_id
ORDER BY page.sequence DESC`

function fromRow(row: FundsRow): Funds {
  return {
    available: usdc(row.available),
    locked: usdc(row.locked),
    deposited: usdc(row.deposited),
    spent: usdc(row.spent),
  }
}

interface FundsRow {
  available: Usdc
  locked: Usdc
  deposited: Usdc
  spent: Usdc
}

interface LineRow {
  movement_id: string
  kind: Line['kind']
  side: Line['side']
  change: bigint
  balance_after: bigint
  reference: string | null
  at: Date
}
