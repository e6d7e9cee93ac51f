import { toBytes, toHex, type RowOf } from '../../kit/rows.ts'
import type { Statements } from '../../kit/transaction.ts'
import type { Owner } from '../../kit/owner.ts'
import type { Withdrawal } from '../model.ts'
import type { WithdrawalStore } from '../ports.ts'

/** Withdrawals, from the moment their money is locked to their end. */
export function withdrawals(statements: Statements): WithdrawalStore {
  return {
    async add({ id, kind, owner, network, to, amount, nonce, simulated, now }, inside) {
      const [row] = await inside.run<Row>(
        `INSERT INTO wallet_withdrawal (id, kind, environment, user_id, network, recipient, amount, nonce, simulated, created_at)
         VALUES ($1, $2, $3::environment, $4, $5, $6, $7, $8, $9, $10) RETURNING *`,
        [id, kind, owner.environment, owner.userId, network, toBytes(to), amount, toBytes(nonce), simulated, now],
      )
      if (row === undefined) throw new Error('the added withdrawal was not found')
      return fromRow(row)
    },

    async find(id, inside = statements) {
      const [row] = await inside.run<Row>('SELECT * FROM wallet_withdrawal WHERE id = $1', [id])
      return row === undefined ? null : fromRow(row)
    },

    async byNonces(nonces, inside = statements) {
      const text = 'SELECT * FROM wallet_withdrawal WHERE nonce = ANY ($1::bytea[])'
      return (await inside.run<Row>(text, [nonces.map(toBytes)], 'wallet_withdrawal_by_nonces')).map(fromRow)
    },

    async list({ userId, environment }, { limit, offset }) {
      const rows = await statements.run<Row & { total: bigint }>(
        `SELECT *, count(*) OVER () AS total FROM wallet_withdrawal
         WHERE user_id = $1 AND environment = $2::environment AND kind = 'withdrawal' ORDER BY created_at DESC, id DESC LIMIT $3 OFFSET $4`,
        [userId, environment, limit, offset],
      )
      const [first] = rows
      if (first !== undefined) return { withdrawals: rows.map(fromRow), total: Number(first.total) }
      // An empty page may be one after the last, so the total is counted separately.
      const [counted] = await statements.run<{ total: bigint }>(
        `SELECT count(*) AS total FROM wallet_withdrawal
         WHERE user_id = $1 AND environment = $2::environment AND kind = 'withdrawal'`,
        [userId, environment],
      )
      return { withdrawals: [], total: Number(counted?.total ?? 0n) }
    },

    async open(limit) {
      const rows = await statements.run<Row>(
        `SELECT * FROM (
           SELECT *, row_number() OVER (PARTITION BY environment, user_id ORDER BY created_at, id) AS turn
           FROM wallet_withdrawal WHERE state IN ('pending', 'submitted')
         ) w ORDER BY turn, created_at LIMIT $1`,
        [limit],
      )
      return rows.map(fromRow)
    },

    async outgoing(payer, network) {
      const [row] = await statements.run<{ amount: bigint }>(
        `SELECT coalesce(sum(amount), 0)::bigint AS amount FROM wallet_withdrawal
         WHERE state = 'submitted' AND payer = $1 AND network = $2`,
        [toBytes(payer), network],
      )
      return row?.amount ?? 0n
    },

    async submit(inside, { id, terms, now }) {
      const [row] = await inside.run<Row>(
        `UPDATE wallet_withdrawal SET state = 'submitted', payer = $2, valid_before = $3, seen_block = $4, submitted_at = $5
         WHERE id = $1 AND state = 'pending' RETURNING *`,
        [id, terms === null ? null : toBytes(terms.payer), terms?.validBefore, terms?.seenBlock, now],
      )
      return row === undefined ? null : fromRow(row)
    },

    async noteHash(id, hash) {
      await statements.run(`UPDATE wallet_withdrawal SET transaction_hash = $2 WHERE id = $1 AND state = 'submitted'`, [
        id,
        toBytes(hash),
      ])
    },

    async end(inside, { id, from, how, now }) {
      const hash = how.state === 'confirmed' && how.transactionHash !== null ? toBytes(how.transactionHash) : null
      const [row] = await inside.run<Row>(
        `UPDATE wallet_withdrawal SET state = $3::wallet_withdrawal_state, ended_at = $4, transaction_hash = $5, block_number = $6, reason = $7
         WHERE id = $1 AND state = $2::wallet_withdrawal_state RETURNING *`,
        [
          id,
          from,
          how.state,
          now,
          hash,
          how.state === 'confirmed' ? how.blockNumber : null,
          how.state === 'failed' ? how.reason : null,
        ],
      )
      return row === undefined ? null : fromRow(row)
    },
  }
}

export function fromRow(row: Row): Withdrawal {
  const { payer, valid_before: validBefore, seen_block: seenBlock, transaction_hash: hash } = row
  return {
    id: row.id,
    kind: row.kind,
    owner: { userId: row.user_id, environment: row.environment },
    network: row.network,
    to: toHex(row.recipient),
    amount: row.amount,
    state: row.state,
    nonce: toHex(row.nonce),
    terms:
      payer === null || validBefore === null || seenBlock === null
        ? null
        : { payer: toHex(payer), validBefore, seenBlock },
    simulated: row.simulated,
    transactionHash: hash === null ? null : toHex(hash),
    blockNumber: row.block_number,
    reason: row.reason,
    createdAt: row.created_at,
    submittedAt: row.submitted_at,
    endedAt: row.ended_at,
  }
}

type Translated = 'owner' | 'to' | 'nonce' | 'terms' | 'transactionHash'

export interface Row extends RowOf<Omit<Withdrawal, Translated> & Owner> {
  recipient: Buffer
  nonce: Buffer
  payer: Buffer | null
  valid_before: bigint | null
  seen_block: bigint | null
  transaction_hash: Buffer | null
}
