import { toBytes, toHex, type RowOf } from '../../kit/rows.ts'
import type { Statements } from '../../kit/transaction.ts'
import type { Owner } from '../../kit/owner.ts'
import type { Transfer } from '../model.ts'
import type { DepositStore, Recorded } from '../ports.ts'

/** Credited transfers, each recorded once. */
export function deposits(statements: Statements): DepositStore {
  return {
    async record(inside, { transfer, owner, act, now }) {
      const rows = await inside.run(
        `INSERT INTO wallet_deposit (network, transaction_hash, place, address, environment, user_id, sender, value,
                                     block_number, block_hash, act, at)
         VALUES ($1, $2, $3, $4, $5::environment, $6, $7, $8, $9, $10, $11, $12)
         ON CONFLICT (network, transaction_hash, place) DO NOTHING
         RETURNING 1`,
        [
          transfer.network,
          toBytes(transfer.transactionHash),
          transfer.place,
          toBytes(transfer.to),
          owner.environment,
          owner.userId,
          toBytes(transfer.from),
          transfer.value,
          transfer.blockNumber,
          toBytes(transfer.blockHash),
          act,
          now,
        ],
        'wallet_deposit_record',
      )
      return rows.length > 0
    },

    async counts(network, hashes) {
      const rows = await statements.run<{ hash: Buffer; count: bigint }>(
        `SELECT transaction_hash AS hash, count(*) AS count FROM wallet_deposit
         WHERE network = $1 AND transaction_hash = ANY ($2::bytea[]) GROUP BY transaction_hash`,
        [network, hashes.map(toBytes)],
      )
      return new Map(rows.map((row) => [toHex(row.hash), Number(row.count)]))
    },

    ofTransaction: (network, hash, inside = statements) =>
      select(inside, 'network = $1 AND transaction_hash = $2', [network, toBytes(hash)]),
    ofAct: (network, address, act) =>
      select(statements, 'network = $1 AND address = $2 AND act = $3', [network, toBytes(address), act]),
    since: (network, block) => select(statements, 'network = $1 AND block_number >= $2', [network, block]),

    async markGone({ network, transactionHash }, gone) {
      await statements.run('UPDATE wallet_deposit SET gone_at = $3 WHERE network = $1 AND transaction_hash = $2', [
        network,
        toBytes(transactionHash),
        gone,
      ])
    },

    async cameBack(network, hashes) {
      await statements.run(
        `UPDATE wallet_deposit SET gone_at = NULL
         WHERE network = $1 AND transaction_hash = ANY ($2::bytea[]) AND gone_at IS NOT NULL`,
        [network, hashes.map(toBytes)],
      )
    },

    async lockHash(hash, inside) {
      await inside.run(`SELECT pg_advisory_xact_lock(hashtextextended('wallet ' || $1, 0))`, [hash])
    },
    async claimantOf(hash, inside) {
      const [row] = await inside.run<{ user_id: string }>(
        `SELECT user_id FROM wallet_word WHERE transaction_hash = decode($1, 'hex')`,
        [wholeHash(hash)],
      )
      return row?.user_id ?? null
    },
    async addClaim(hash, userId, inside) {
      await inside.run(
        `INSERT INTO wallet_word (transaction_hash, user_id) VALUES (decode($1, 'hex'), $2) ON CONFLICT DO NOTHING`,
        [wholeHash(hash), userId],
      )
    },
  }
}

/** A hash that was claimed in the sandbox may be shorter than a real one. */
function wholeHash(hash: string): string {
  return hash.slice(2).padStart(64, '0')
}

async function select(statements: Statements, where: string, values: readonly unknown[]): Promise<Recorded[]> {
  const rows = await statements.run<Row>(
    `SELECT network, transaction_hash, place, address, environment, user_id, sender, value, block_number, block_hash, act, gone_at
     FROM wallet_deposit WHERE ${where} ORDER BY block_number, transaction_hash, place`,
    values,
  )
  return rows.map((row) => ({
    transfer: {
      network: row.network,
      transactionHash: toHex(row.transaction_hash),
      place: row.place,
      from: toHex(row.sender),
      to: toHex(row.address),
      value: row.value,
      blockNumber: row.block_number,
      blockHash: toHex(row.block_hash),
    },
    owner: { userId: row.user_id, environment: row.environment },
    act: row.act,
    goneAt: row.gone_at,
  }))
}

type Copied = Pick<Transfer, 'network' | 'place' | 'value' | 'blockNumber'> & Pick<Recorded, 'act' | 'goneAt'> & Owner

interface Row extends RowOf<Copied> {
  transaction_hash: Buffer
  address: Buffer
  sender: Buffer
  block_hash: Buffer
}
