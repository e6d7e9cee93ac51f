import { usdc, ZERO, type Usdc } from '../../kit/money.ts'
import { totalOf } from '../../kit/total.ts'
import type { Statements } from '../../kit/transaction.ts'
import { GUESTS, type Day, type Funds, type HoldState, type Line } from '../model.ts'
import type { LedgerStore, Totals } from '../ports.ts'
import type { Accounts } from './accounts.ts'

type Reads = 'wallet' | 'credits' | 'balances' | 'holdStates' | 'statement' | 'days' | 'totals' | 'findMovement'

export function createLedgerReads(statements: Statements, accounts: Accounts): Pick<LedgerStore, Reads> {
  return {
    /** With its open holds, as of one moment. */
    async wallet(owner) {
      const own = await accounts.find(owner)
      if (own === null) return null
      const rows = await statements.run<Funds & { hold: string | null; amount: bigint | null }>(
        `SELECT a.available, a.locked, a.deposited, a.spent, h.id AS hold, h.amount - h.from_credits AS amount
         FROM ledger_account a LEFT JOIN ledger_hold h ON h.wallet_id = a.id AND h.state = 'open'
         WHERE a.id = $1
         ORDER BY h.id`,
        [own.wallet],
        'ledger_wallet',
      )
      const [first] = rows
      if (first === undefined) return null
      const { available, locked, deposited, spent } = first
      const locks = rows.flatMap(({ hold, amount }) =>
        hold === null || amount === null ? [] : [{ id: hold, amount: usdc(amount) }],
      )
      return { funds: { available, locked, deposited, spent }, locks }
    },

    async credits(owner) {
      const own = await accounts.find(owner)
      if (own === null) return null
      const [row] = await statements.run<Funds>(
        'SELECT available, locked, deposited, spent FROM ledger_account WHERE id = $1',
        [own.credits],
      )
      return row ?? null
    },

    /** In one statement for all; an owner without a wallet has nothing. */
    async balances(owners, inside = statements) {
      const found = []
      for (const owner of owners) found.push(await accounts.find(owner, inside))
      const ids = found.flatMap((own) => (own === null ? [] : [own.wallet, own.credits]))
      const rows = await inside.run<{ id: bigint; balance: Usdc }>(
        'SELECT id, available + locked AS balance FROM ledger_account WHERE id = ANY ($1::bigint[])',
        [ids],
        'ledger_balances',
      )
      const byId = new Map(rows.map(({ id, balance }) => [id, balance]))
      const of = (id: bigint | undefined): Usdc => (id === undefined ? undefined : byId.get(id)) ?? ZERO
      return found.map((own) => ({ wallet: of(own?.wallet), credits: of(own?.credits) }))
    },

    async holdStates(owner, ids) {
      const own = await accounts.find(owner)
      if (own === null) return []
      const rows = await statements.run<{ state: HoldState }>(
        'SELECT state FROM ledger_hold WHERE id = ANY ($1::text[]) AND wallet_id = $2',
        [ids, own.wallet],
        'ledger_hold_states',
      )
      return rows.map(({ state }) => state)
    },

    async statement(owner, page) {
      const own = await accounts.find(owner)
      if (own === null) return { lines: [], total: 0 }
      const lines = await statements.run<Line>(STATEMENT, [own.wallet, page.limit, page.offset], 'ledger_statement')
      const total = await totalOf(statements, {
        from: 'ledger_posting WHERE account_id = $1 AND available + locked <> 0',
        values: [own.wallet],
        key: 'sequence',
        type: 'bigint',
        // Sequence numbers are given in order and written within moments: below this distance all are written.
        settled: '(SELECT last_value - 200000 FROM ledger_posting_sequence_seq)',
      })
      return { lines, total }
    },

    async days(owner, since, sold) {
      const own = await accounts.find(owner)
      if (own === null) return { wholeFrom: null, days: [] }
      const [unread] = await statements.run<Unread>(UNREAD, [own.wallet, READ], 'ledger_days_unread')
      const whole = unread === undefined || unread.at < since ? null : dayAfter(unread.at)
      const values = [own.wallet, whole ?? since, unread?.sequence ?? 0n, sold]
      const days = await statements.run<Day>(DAYS, values, 'ledger_days')
      return { wholeFrom: whole?.toISOString().slice(0, 10) ?? null, days }
    },

    async totals(environment, inside = statements) {
      const [row] = await inside.run<Totals>(
        `SELECT coalesce(sum(available + locked) FILTER (WHERE kind = 'wallet'), 0)::bigint AS wallets,
                coalesce(sum(available + locked) FILTER (WHERE kind IN ('revenue', 'clearing')), 0)::bigint AS revenue,
                coalesce(sum(deposited) FILTER (WHERE owner = $2 AND kind = 'wallet'), 0)::bigint AS guests
         FROM ledger_account WHERE environment = $1::environment`,
        [environment, GUESTS],
      )
      return row ?? { wallets: 0n, revenue: 0n, guests: 0n }
    },

    async findMovement(id) {
      const [row] = await statements.run<{ reference: string | null; at: Date }>(
        'SELECT reference, at FROM ledger_movement WHERE id = $1',
        [id],
      )
      return row ?? null
    },
  }
}

/*
 * The balance after each line is the balance now less all that came later: nothing is stored twice, and the first page
 * reads only its own lines.
 */
const STATEMENT = `
WITH page AS (
  SELECT p.movement_id, p.kind, p.side, p.sequence, p.available + p.locked AS change,
         sum(p.available + p.locked) OVER (ORDER BY p.sequence DESC ROWS UNBOUNDED PRECEDING) AS later_and_this
  FROM ledger_posting p
  WHERE p.account_id = $1 AND p.available + p.locked <> 0
  ORDER BY p.sequence DESC
  LIMIT $2 OFFSET $3
)
SELECT page.movement_id AS "movementId", page.kind, page.side, page.change,
       (a.available + a.locked - page.later_and_this + page.change)::bigint AS "balanceAfter", m.reference, m.at
FROM page
JOIN ledger_account a ON a.id = $1
JOIN ledger_movement m ON m.id = page.movement_id
ORDER BY page.sequence DESC`

/*
 * Postings have no time, so the newest `READ` ones are read in their order: enough for the plot of a page. The day of the first one
 * that is not read is not whole.
 */
const UNREAD = `
SELECT p.sequence, m.at
FROM (
  SELECT movement_id, sequence FROM ledger_posting
  WHERE account_id = $1 AND available + locked <> 0
  ORDER BY sequence DESC
  LIMIT 1 OFFSET $2
) p
JOIN ledger_movement m ON m.id = p.movement_id`

const DAYS = `
SELECT to_char(m.at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day,
       coalesce(sum(p.change) FILTER (WHERE p.change > 0), 0)::bigint AS "moneyIn",
       coalesce(sum(p.change) FILTER (
         WHERE p.change > 0 AND (p.kind IN ('capture', 'transfer') OR m.reference = ANY ($4::text[]))
       ), 0)::bigint AS sales,
       coalesce(-sum(p.change) FILTER (WHERE p.change < 0), 0)::bigint AS "moneyOut"
FROM (
  SELECT movement_id, kind, available + locked AS change FROM ledger_posting
  WHERE account_id = $1 AND available + locked <> 0 AND sequence > $3
) p
JOIN ledger_movement m ON m.id = p.movement_id
WHERE m.at >= $2
GROUP BY 1 ORDER BY 1`

const READ = 20_000

interface Unread {
  sequence: bigint
  at: Date
}

function dayAfter(at: Date): Date {
  return new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate() + 1))
}
