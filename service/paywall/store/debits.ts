import type { Address } from '../../chain/model.ts'
import { Batch } from '../../kit/batch.ts'
import { usdc, ZERO, type Usdc } from '../../kit/money.ts'
import { retryConflicts, type StatementPool } from '../../kit/transaction.ts'
import type { Held, Hold } from '../ports.ts'

/**
 * All calls of a customer change one balance, and each change is flushed to disk. One by one they would wait for each
 * other's flushes, so concurrent ones share a statement.
 */
export function createDebits(statements: StatementPool) {
  const holds = new Batch<Hold, Held | 'ask again'>({ largest: LARGEST, run: holdAll })
  const debits = new Batch<Debit, Usdc>({ largest: LARGEST, run: debitAll })

  async function holdAll(items: readonly Hold[]): Promise<(Held | 'ask again')[]> {
    const values = [
      items.map(({ paywallId }) => paywallId),
      items.map(({ network }) => network),
      items.map(({ by }) => ('token' in by ? by.token : null)),
      items.map(({ by }) => ('payer' in by ? by.payer : null)),
      items.map(({ amount }) => amount),
      items.map(({ call }) => call),
      items.map(({ route }) => route),
      items.map(({ minimum }) => minimum),
      items.map(({ until }) => until),
    ]
    const rows = await retryConflicts(() => statements.run<HeldRow>(HOLD, values, 'paywall_hold'))
    const byPlace = new Map(rows.map((row) => [Number(row.place), row]))
    return items.map(({ amount }, index) => {
      const { payer, held, left } = byPlace.get(index + 1) ?? NOBODY
      if (payer === null) return { held: false, balance: null }
      if (held) return { held: true, payer, left: usdc(left) }
      // The balance is too small for this hold together with those before it, but may be enough for this one alone.
      return left >= amount ? 'ask again' : { held: false, balance: usdc(left), payer }
    })
  }

  async function debitAll(items: readonly Debit[]): Promise<Usdc[]> {
    const values = [items.map(({ call }) => call), items.map(({ amount }) => amount), items.map(({ at }) => at)]
    const rows = await retryConflicts(() =>
      statements.run<{ call: string; available: bigint }>(DRAW, values, 'paywall_draw'),
    )
    const left = new Map(rows.map(({ call, available }) => [call, usdc(available)]))
    return items.map(({ call }) => left.get(call) ?? ZERO)
  }

  return {
    async hold(hold: Hold): Promise<Held> {
      for (;;) {
        const held = await holds.add(hold)
        if (held !== 'ask again') return held
      }
    },
    draw: (call: string, amount: Usdc, at: Date): Promise<Usdc> => debits.add({ call, amount, at }),
  }
}

interface Debit {
  call: string
  amount: Usdc
  at: Date
}

interface HeldRow {
  place: bigint
  payer: Address | null
  held: boolean
  /** The available balance after all of this statement's holds. */
  left: bigint
}

const LARGEST = 256
const NOBODY: Omit<HeldRow, 'place'> = { payer: null, held: false, left: 0n }

// Every statement that locks several balances locks them in the same order, so that statements never deadlock. New
// values are computed from the locked row (`taken`) and never from the updated one: constraints are checked against the
// row in this statement's snapshot before PostgreSQL looks for a newer version. A hold that the balance does not cover
// returns the available amount and sets nothing aside.
const HOLD = `
WITH asked AS (
  SELECT a.*, coalesce(a.given, t.payer) AS payer
  FROM unnest($1::text[], $2::text[], $3::bytea[], $4::text[], $5::bigint[], $6::text[], $7::text[], $8::bigint[], $9::timestamptz[])
    WITH ORDINALITY AS a (paywall_id, network, token, given, amount, call, route, minimum, until, place)
  LEFT JOIN paywall_token t ON t.hash = a.token AND t.paywall_id = a.paywall_id AND t.network = a.network
), taken AS MATERIALIZED (
  SELECT b.* FROM paywall_balance b
  WHERE (b.paywall_id, b.network, b.payer) IN (SELECT a.paywall_id, a.network, a.payer FROM asked a)
  ORDER BY b.paywall_id, b.network, b.payer
  FOR NO KEY UPDATE
), judged AS (
  SELECT a.*, t.available, t.available >= sum(a.amount) OVER (
    PARTITION BY a.paywall_id, a.network, a.payer ORDER BY a.place
  ) AS held
  FROM asked a JOIN taken t USING (paywall_id, network, payer)
), sums AS (
  SELECT paywall_id, network, payer, sum(amount)::bigint AS amount FROM judged WHERE held
  GROUP BY paywall_id, network, payer
), moved AS (
  UPDATE paywall_balance b
  SET available = t.available - s.amount, held = t.held + s.amount, paid = t.paid, drawn = t.drawn
  FROM taken t JOIN sums s USING (paywall_id, network, payer)
  WHERE b.paywall_id = t.paywall_id AND b.network = t.network AND b.payer = t.payer
), kept AS (
  INSERT INTO paywall_hold (call, paywall_id, network, payer, route, amount, minimum, until)
  SELECT call, paywall_id, network, payer, route, amount, minimum, until FROM judged WHERE held
)
SELECT a.place, a.payer, coalesce(j.held, false) AS held,
  coalesce(j.available, 0) - coalesce(s.amount, 0) AS left
FROM asked a
LEFT JOIN judged j USING (place)
LEFT JOIN sums s ON s.paywall_id = a.paywall_id AND s.network = a.network AND s.payer = a.payer`

// A hold ends only once. A failed call writes no draw.
const DRAW = `
WITH asked AS (
  SELECT * FROM unnest($1::text[], $2::bigint[], $3::timestamptz[]) AS a (call, amount, at)
), ended AS (
  DELETE FROM paywall_hold h USING asked a WHERE h.call = a.call
  RETURNING h.call, h.paywall_id, h.network, h.payer, h.route, h.amount AS held, least(a.amount, h.amount) AS cost, a.at
), taken AS MATERIALIZED (
  SELECT b.* FROM paywall_balance b
  WHERE (b.paywall_id, b.network, b.payer) IN (SELECT e.paywall_id, e.network, e.payer FROM ended e)
  ORDER BY b.paywall_id, b.network, b.payer
  FOR NO KEY UPDATE
), sums AS (
  SELECT paywall_id, network, payer, sum(held)::bigint AS held, sum(cost)::bigint AS cost FROM ended
  GROUP BY paywall_id, network, payer
), moved AS (
  UPDATE paywall_balance b
  SET held = t.held - s.held, available = t.available + s.held - s.cost, drawn = t.drawn + s.cost, paid = t.paid
  FROM taken t JOIN sums s USING (paywall_id, network, payer)
  WHERE b.paywall_id = t.paywall_id AND b.network = t.network AND b.payer = t.payer
  RETURNING b.paywall_id, b.network, b.payer, b.available
), drawn AS (
  INSERT INTO paywall_draw (call, paywall_id, network, payer, route, amount, at)
  SELECT call, paywall_id, network, payer, route, cost, at FROM ended WHERE cost > 0
), day AS (
  INSERT INTO paywall_day AS d (paywall_id, day, route, outcome, count, amount)
  SELECT e.paywall_id, (e.at AT TIME ZONE 'UTC')::date, e.route, 'drawn', count(*), sum(e.cost)
  FROM ended e, (SELECT count(*) FROM moved) AS after_the_balances
  WHERE e.cost > 0 GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
  ON CONFLICT (paywall_id, day, route, outcome) DO UPDATE SET count = d.count + EXCLUDED.count, amount = d.amount + EXCLUDED.amount
)
SELECT e.call, m.available FROM ended e JOIN moved m USING (paywall_id, network, payer)`
