import type { SettlementStore } from '../ports.ts'
import { toBytes } from './rows.ts'

/** What authorizations were spent on. */
export const purchases: Pick<SettlementStore, 'buy'> = {
  async buy(inside, { digest, buys }, now) {
    const made = await inside.run<{ buys: string }>(BUY, [toBytes(digest), buys, now], 'facilitator_buy')
    // A statement of its own: what another transaction has just written is not in the first one's view.
    const [row] =
      made.length > 0 ? made : await inside.run<{ buys: string }>(BOUGHT, [toBytes(digest)], 'facilitator_bought')
    if (row === undefined) throw new Error('a purchase vanished')
    return row.buys
  },
}

const BUY = `
INSERT INTO facilitator_purchase (digest, buys, bought_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING RETURNING buys`

const BOUGHT = 'SELECT buys FROM facilitator_purchase WHERE digest = $1'
