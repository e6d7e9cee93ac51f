import type { Address } from '../../chain/model.ts'
import { usdc, ZERO, type Usdc } from '../../kit/money.ts'
import type { StatementPool } from '../../kit/transaction.ts'
import type { PaymentStore } from '../ports.ts'

type Balances = Pick<PaymentStore, 'hold' | 'draw' | 'left' | 'addCounts' | 'endHolds'>

/** What measured calls draw from. */
export function balances(statements: StatementPool): Balances {
  async function draw(call: string, amount: Usdc, now: Date): Promise<Usdc> {
    const values = [call, amount, now, now.toISOString().slice(0, 10)]
    const [row] = await statements.run<{ available: bigint }>(DRAW, values, 'paywall_draw')
    return row === undefined ? ZERO : usdc(row.available)
  }

  return {
    async hold({ call, paywallId, network, route, by, amount, minimum, until }) {
      const rest = [amount, call, route, minimum, until]
      const [row] =
        'token' in by
          ? await statements.run<HeldRow>(HOLD_BY_TOKEN, [paywallId, network, by.token, ...rest], 'paywall_hold_token')
          : await statements.run<HeldRow>(HOLD_BY_PAYER, [paywallId, network, by.payer, ...rest], 'paywall_hold_payer')
      if (row?.payer == null) return { held: false, balance: null }
      if (!row.held) return { held: false, balance: usdc(row.available ?? 0n) }
      return { held: true, payer: row.payer, left: usdc(row.available ?? 0n) }
    },

    draw,

    async left(paywall, network, payer) {
      const [row] = await statements.run<{ available: bigint }>(LEFT, [paywall, network, payer], 'paywall_left')
      return usdc(row?.available ?? 0n)
    },

    async addCounts(rows) {
      await statements.run(
        ADD_COUNTS,
        [
          rows.map(({ paywall }) => paywall),
          rows.map(({ day }) => day),
          rows.map(({ route }) => route),
          rows.map(({ outcome }) => outcome),
          rows.map(({ count }) => count),
        ],
        'paywall_add_counts',
      )
    },

    async endHolds(now) {
      const over = await statements.run<{ call: string; minimum: bigint }>(
        'SELECT call, minimum FROM paywall_hold WHERE until <= $1 LIMIT 500',
        [now],
        'paywall_holds_over',
      )
      for (const { call, minimum } of over) await draw(call, usdc(minimum), now)
    },
  }
}

interface HeldRow {
  /** Null where nobody is known. */
  payer: Address | null
  available: bigint | null
  held: boolean
}

/** One statement: whoever has too little is told what there is, and nothing was set aside. */
const HOLD = (who: string): string => `
WITH who AS (${who}), held AS (
  UPDATE paywall_balance b SET available = b.available - $4, held = b.held + $4 FROM who
  WHERE b.paywall_id = $1 AND b.network = $2 AND b.payer = who.payer AND b.available >= $4
  RETURNING b.payer, b.available
), kept AS (
  INSERT INTO paywall_hold (call, paywall_id, network, payer, route, amount, minimum, until)
  SELECT $5, $1, $2, held.payer, $6, $4, $7, $8 FROM held
)
SELECT who.payer, coalesce(
  (SELECT held.available FROM held),
  (SELECT b.available FROM paywall_balance b WHERE b.paywall_id = $1 AND b.network = $2 AND b.payer = who.payer)
) AS available, EXISTS (SELECT FROM held) AS held
FROM who`

const HOLD_BY_TOKEN = HOLD('SELECT payer FROM paywall_token WHERE hash = $3 AND paywall_id = $1 AND network = $2')
const HOLD_BY_PAYER = HOLD('SELECT $3::text AS payer')

// A hold ends once. What failed leaves no line.
const DRAW = `
WITH ended AS (
  DELETE FROM paywall_hold WHERE call = $1
  RETURNING call, paywall_id, network, payer, route, amount AS held, least($2, amount) AS cost
), drawn AS (
  INSERT INTO paywall_draw (call, paywall_id, network, payer, route, amount, at)
  SELECT call, paywall_id, network, payer, route, cost, $3 FROM ended WHERE cost > 0
), day AS (
  INSERT INTO paywall_day AS d (paywall_id, day, route, outcome, count, amount)
  SELECT paywall_id, $4::date, route, 'drawn', 1, cost FROM ended WHERE cost > 0
  ON CONFLICT (paywall_id, day, route, outcome) DO UPDATE SET count = d.count + 1, amount = d.amount + EXCLUDED.amount
)
UPDATE paywall_balance b
SET held = b.held - ended.held, available = b.available + ended.held - ended.cost, drawn = b.drawn + ended.cost
FROM ended WHERE b.paywall_id = ended.paywall_id AND b.network = ended.network AND b.payer = ended.payer
RETURNING b.available`

const LEFT = 'SELECT available FROM paywall_balance WHERE paywall_id = $1 AND network = $2 AND payer = $3'

// In one order in every process, so that two of them never wait for each other.
const ADD_COUNTS = `
INSERT INTO paywall_day AS d (paywall_id, day, route, outcome, count, amount)
SELECT w.paywall, w.day, w.route, w.outcome, w.count, 0
FROM unnest($1::text[], $2::date[], $3::text[], $4::text[], $5::bigint[]) AS w (paywall, day, route, outcome, count)
WHERE EXISTS (SELECT FROM paywall p WHERE p.id = w.paywall)
ORDER BY w.paywall, w.day, w.route, w.outcome
ON CONFLICT (paywall_id, day, route, outcome) DO UPDATE SET count = d.count + EXCLUDED.count`
