import type { RequestBody } from '../../x402/model.ts'
import type { Address, Hex } from '../../chain/model.ts'
import type { NetworkName } from '../../chain/networks.ts'
import type { Usdc } from '../../kit/money.ts'
import type { StatementPool, Statements } from '../../kit/transaction.ts'
import type { Environment } from '../../kit/owner.ts'
import type { CallId } from '../model/call.ts'
import type { PaymentState, ToolPayment } from '../model/payment.ts'
import type { ToolId } from '../model/tool.ts'
import type { ToolPaymentStore } from '../ports/payments.ts'
import { toOutput } from './calls/read.ts'

export function createToolPaymentStore(statements: StatementPool): ToolPaymentStore {
  async function one(
    on: Statements,
    text: string,
    values: readonly unknown[],
    name: string,
  ): Promise<ToolPayment | null> {
    const [row] = await on.run<Row>(text, values, name)
    return row === undefined ? null : fromRow(row)
  }

  return {
    inTransaction: (work) => statements.together(work),

    async add(inside, payment, leasedUntil) {
      const made = await inside.run(ADD, [...valuesOf(payment), leasedUntil], 'tool_payment_add')
      return made.length > 0
    },

    findByDigest: (digest) =>
      one(statements, `SELECT ${COLUMNS} FROM tool_payment WHERE digest = $1`, [bytes(digest)], 'tool_payment_digest'),
    find: (id) => one(statements, `SELECT ${COLUMNS} FROM tool_payment WHERE id = $1`, [id], 'tool_payment_find'),

    take: (id, now, until) =>
      one(
        statements,
        `UPDATE tool_payment SET state = CASE WHEN state = 'paid' THEN state ELSE 'claimed' END, reason = NULL, leased_until = $3
         WHERE id = $1 AND (state = 'failed' OR (state = 'claimed' OR state = 'paid' AND owed) AND leased_until <= $2)
         RETURNING ${COLUMNS}`,
        [id, now, until],
        'tool_payment_take',
      ),

    async owe(id) {
      const done = await statements.run(
        `UPDATE tool_payment SET owed = true WHERE id = $1 AND state = 'claimed' RETURNING id`,
        [id],
        'tool_payment_owe',
      )
      return done.length > 0
    },

    async submitted(id) {
      await statements.run(`UPDATE tool_payment SET submitted = true WHERE id = $1`, [id], 'tool_payment_submitted')
    },

    async answered(id, { kind, value }, durationMs, until) {
      const done = await statements.run(
        `UPDATE tool_payment SET state = 'answered', submitted = true, kind = $2, value = $3, duration_ms = $4, leased_until = $5
         WHERE id = $1 AND state = 'claimed' RETURNING id`,
        [id, kind, JSON.stringify(value), durationMs, until],
        'tool_payment_answered',
      )
      return done.length > 0
    },

    async paid(inside, id, txHash, now) {
      const done = await inside.run(
        `UPDATE tool_payment SET state = 'paid', tx_hash = $2, paid_at = $3 WHERE id = $1 AND (state = 'answered' OR state = 'claimed' AND owed) RETURNING id`,
        [id, txHash, now],
        'tool_payment_paid',
      )
      return done.length > 0
    },

    async failed(id, reason) {
      await statements.run(
        `UPDATE tool_payment SET state = 'failed', reason = $2, kind = NULL, value = NULL
         WHERE id = $1 AND state IN ('claimed', 'answered')`,
        [id, reason],
        'tool_payment_failed',
      )
    },

    async fulfilled(inside, id, { kind, value }, durationMs, now) {
      const done = await inside.run(
        `UPDATE tool_payment SET owed = false, kind = $2, value = $3, duration_ms = $4, leased_until = $5
         WHERE id = $1 AND state = 'paid' AND owed RETURNING id`,
        [id, kind, JSON.stringify(value), durationMs, now],
        'tool_payment_fulfilled',
      )
      return done.length > 0
    },

    async leave(id, now) {
      await statements.run(
        `UPDATE tool_payment SET leased_until = $2 WHERE id = $1 AND owed AND state IN ('claimed', 'paid')`,
        [id, now],
        'tool_payment_leave',
      )
    },

    async given(id) {
      await statements.run(
        `UPDATE tool_payment SET kind = NULL, value = NULL WHERE id = $1 AND state = 'paid'`,
        [id],
        'tool_payment_given',
      )
    },

    async takeOpen(now, until, limit) {
      const rows = await statements.run<Row>(
        `UPDATE tool_payment SET leased_until = $2
         WHERE id IN (SELECT id FROM tool_payment WHERE state IN ('claimed', 'answered') AND leased_until <= $1
                      ORDER BY leased_until LIMIT $3 FOR UPDATE SKIP LOCKED)
         RETURNING ${COLUMNS}`,
        [now, until, limit],
        'tool_payment_open',
      )
      return rows.map(fromRow)
    },

    async forgetAnswers(before) {
      await statements.run(
        `UPDATE tool_payment SET kind = NULL, value = NULL 
         WHERE kind IS NOT NULL AND state = 'paid' AND greatest(paid_at, leased_until) < $1`,
        [before],
        'tool_payment_forget',
      )
    },
  }
}

const COLUMNS = `
id, environment, digest, tool_id, slug, provider, input_hash, amount, network, payer, recipient, request, state, owed, kind, value,
duration_ms, reason, tx_hash, created_at, paid_at, token_hash, submitted`

const ADD = `
INSERT INTO tool_payment (id, environment, digest, tool_id, slug, provider, input_hash, amount, network, payer, recipient,
                          request, state, owed, created_at, token_hash, leased_until)
VALUES ($1, $2::environment, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13::tool_payment_state, $14, $15, $16, $17)
ON CONFLICT DO NOTHING
RETURNING id`

function valuesOf(payment: ToolPayment): unknown[] {
  const { id, environment, digest, toolId, slug, provider, inputHash, amount, network, payer, recipient } = payment
  const request = JSON.stringify(payment.request)
  return [
    ...[id, environment, bytes(digest), toolId, slug, provider, inputHash, amount, network, payer, recipient, request],
    ...[payment.state, payment.owed, payment.createdAt, payment.tokenHash],
  ]
}

function bytes(hex: Hex): Buffer {
  return Buffer.from(hex.slice(2), 'hex')
}

interface Row {
  id: CallId
  environment: Environment
  digest: Buffer
  tool_id: ToolId
  slug: string
  provider: string
  input_hash: Buffer
  amount: Usdc
  network: NetworkName
  payer: Address
  recipient: Address
  request: RequestBody
  state: PaymentState
  owed: boolean
  kind: string | null
  value: unknown
  duration_ms: number
  reason: string | null
  tx_hash: string | null
  created_at: Date
  paid_at: Date | null
  token_hash: Buffer | null
  submitted: boolean
}

function fromRow(row: Row): ToolPayment {
  return {
    id: row.id,
    environment: row.environment,
    digest: `0x${row.digest.toString('hex')}`,
    toolId: row.tool_id,
    slug: row.slug,
    provider: row.provider,
    inputHash: row.input_hash,
    tokenHash: row.token_hash,
    // A process of an earlier version does not write the column.
    submitted: row.submitted || row.state === 'answered' || row.state === 'paid',
    amount: row.amount,
    network: row.network,
    payer: row.payer,
    recipient: row.recipient,
    request: row.request,
    state: row.state,
    owed: row.owed,
    output: toOutput(row),
    durationMs: row.duration_ms,
    reason: row.reason,
    txHash: row.tx_hash,
    createdAt: row.created_at,
    paidAt: row.paid_at,
  }
}
