import { toBytes, toHex, type RowOf } from '../../kit/rows.ts'
import type { Statements } from '../../kit/transaction.ts'
import type { Owner } from '../../kit/owner.ts'
import type { OwnAddress } from '../model.ts'
import type { AddressStore } from '../ports.ts'

/** Each wallet's address. It is assigned once and never changes. */
export function addresses(statements: Statements): AddressStore {
  const find: AddressStore['find'] = async ({ userId, environment }) => {
    const [row] = await statements.run<Row>(
      `SELECT ${COLUMNS} FROM wallet_address WHERE user_id = $1 AND environment = $2::environment`,
      [userId, environment],
      'wallet_address_of',
    )
    return row === undefined ? null : fromRow(row)
  }
  return {
    find,
    async give(owner, account, derive, now) {
      const [next] = await statements.run<{ index: bigint }>(`SELECT nextval('wallet_address_index_seq') AS index`, [])
      const index = Number(next?.index)
      // The slower of two concurrent requests leaves its number unused. A gap in the numbers is harmless, but two
      // addresses would not be.
      await statements.run(
        `INSERT INTO wallet_address (index, account, environment, user_id, address, created_at)
         VALUES ($1, $2, $3::environment, $4, $5, $6)
         ON CONFLICT (user_id, environment) DO NOTHING`,
        [index, account, owner.environment, owner.userId, toBytes(derive(index)), now],
      )
      const given = await find(owner)
      if (given === null) throw new Error('the assigned address was not found')
      return given
    },
    async findAll(wanted, inside = statements) {
      const rows = await inside.run<Row>(
        `SELECT ${COLUMNS} FROM wallet_address WHERE address = ANY ($1::bytea[])`,
        [wanted.map(toBytes)],
        'wallet_addresses_named',
      )
      return rows.map(fromRow)
    },
    async from(environment, index) {
      const rows = await statements.run<Row>(
        `SELECT ${COLUMNS} FROM wallet_address WHERE environment = $1::environment AND index >= $2 ORDER BY index`,
        [environment, index],
        'wallet_addresses_from',
      )
      return rows.map(fromRow)
    },
  }
}

export const COLUMNS = 'index, account, environment, user_id, address, created_at'

export function fromRow(row: Row): OwnAddress {
  const { index, account, environment, user_id: userId, address, created_at: since } = row
  return { index, account, address: toHex(address), owner: { userId, environment }, since }
}

export interface Row extends RowOf<Pick<OwnAddress, 'index' | 'account'> & Owner> {
  address: Buffer
  created_at: Date
}
