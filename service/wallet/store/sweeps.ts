import { fromRow, toBytes, toHex, type RowOf } from '../../kit/rows.ts'
import type { Statements } from '../../kit/transaction.ts'
import type { Sweep } from '../model.ts'
import type { SweepStore } from '../ports.ts'
import { COLUMNS, fromRow as fromAddressRow, type Row as AddressRow } from './addresses.ts'

/** Transfers from deposit addresses to the treasury. */
export function sweeps(statements: Statements): SweepStore {
  return {
    async candidates({ network, account, minimum }, { after, limit }) {
      const rows = await statements.run<AddressRow>(
        // What was swept before its deposit was gone does not count against later deposits.
        `WITH came AS (
           SELECT address, sum(value) FILTER (WHERE gone_at IS NULL) AS amount,
             coalesce(sum(value) FILTER (WHERE gone_at IS NOT NULL), 0) AS gone
           FROM wallet_deposit WHERE network = $1 AND user_id <> 'platform' GROUP BY address
         ), left_again AS (
           SELECT address_index, sum(amount) AS amount FROM wallet_sweep WHERE network = $1 AND state = 'settled' GROUP BY address_index
         ), there AS (
           SELECT a.*, came.amount - greatest(0, coalesce(l.amount, 0) - came.gone) AS amount
           FROM came JOIN wallet_address a USING (address) LEFT JOIN left_again l ON l.address_index = a.index
           WHERE a.account = $2
         )
         SELECT ${COLUMNS} FROM there a
         WHERE amount >= $3
           AND NOT EXISTS (SELECT FROM wallet_sweep s WHERE s.network = $1 AND s.address_index = a.index AND s.state = 'open')
         ORDER BY a.index <= $4, a.index
         LIMIT $5`,
        [network, account, minimum, after, limit],
      )
      return rows.map(fromAddressRow)
    },

    async begin({ network, index, address, amount, nonce, validBefore }, now) {
      const [row] = await statements.run<{ id: bigint }>(
        `INSERT INTO wallet_sweep (network, address_index, amount, nonce, valid_before, created_at)
         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (network, address_index) WHERE state = 'open' DO NOTHING RETURNING id`,
        [network, index, amount, toBytes(nonce), validBefore, now],
      )
      return row === undefined ? null : { id: row.id, network, index, address, amount, nonce, validBefore }
    },

    async open(network) {
      const rows = await statements.run<Row>(
        `SELECT s.id, s.network, a.index, a.address, s.amount, s.nonce, s.valid_before
         FROM wallet_sweep s JOIN wallet_address a ON a.index = s.address_index
         WHERE s.network = $1 AND s.state = 'open' ORDER BY s.id`,
        [network],
      )
      return rows.map((row) => ({ ...fromRow(row), address: toHex(row.address), nonce: toHex(row.nonce) }))
    },

    async end(sweep, state, hash, now) {
      await statements.run(
        `UPDATE wallet_sweep SET state = $2::wallet_sweep_state, transaction_hash = $3, ended_at = $4
         WHERE id = $1 AND state = 'open'`,
        [sweep.id, state, hash === null ? null : toBytes(hash), now],
      )
    },
  }
}

type Row = RowOf<Omit<Sweep, 'address' | 'nonce'>> & { address: Buffer; nonce: Buffer }
