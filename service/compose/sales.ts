import { leastId } from '../kit/ids.ts'
import type { Statements } from '../kit/transaction.ts'
import type { Sales } from '../wallet/ports.ts'

/** Which transfers paid for something that the wallet's owner sells, by any of the products that are paid on chain. */
export function openSales(statements: Statements): Sales {
  return {
    async among({ userId, environment }, hashes) {
      if (hashes.length === 0) return new Set()
      const rows = await statements.run<{ tx_hash: string }>(AMONG, [userId, environment, hashes], 'sales_among')
      return new Set(rows.map(({ tx_hash }) => tx_hash))
    },

    async since({ userId, environment }, since) {
      const values = [userId, environment, leastId('pay', since), READ]
      const rows = await statements.run<{ tx_hash: string }>(SINCE, values, 'sales_since')
      return rows.map(({ tx_hash }) => tx_hash)
    },
  }
}

/** As many as the ledger reads of a wallet's movements for the same plot. */
const READ = 20_000

const PAID = `p.user_id = $1 AND p.environment = $2::environment AND p.state = 'paid' AND NOT p.simulated`

const AMONG = `SELECT DISTINCT p.tx_hash FROM sale p WHERE p.tx_hash = ANY ($3::text[]) AND ${PAID}`

const OF = (subjects: string): string => `
(SELECT p.tx_hash FROM ${subjects} c JOIN sale p ON p.subject = c.id AND p.id >= $3
 WHERE c.user_id = $1 AND c.environment = $2::environment AND p.tx_hash IS NOT NULL AND ${PAID}
 ORDER BY p.id DESC LIMIT $4)`

const SINCE = `${OF('checkout')} UNION ${OF('paywall')}`
