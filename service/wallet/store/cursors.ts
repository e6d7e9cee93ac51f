import type { NetworkName } from '../../chain/networks.ts'
import type { Statements } from '../../kit/transaction.ts'
import type { CursorStore } from '../ports.ts'
import { bytesOf, hexOf } from './bytes.ts'

/** How far each network has been read. */
export function cursors(statements: Statements): CursorStore {
  return {
    async read(network) {
      const [row] = await statements.run<Row>(
        'SELECT block_number, block_hash, head, at FROM wallet_cursor WHERE network = $1',
        [network],
        'wallet_cursor_read',
      )
      return row === undefined ? null : fromRow(network, row)
    },
    async write({ network, blockNumber, blockHash, head, at }) {
      await statements.run(
        `INSERT INTO wallet_cursor (network, block_number, block_hash, head, at) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (network) DO UPDATE
         SET block_number = excluded.block_number, block_hash = excluded.block_hash, head = excluded.head, at = excluded.at`,
        [network, blockNumber, bytesOf(blockHash), head, at],
        'wallet_cursor_write',
      )
    },
  }
}

function fromRow(network: NetworkName, row: Row) {
  const { block_number: blockNumber, block_hash: blockHash, head, at } = row
  return { network, blockNumber, blockHash: hexOf(blockHash), head, at }
}

interface Row {
  block_number: bigint
  block_hash: Buffer
  head: bigint
  at: Date
}
