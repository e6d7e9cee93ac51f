import { leastId } from '../../kit/ids.ts'
import type { Owner } from '../../kit/owner.ts'
import type { Statements } from '../../kit/transaction.ts'

/** The transfers that paid for something that the wallet's owner sells, by any product that is paid on chain. */
export function createIncomeStore(statements: Statements) {
  return {
    async among({ userId, environment }: Owner, hashes: readonly string[]): Promise<ReadonlySet<string>> {
      if (hashes.length === 0) return new Set()
      const rows = await statements.run<{ tx_hash: string }>(AMONG, [userId, environment, hashes], 'sales_among')
      return new Set(rows.map(({ tx_hash }) => tx_hash))
    },

    async since({ userId, environment }: Owner, since: Date): Promise<readonly string[]> {
      const values = [userId, environment, leastId('pay', since), READ]
      const rows = await statements.run<{ tx_hash: string }>(SINCE, values, 'sales_since')
      return rows.map(({ tx_hash }) => tx_hash)
    },
  }
}

/** As many as the ledger reads of a wallet's movements for the same chart. */
const READ = 20_000

const INCOME = `p.user_id = $1 AND p.environment = $2::environment AND p.state IN ('paid', 'refunded') AND NOT p.simulated`

const AMONG = `SELECT DISTINCT p.tx_hash FROM sale p WHERE p.tx_hash = ANY ($3::text[]) AND ${INCOME}`

const OF = (subjects: string): string => `
(SELECT p.tx_hash FROM ${subjects} c JOIN sale p ON p.subject = c.id AND p.id >= $3
 WHERE c.user_id = $1 AND c.environment = $2::environment AND p.tx_hash IS NOT NULL AND ${INCOME}
 ORDER BY p.id DESC LIMIT $4)`

const SINCE = `${OF('checkout')} UNION ${OF('paywall')}`
