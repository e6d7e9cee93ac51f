import { toBytes } from '../../kit/rows.ts'
import type { Statements } from '../../kit/transaction.ts'
import type { SettlementStore } from '../ports.ts'
import { claims } from './claims.ts'
import { endings } from './endings.ts'
import { transactions } from './transactions.ts'

/** Settlements in PostgreSQL. */
export function createSettlementStore(statements: Statements): SettlementStore {
  return { ...claims(statements), ...transactions(statements), ...endings(statements), ...purchases(statements) }
}

/** The purchases that authorizations were spent on. */
function purchases(statements: Statements): Pick<SettlementStore, 'buy' | 'bought' | 'isSubmitted'> {
  return {
    async isSubmitted(inside, digest) {
      const text = 'SELECT FROM facilitator_settlement WHERE digest = $1'
      return (await inside.run(text, [toBytes(digest)], 'facilitator_is_submitted')).length > 0
    },

    async bought(digest) {
      const [row] = await statements.run<{ buys: string; bought_at: Date }>(
        'SELECT buys, bought_at FROM facilitator_purchase WHERE digest = $1',
        [toBytes(digest)],
        'facilitator_bought_at',
      )
      return row === undefined ? null : { digest, purchaseId: row.buys, boughtAt: row.bought_at }
    },

    async buy(inside, { digest, purchaseId }, now) {
      const made = await inside.run<{ buys: string }>(BUY, [toBytes(digest), purchaseId, now], 'facilitator_buy')
      // A separate statement, because the first one does not see what another transaction has just committed.
      const [row] =
        made.length > 0 ? made : await inside.run<{ buys: string }>(BOUGHT, [toBytes(digest)], 'facilitator_bought')
      return row?.buys ?? null
    },
  }
}

/** Not what was authorized in the escrow for a signer of messages: that signer could take it back. */
const BUY = `
INSERT INTO facilitator_purchase (digest, buys, bought_at)
SELECT $1, $2, $3
WHERE NOT EXISTS (SELECT FROM facilitator_settlement WHERE digest = $1 AND authorizer <> decode(repeat('00', 20), 'hex'))
ON CONFLICT DO NOTHING RETURNING buys`

const BOUGHT = 'SELECT buys FROM facilitator_purchase WHERE digest = $1'
