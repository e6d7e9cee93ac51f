import type { Hex } from '../../chain/model.ts'
import type { Owner } from '../../kit/owner.ts'
import { fromRow, type RowOf } from '../../kit/rows.ts'
import type { StatementPool } from '../../kit/transaction.ts'
import type { Funding, Payment } from '../model.ts'
import type { Offer } from '../../x402/model.ts'
import type { PayerWallet, PaymentStore } from '../ports.ts'
import { createPayerBooks } from './payer-books.ts'

/** Payments in PostgreSQL, and the payer wallets of accounts. */
export function createPaymentStore(statements: StatementPool): PaymentStore {
  const { promised } = createPayerBooks(statements)
  return {
    ...recordsOf(statements),
    ...stepsOf(statements),
    ...returnsOf(statements),
    ...payersOf(statements),
    promised,
  }
}

/** What is read and added without changing a payment's state. */
function recordsOf(
  statements: StatementPool,
): Pick<PaymentStore, 'add' | 'find' | 'list' | 'answered' | 'saveResponse' | 'findResponse' | 'due' | 'seen'> {
  return {
    async add(inside, payment, lookAt) {
      const added = await inside.run(ADD, [
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
        JSON.stringify({ ...payment.offer, amount: String(payment.offer.amount) }),
        payment.seenBlock,
        payment.createdAt,
        lookAt,
      ])
      return added.length > 0
    },

    async find({ userId, environment }, id) {
      const [row] = await statements.run<Row>(
        `SELECT ${COLUMNS} FROM spending_payment p WHERE id = $1 AND user_id = $2 AND environment = $3::environment`,
        [id, userId, environment],
      )
      return row === undefined ? null : toPayment(row)
    },

    async list({ userId, environment }, agentId, { limit, offset }) {
      const where = 'user_id = $1 AND environment = $2::environment AND ($3::text IS NULL OR agent_id = $3)'
      const values = [userId, environment, agentId]
      const rows = await statements.run<Row>(
        `SELECT ${COLUMNS} FROM spending_payment p WHERE ${where} ORDER BY id DESC LIMIT $4 OFFSET $5`,
        [...values, limit, offset],
      )
      const [counted] = await statements.run<{ total: bigint }>(
        `SELECT count(*) AS total FROM spending_payment WHERE ${where}`,
        values,
      )
      return { payments: rows.map(toPayment), total: Number(counted?.total ?? 0n) }
    },

    async answered(id, status, receipt) {
      const text = receipt === null ? null : JSON.stringify(receipt)
      // A receipt stays when the seller answers a repeated call without one.
      await changed(
        statements,
        'UPDATE spending_payment SET answer_status = $2, receipt = coalesce($3, receipt) WHERE id = $1',
        [id, status, text],
      )
    },

    async saveResponse(id, sealed) {
      await changed(statements, 'UPDATE spending_payment SET answer = $2 WHERE id = $1', [id, sealed])
    },

    async findResponse(id) {
      const [row] = await statements.run<{ answer: string | null }>(
        'SELECT answer FROM spending_payment WHERE id = $1',
        [id],
      )
      return row?.answer ?? null
    },

    async due(which, { now, until, limit }) {
      const rows = await statements.run<Row>(
        `UPDATE spending_payment p SET look_at = $2
         FROM (
           SELECT id FROM spending_payment WHERE ${DUE[which]} AND look_at <= $1
           ORDER BY look_at LIMIT $3 FOR UPDATE SKIP LOCKED
         ) d WHERE p.id = d.id RETURNING ${COLUMNS}`,
        [now, until, limit],
      )
      return rows.map(toPayment)
    },

    async seen(id, txHash, lookAt) {
      const open = `state NOT IN ('settled', 'returned')`
      await changed(statements, `UPDATE spending_payment SET tx_hash = $2, look_at = $3 WHERE id = $1 AND ${open}`, [
        id,
        txHash,
        lookAt,
      ])
    },
  }
}

const DUE = {
  open: `state NOT IN ('settled', 'returned')`,
  returned: `state = 'returned' AND reason = 'expired' AND lost_block IS NULL AND look_at < 'infinity'`,
} as const

/** A payment that was given back, and the chain's last word about it. */
function returnsOf(statements: StatementPool): Pick<PaymentStore, 'checked' | 'lost'> {
  return {
    async checked(id, lookAt) {
      const at = `coalesce($2::timestamptz, 'infinity')`
      await statements.run(`UPDATE spending_payment SET look_at = ${at} WHERE id = $1`, [id, lookAt])
    },

    async lost({ id, payer, amount }, { hash, blockNumber }) {
      return await statements.together(async (inside) => {
        const rows = await inside.run(
          `UPDATE spending_payment SET lost_block = $2, tx_hash = $3
           WHERE id = $1 AND state = 'returned' AND lost_block IS NULL RETURNING id`,
          [id, blockNumber, hash],
        )
        if (rows.length === 0) return false
        // It was counted as spare when it was given back; another payment may have counted on it since.
        await inside.run('UPDATE spending_payer SET spare = greatest(spare - $2, 0) WHERE address = $1', [
          payer,
          amount,
        ])
        return true
      })
    },
  }
}

/** From one state to the next. */
function stepsOf(statements: StatementPool): Pick<PaymentStore, 'fund' | 'arrived' | 'sign' | 'send' | 'end'> {
  return {
    async fund(id, { from, validBefore, seenBlock }, lookAt) {
      return await statements.together(async (inside) => {
        const [payment] = await inside.run<Pick<Row, 'payer' | 'amount'>>(
          `SELECT payer, amount FROM spending_payment WHERE id = $1 AND state = 'reserved' FOR UPDATE`,
          [id],
        )
        if (payment === undefined) return null
        // What others left at the payer is this payment's alone from now on.
        const [payer] = await inside.run<{ taken: bigint }>(
          `UPDATE spending_payer p SET spare = was.spare - was.taken
           FROM (SELECT address, spare, least(spare, $2::bigint) AS taken FROM spending_payer WHERE address = $1 FOR UPDATE) was
           WHERE p.address = was.address RETURNING was.taken`,
          [payment.payer, payment.amount],
        )
        const funding = payment.amount - (payer?.taken ?? 0n)
        const [row] = await inside.run<Row>(
          `UPDATE spending_payment p
           SET state = $2::spending_payment_state, funding = $3, funding_payer = $4, funding_valid_before = $5, funding_block = $6, look_at = $7
           WHERE id = $1 RETURNING ${COLUMNS}`,
          [id, funding === 0n ? 'funded' : 'funding', funding, from, validBefore, seenBlock, lookAt],
        )
        return row === undefined ? null : toPayment(row)
      })
    },

    async arrived(id, txHash, lookAt) {
      await changed(
        statements,
        `UPDATE spending_payment SET state = 'funded', funding_hash = $2, look_at = $3 WHERE id = $1 AND state = 'funding'`,
        [id, txHash, lookAt],
      )
    },

    sign: (id, signature) =>
      changed(
        statements,
        `UPDATE spending_payment SET state = 'signed', signature = $2 WHERE id = $1 AND state = 'funded'`,
        [id, signature],
      ),

    send: (id, lookAt) =>
      changed(
        statements,
        `UPDATE spending_payment SET state = 'sent', look_at = $2 WHERE id = $1 AND state IN ('signed', 'sent')`,
        [id, lookAt],
      ),

    async end({ id, payer, state: from }, ended, also) {
      const settled = ended.state === 'settled' ? ended : null
      const returned = ended.state === 'returned' ? ended : null
      return await statements.together(async (inside) => {
        // Only from the state that was looked at: one that was signed meanwhile is not given back as unsigned.
        const rows = await inside.run(
          `UPDATE spending_payment
           SET state = $2::spending_payment_state, tx_hash = coalesce($3, tx_hash), block_number = $4, reason = $5, ended_at = $6,
             look_at = coalesce($8, look_at)
           WHERE id = $1 AND state = $7::spending_payment_state RETURNING id`,
          [id, ended.state, settled?.txHash, settled?.blockNumber, returned?.reason, ended.now, from, returned?.lookAt],
        )
        if (rows.length === 0) return false
        if (returned !== null && returned.remaining > 0n) {
          await inside.run('UPDATE spending_payer SET spare = spare + $2 WHERE address = $1', [
            payer,
            returned.remaining,
          ])
        }
        await also(inside)
        return true
      })
    },
  }
}

function payersOf(statements: StatementPool): Pick<PaymentStore, 'findPayer' | 'accountOf' | 'addPayer'> {
  return {
    async findPayer({ userId, environment }) {
      const [row] = await statements.run<PayerWallet>(
        `SELECT address, spare FROM spending_payer WHERE user_id = $1 AND environment = $2::environment
         ORDER BY created_at DESC LIMIT 1`,
        [userId, environment],
      )
      return row ?? null
    },

    async accountOf(address, inside) {
      const [row] = await inside.run<Owner>(
        'SELECT user_id AS "userId", environment FROM spending_payer WHERE address = $1',
        [address],
        'spending_account_of',
      )
      return row ?? null
    },

    async addPayer({ userId, environment }, address, now) {
      const [found] = await statements.run<PayerWallet>(
        'SELECT address, spare FROM spending_payer WHERE address = $1',
        [address],
      )
      if (found !== undefined) return found
      await statements.run(ADD_PAYER, [address, userId, environment, now])
      return { address, spare: 0n }
    },
  }
}

async function changed(statements: StatementPool, text: string, values: readonly unknown[]): Promise<boolean> {
  return (await statements.run(`${text} RETURNING id`, values)).length > 0
}

const ADD = `
INSERT INTO spending_payment (id, agent_id, user_id, environment, url, method, request_hash, max_amount, amount, network,
  payer, pay_to, valid_before, nonce, asked, seen_block, created_at, look_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)
ON CONFLICT (network, payer, nonce) DO NOTHING
RETURNING id`

const ADD_PAYER = `
INSERT INTO spending_payer (address, user_id, environment, created_at) VALUES ($1, $2, $3::environment, $4)
ON CONFLICT (address) DO NOTHING`

const COLUMNS = `p.id, p.user_id, p.environment, p.agent_id, p.state, p.url, p.method, p.request_hash, p.max_amount, p.amount,
  p.network, p.payer, p.pay_to, p.valid_before, p.nonce, p.signature, p.asked, p.seen_block, p.answer_status, p.receipt,
  p.tx_hash, p.reason, p.created_at, p.ended_at, p.funding, p.funding_payer, p.funding_valid_before, p.funding_block`

type Row = RowOf<Omit<Payment, 'owner' | 'offer' | 'funding' | 'receipt'> & Owner> & {
  asked: string
  receipt: string | null
  funding: bigint | null
  funding_payer: Hex | null
  funding_valid_before: bigint | null
  funding_block: bigint | null
}

function toPayment(row: Row): Payment {
  const { userId, environment, asked, receipt: text, ...payment } = fromRow(row)
  const receipt = text === null ? null : (JSON.parse(text) as Payment['receipt'])
  return { ...payment, owner: { userId, environment }, offer: fromText(asked), receipt, funding: fundingOf(row) }
}

function fundingOf(row: Row): Funding | null {
  const { funding: amount, funding_payer: from, funding_valid_before: validBefore, funding_block: seenBlock } = row
  if (amount === null || amount === 0n || from === null || validBefore === null || seenBlock === null) return null
  return { amount, from, validBefore, seenBlock }
}

function fromText(text: string): Offer {
  const stored = JSON.parse(text) as Omit<Offer, 'amount' | 'expires' | 'header'> &
    Partial<Pick<Offer, 'expires' | 'header'>> & { amount: string }
  // Offers from before MPP name neither; the header follows from their version.
  const { expires = null, header = stored.version === 1 ? 'x-payment' : 'payment-signature' } = stored
  return { ...stored, expires, header, amount: BigInt(stored.amount) }
}
