import type { StatementPool } from '../../kit/transaction.ts'
import type { PrepaidStore } from '../ports.ts'
import type { Places } from '../rules/pricing.ts'
import { balances } from './balances.ts'
import { income } from './income.ts'
import { passes } from './passes.ts'

/** Tiers, customers, balances and counts in PostgreSQL; this file has the customers' places in tiered prices. */
export function createPrepaidStore(statements: StatementPool): PrepaidStore {
  return {
    inTransaction: (work) => statements.together(work),
    ...income(),
    ...balances(statements),
    ...passes(statements),

    async takePlace(inside, { paywallId, route, payer, windowStart, network }) {
      const values = [paywallId, route, payer, windowStart, network]
      const [row] = await inside.run<Places>(TAKE_PLACE, values, 'paywall_take_place')
      if (row === undefined) throw new Error('a place in a tier was not found')
      return { paid: row.paid, taken: row.taken - 1 }
    },

    async freePlace(inside, { paywallId, route, payer, windowStart, network }) {
      await inside.run(FREE_PLACE, [paywallId, route, payer, windowStart, network], 'paywall_free_place')
    },

    async places({ paywallId, route, payer, windowStart, network }) {
      const values = [paywallId, route, payer, windowStart, network]
      const [row] = await statements.run<Places>(PLACES, values, 'paywall_places')
      return { paid: row?.paid ?? 0, taken: row?.taken ?? 0 }
    },
  }
}

// A new window starts its counts at zero, and so does another network: test money leads to no tier of real money. The stored
// tier is the last one reported and stays until it changes.
const SAME = 't.window_start = EXCLUDED.window_start AND t.network = EXCLUDED.network'

const TAKE_PLACE = `
INSERT INTO paywall_tier AS t (paywall_id, route, payer, window_start, network, taken, paid, tier)
VALUES ($1, $2, $3, $4, $5, 1, 0, 0)
ON CONFLICT (paywall_id, route, payer) DO UPDATE SET
  taken = CASE WHEN ${SAME} THEN t.taken + 1 ELSE 1 END, paid = CASE WHEN ${SAME} THEN t.paid ELSE 0 END,
  window_start = EXCLUDED.window_start, network = EXCLUDED.network
RETURNING paid, taken`

const PLACE = 'paywall_id = $1 AND route = $2 AND payer = $3 AND window_start = $4 AND network = $5'

const FREE_PLACE = `UPDATE paywall_tier SET taken = greatest(taken - 1, paid) WHERE ${PLACE}`

const PLACES = `SELECT paid, taken FROM paywall_tier WHERE ${PLACE}`
