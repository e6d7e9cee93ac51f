import { toBytes, toHex } from '../../kit/rows.ts'
import type { Statements } from '../../kit/transaction.ts'
import type { PayoutAddressStore } from '../ports.ts'

/** The usual payout addresses of owners. */
export function payoutAddresses(statements: Statements): PayoutAddressStore {
  return {
    async find({ userId, environment }) {
      const [row] = await statements.run<{ address: Buffer }>(
        'SELECT address FROM wallet_payout_address WHERE user_id = $1 AND environment = $2::environment',
        [userId, environment],
      )
      return row === undefined ? null : toHex(row.address)
    },

    async set({ userId, environment }, address, now, inside) {
      const values = address === null ? [userId, environment] : [userId, environment, toBytes(address), now]
      return (await inside.run(address === null ? REMOVE : SET, values)).length > 0
    },
  }
}

const REMOVE = `
DELETE FROM wallet_payout_address WHERE user_id = $1 AND environment = $2::environment RETURNING user_id`

const SET = `
INSERT INTO wallet_payout_address (user_id, environment, address, changed_at) VALUES ($1, $2::environment, $3, $4)
ON CONFLICT (user_id, environment) DO UPDATE SET address = excluded.address, changed_at = excluded.changed_at
WHERE wallet_payout_address.address <> excluded.address
RETURNING user_id`
