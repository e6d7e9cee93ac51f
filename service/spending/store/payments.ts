import type { Hex } from '../../chain/model.ts'
import type { NetworkName } from '../../chain/networks.ts'
import type { Id } from '../../kit/ids.ts'
import type { Usdc } from '../../kit/money.ts'
import type { StatementPool } from '../../kit/transaction.ts'
import type { Environment } from '../../ledger/model.ts'
import type { Offer, Payment, PaymentState } from '../model/payment.ts'
import type { PaymentStore } from '../ports/payment.ts'

export function createPaymentStore(statements: StatementPool): PaymentStore {
  return {
    async add(inside, payment, lookAt) {
      await inside.run(ADD, [
        payment.id,
        payment.agentId,
        payment.owner.userId,
        payment.owner.environment,
        payment.url,
        payment.method,
        payment.requestHash,
        payment.maxAmount,
        payment.amount,
        payment.network,
        payment.payer,
        payment.payTo,
        payment.validBefore,
        payment.nonce,
        JSON.stringify({ ...payment.asked, amount: String(payment.asked.amount) }),
        payment.seenBlock,
        payment.createdAt,
        lookAt,
      ])
    },

    async find({ userId, environment }, id) {
      const [row] = await statements.run<Row>(
        'SELECT * FROM spending_payment WHERE id = $1 AND user_id = $2 AND environment = $3::environment',
        [id, userId, environment],
      )
      return row === undefined ? null : fromRow(row)
    },

    async list({ userId, environment }, agentId, { limit, offset }) {
      const where = 'user_id = $1 AND environment = $2::environment AND ($3::text IS NULL OR agent_id = $3)'
      const values = [userId, environment, agentId]
      const rows = await statements.run<Row>(
        `SELECT * FROM spending_payment WHERE ${where} ORDER BY id DESC LIMIT $4 OFFSET $5`,
        [...values, limit, offset],
      )
      const [counted] = await statements.run<{ total: bigint }>(
        `SELECT count(*) AS total FROM spending_payment WHERE ${where}`,
        values,
      )
      return { payments: rows.map(fromRow), total: Number(counted?.total ?? 0n) }
    },

    sign: (id, signature) =>
      changed(`UPDATE spending_payment SET state = 'signed', signature = $2 WHERE id = $1 AND state = 'reserved'`, [
        id,
        signature,
      ]),

    send: (id, lookAt) =>
      changed(
        `UPDATE spending_payment SET state = 'sent', look_at = $2 WHERE id = $1 AND state IN ('signed', 'sent')`,
        [id, lookAt],
      ),

    async answered(id, status) {
      await changed('UPDATE spending_payment SET answer_status = $2 WHERE id = $1', [id, status])
    },

    async due(now, until, limit) {
      const rows = await statements.run<Row>(
        `UPDATE spending_payment p SET look_at = $2
         FROM (
           SELECT id FROM spending_payment WHERE state NOT IN ('settled', 'returned') AND look_at <= $1
           ORDER BY look_at LIMIT $3 FOR UPDATE SKIP LOCKED
         ) d WHERE p.id = d.id RETURNING p.*`,
        [now, until, limit],
      )
      return rows.map(fromRow)
    },

    async seen(id, txHash, lookAt) {
      const open = `state NOT IN ('settled', 'returned')`
      await changed(`UPDATE spending_payment SET tx_hash = $2, look_at = $3 WHERE id = $1 AND ${open}`, [
        id,
        txHash,
        lookAt,
      ])
    },

    async end({ id, state: from }, { state, txHash, now }, also) {
      return await statements.together(async (inside) => {
        // Only from the state that was looked at: one that was signed meanwhile is not given back as unsigned.
        const rows = await inside.run(
          `UPDATE spending_payment SET state = $2::spending_payment_state, tx_hash = coalesce($3, tx_hash), ended_at = $4
           WHERE id = $1 AND state = $5::spending_payment_state RETURNING id`,
          [id, state, txHash, now, from],
        )
        if (rows.length === 0) return false
        await also(inside)
        return true
      })
    },

    async outstanding(network) {
      const [row] = await statements.run<{ sum: bigint }>(
        `SELECT coalesce(sum(amount), 0)::bigint AS sum FROM spending_payment
         WHERE state NOT IN ('settled', 'returned') AND tx_hash IS NULL AND network = $1`,
        [network],
      )
      return row?.sum ?? 0n
    },
  }

  async function changed(text: string, values: readonly unknown[]): Promise<boolean> {
    return (await statements.run(`${text} RETURNING id`, values)).length > 0
  }
}

const ADD = `
INSERT INTO spending_payment (id, agent_id, user_id, environment, url, method, request_hash, max_amount, amount, network,
  payer, pay_to, valid_before, nonce, asked, seen_block, created_at, look_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)`

interface Row {
  id: Id<'pay'>
  agent_id: string | null
  user_id: string
  environment: Environment
  state: PaymentState
  url: string
  method: string
  request_hash: string
  max_amount: Usdc
  amount: Usdc
  network: NetworkName
  payer: Hex
  pay_to: Hex
  valid_before: bigint
  nonce: Hex
  signature: Hex | null
  asked: string
  seen_block: bigint
  answer_status: number | null
  tx_hash: Hex | null
  created_at: Date
  ended_at: Date | null
}

function fromRow(row: Row): Payment {
  return {
    id: row.id,
    owner: { userId: row.user_id, environment: row.environment },
    agentId: row.agent_id,
    state: row.state,
    url: row.url,
    method: row.method,
    requestHash: row.request_hash,
    maxAmount: row.max_amount,
    amount: row.amount,
    network: row.network,
    payer: row.payer,
    payTo: row.pay_to,
    validBefore: row.valid_before,
    nonce: row.nonce,
    signature: row.signature,
    asked: fromText(row.asked),
    seenBlock: row.seen_block,
    answerStatus: row.answer_status,
    txHash: row.tx_hash,
    createdAt: row.created_at,
    endedAt: row.ended_at,
  }
}

function fromText(text: string): Offer {
  const said = JSON.parse(text) as Omit<Offer, 'amount'> & { amount: string }
  return { ...said, amount: BigInt(said.amount) }
}
