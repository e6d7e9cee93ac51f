import { fromRow, toHex, type RowOf, toBytes } from '../../kit/rows.ts'
import type { Statements } from '../../kit/transaction.ts'
import type { Reconciliation, Cursor } from '../model.ts'
import type { ReportStore, CursorStore } from '../ports.ts'
import { fromRow as fromWithdrawalRow, type Row as WithdrawalRow } from './withdrawals.ts'

/** The sums of the wallet's rows for a network, and the reports that were made from them. */
export function reports(statements: Statements): ReportStore {
  return {
    async snapshot(network, inside) {
      const cursor = await cursors(inside).read(network)
      if (cursor === null) return null
      const [sums] = await inside.run<{ capital: bigint; later_deposits: bigint; later_withdrawals: bigint }>(
        // A withdrawal of the platform's: a payout from before a restore, booked as the operator's loss.
        `SELECT (coalesce((SELECT sum(value) FROM wallet_deposit
                           WHERE network = $1 AND user_id = 'platform' AND block_number <= $2), 0)
                 - coalesce((SELECT sum(amount) FROM wallet_withdrawal
                             WHERE network = $1 AND user_id = 'platform' AND state = 'confirmed' AND block_number <= $2), 0)
                )::bigint AS capital,
                coalesce((SELECT sum(value) FROM wallet_deposit
                          WHERE network = $1 AND user_id <> 'platform' AND block_number > $2), 0)::bigint AS later_deposits,
                coalesce((SELECT sum(amount) FROM wallet_withdrawal
                          WHERE network = $1 AND user_id <> 'platform' AND state = 'confirmed' AND block_number > $2), 0)::bigint AS later_withdrawals`,
        [network, cursor.blockNumber],
      )
      const submitted = await inside.run<WithdrawalRow>(
        `SELECT * FROM wallet_withdrawal WHERE network = $1 AND state = 'submitted' AND NOT simulated`,
        [network],
      )
      const found = await inside.run<{ address: Buffer }>(
        `SELECT DISTINCT address FROM wallet_deposit WHERE network = $1 AND user_id <> 'platform'`,
        [network],
      )
      return {
        cursor,
        capital: sums?.capital ?? 0n,
        laterDeposits: sums?.later_deposits ?? 0n,
        laterWithdrawals: sums?.later_withdrawals ?? 0n,
        submitted: submitted.map(fromWithdrawalRow),
        addresses: found.map(({ address }) => toHex(address)),
      }
    },

    async add(report) {
      await statements.run(
        `INSERT INTO wallet_reconciliation (${COLUMNS})
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
        [
          report.network,
          report.blockNumber,
          report.at,
          report.wallets,
          report.revenue,
          report.capital,
          report.treasury,
          report.depositAddresses,
          report.payers,
          report.inFlight,
          report.difference,
        ],
      )
    },

    async newest(network) {
      const [row] = await statements.run<RowOf<Reconciliation>>(
        `SELECT ${COLUMNS} FROM wallet_reconciliation WHERE network = $1 ORDER BY id DESC LIMIT 1`,
        [network],
      )
      return row === undefined ? null : fromRow(row)
    },
  }
}

const COLUMNS = `network, block_number, at, wallets, revenue, capital, treasury, deposit_addresses, payers, in_flight,
  difference`

/** How far each network was read. */
export function cursors(statements: Statements): CursorStore {
  return {
    async read(network) {
      const [row] = await statements.run<Row>(
        'SELECT network, block_number, block_hash, head, at FROM wallet_cursor WHERE network = $1',
        [network],
        'wallet_cursor_read',
      )
      return row === undefined ? null : { ...fromRow(row), blockHash: toHex(row.block_hash) }
    },
    async write({ network, blockNumber, blockHash, head, at }) {
      await statements.run(
        `INSERT INTO wallet_cursor (network, block_number, block_hash, head, at) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (network) DO UPDATE
         SET block_number = excluded.block_number, block_hash = excluded.block_hash, head = excluded.head, at = excluded.at`,
        [network, blockNumber, toBytes(blockHash), head, at],
        'wallet_cursor_write',
      )
    },
  }
}

type Row = RowOf<Omit<Cursor, 'blockHash'>> & { block_hash: Buffer }
