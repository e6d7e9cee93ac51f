import { fromRow, toBytes, toHex, type RowOf } from '../../kit/rows.ts'
import type { Statements } from '../../kit/transaction.ts'
import type { Cursor } from '../model.ts'
import type { CursorStore } from '../ports.ts'

/** How far each network has been read. */
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
