import { isId } from '../../kit/ids.ts'
import { inTurns, toBytes } from '../../kit/rows.ts'
import { byId, totalOf } from '../../kit/total.ts'
import type { StatementPool, Statements } from '../../kit/transaction.ts'
import type { SaleReader, SaleState } from '../model.ts'
import type { SaleStore } from '../ports.ts'
import { nextResume } from '../rules.ts'
import { heldSales } from './held.ts'
import { fromSaleRow, lockSale, one, valuesOf, type SaleRow } from './rows.ts'

export function createSaleStore(statements: StatementPool): SaleStore {
  async function did(text: string, values: readonly unknown[], name: string): Promise<boolean> {
    return (await statements.run(text, values, name)).length > 0
  }

  return {
    ...heldSales(statements),
    ...readerOf(statements),
    inTransaction: (work) => statements.together(work),
    // A text that is not an id names no sale, and may even be a text that PostgreSQL cannot hold.
    async find(id, inside = statements) {
      if (!isId('pay', id) && !isId('call', id)) return null
      return await one(inside, 'SELECT * FROM sale WHERE id = $1', [id], 'sale_find')
    },
    lock: lockSale,
    findByIdentifier: (payer, identifier, on = statements) =>
      one(on, 'SELECT * FROM sale WHERE payer = $1 AND identifier = $2', [payer, identifier], 'sale_by_identifier'),
    findByDigest: (digest) =>
      one(statements, 'SELECT * FROM sale WHERE digest = $1', [toBytes(digest)], 'sale_by_digest'),

    async add(inside, sale, resumeAt) {
      return (await inside.run(ADD, [...valuesOf(sale), resumeAt], 'sale_add')).length > 0
    },

    async take(inside, { id, details }, { now, until }) {
      const values = [id, now, until, JSON.stringify(details)]
      const [row] = await inside.run<SaleRow & { before: SaleState }>(TAKE, values, 'sale_take')
      return row === undefined ? null : { sale: fromSaleRow(row), before: row.before }
    },

    async leave({ id, leaseUntil }) {
      const values = [id, leaseUntil]
      await statements.run(
        'UPDATE sale SET lease_until = NULL WHERE id = $1 AND lease_until = $2',
        values,
        'sale_leave',
      )
    },

    release: (inside, { id, leaseUntil }, { state, reason, now }) =>
      one(inside, RELEASE, [id, reason, leaseUntil, state, now], 'sale_release'),

    async bind(id, bodyHash) {
      const [row] = await statements.run<{ same: boolean }>(BIND, [id, bodyHash], 'sale_bind')
      return row?.same === true
    },

    settling({ id, leaseUntil }, { answer, bodyHash, details, amount }, { now, until }) {
      const detailsText = details === null ? null : JSON.stringify(details)
      const meta = answer === null ? null : JSON.stringify(answer.meta)
      const stored = [meta, answer?.body ?? null, amount]
      const values = [id, bodyHash, detailsText, nextResume(now, now), now, until, ...stored, leaseUntil]
      return did(SETTLING, values, 'sale_settling')
    },

    paid: (inside, id, { txHash, handover, owedUntil, now }) =>
      one(inside, PAID, [id, txHash, handover, now, owedUntil], 'sale_paid'),
    failed: (inside, id, { reason, end, now }) =>
      one(inside, FAILED, [id, reason, now, end?.end ?? null, end?.voidedTx ?? null], 'sale_failed'),

    async unpaid(id, reason) {
      await statements.run(UNPAID, [id, reason], 'sale_unpaid')
    },

    store: (inside, id, { meta, body }, { bodyHash, now }) =>
      one(inside, STORE, [id, bodyHash, now, JSON.stringify(meta), body], 'sale_store'),

    async answerOf(id) {
      const [row] = await statements.run<{ meta: Readonly<Record<string, unknown>>; body: Buffer }>(
        'SELECT meta, body FROM sale_answer WHERE sale_id = $1',
        [id],
        'sale_answer_of',
      )
      return row ?? null
    },

    async begun(id) {
      await statements.run(BEGUN, [id], 'sale_begun')
    },

    async handedOver(id) {
      await statements.run(HANDED_OVER, [id], 'sale_handed_over')
    },

    giveBack: (inside, id) => one(inside, GIVE_BACK, [id], 'sale_give_back'),

    async takeOpen(product, now, { limit, simulated }) {
      const open = await statements.run<{ id: string; created_at: Date }>(
        OPEN,
        [product, now, limit, simulated],
        'sale_open',
      )
      if (open.length === 0) return []
      const next = open.map((row) => nextResume(row.created_at, now))
      const rows = await statements.run<SaleRow>(TAKE_OPEN, [open.map(({ id }) => id), next, now], 'sale_take_open')
      return rows.map(fromSaleRow)
    },

    async findLost(now, limit) {
      const rows = await statements.run<SaleRow>(LOST, [now, limit], 'sale_lost')
      return rows.map(fromSaleRow)
    },

    async forgetAnswers(before, now) {
      await statements.run(FORGET_ANSWERS, [before, now], 'sale_forget_answers')
    },
  }
}

function readerOf(statements: Statements): SaleReader {
  return {
    async findAll(ids) {
      const rows = await statements.run<SaleRow>('SELECT * FROM sale WHERE id = ANY($1)', [ids], 'sale_find_all')
      return new Map(rows.map((row) => [row.id, fromSaleRow(row)]))
    },

    findBought: ({ userId, environment, agentId }, id) =>
      one(statements, BOUGHT, [id, userId, environment, agentId], 'sale_bought'),

    async list({ userId, environment }, subject, { limit, offset }) {
      const own = [subject, userId, environment]
      const [rows, total] = await Promise.all([
        statements.run<SaleRow>(LIST, [...own, limit, offset], 'sale_list'),
        totalOf(statements, { from: 'sale WHERE subject = $1', values: [subject], ...byId('pay') }),
      ])
      return { sales: rows.map(fromSaleRow), total }
    },
  }
}

const BOUGHT = `
SELECT s.* FROM sale s JOIN spending_payer p ON p.address = s.payer
WHERE s.id = $1 AND p.user_id = $2 AND p.environment = $3::environment
  AND ($4::text IS NULL OR s.details -> 'buyer' ->> 'agentId' = $4)`

const LIST = `
SELECT * FROM sale WHERE subject = $1 AND user_id = $2 AND environment = $3 ORDER BY id DESC LIMIT $4 OFFSET $5`

const ADD = `
INSERT INTO sale (id, product, subject, user_id, environment, state, handover, amount, network, recipient, payer,
  simulated, digest, request, input_hash, body_hash, token_hash, details, tx_hash, reason, lease_until, created_at,
  ended_at, resource, identifier, escrow, method, facilitator, resume_at)
VALUES ($1, $2::sale_product, $3, $4, $5::environment, $6::sale_state, $7::sale_handover, $8, $9, $10, $11, $12, $13,
  $14::json, $15, $16, $17, $18::json, $19, $20, $21, $22, $23, $24, $25, $26::json, $27::sale_method, $28, $29)
ON CONFLICT DO NOTHING
RETURNING id`

const TAKE = `
WITH free AS (
  SELECT id, state FROM sale
  WHERE id = $1 AND (lease_until IS NULL OR lease_until <= $2)
    AND (state IN ('claimed', 'released', 'settling')
      OR (state = 'paid' AND handover = 'none' AND result IS NULL AND (refunded < amount OR amount = 0)))
  FOR UPDATE
)
UPDATE sale s SET lease_until = $3, reason = NULL,
  state = CASE WHEN s.state = 'released' THEN 'claimed' ELSE s.state END,
  details = CASE WHEN s.state = 'released' THEN $4::json ELSE s.details END
FROM free WHERE s.id = free.id
RETURNING s.*, free.state AS before`

const RELEASE = `
UPDATE sale SET state = $4::sale_state, reason = $2, lease_until = NULL, ended_at = CASE WHEN $4 = 'failed' THEN $5::timestamptz END
WHERE id = $1 AND state = 'claimed' AND lease_until IS NOT DISTINCT FROM $3 RETURNING *`

const BIND = `UPDATE sale SET body_hash = coalesce(body_hash, $2) WHERE id = $1 RETURNING body_hash = $2 AS same`

const SETTLING = `
WITH settling AS (
  UPDATE sale SET state = 'settling', body_hash = coalesce(body_hash, $2), details = coalesce($3::json, details),
    amount = least(amount, $9::bigint), resume_at = $4, lease_until = $6
  WHERE id = $1 AND state = 'claimed' AND ((lease_until = $10 AND lease_until > $5) OR resume_at IS NOT NULL) RETURNING id
), stored AS (
  INSERT INTO sale_answer (sale_id, meta, body, stored_at)
  SELECT id, $7::json, $8::bytea, $5 FROM settling WHERE $8::bytea IS NOT NULL
)
SELECT id FROM settling`

const PAID = `
UPDATE sale SET state = 'paid', tx_hash = $2, handover = $3::sale_handover, ended_at = $4, owed_until = $5, resume_at = NULL,
  reason = NULL
WHERE id = $1 AND state IN ('claimed', 'settling') RETURNING *`

const FAILED = `
WITH gone AS (DELETE FROM sale_answer WHERE sale_id = $1)
UPDATE sale SET state = 'failed', reason = $2, ended_at = $3, resume_at = NULL, lease_until = NULL,
  escrow = CASE WHEN $4::text IS NULL THEN escrow ELSE
    (escrow::jsonb || jsonb_build_object('end', $4::text, 'voidedTx', $5::text))::json END
WHERE id = $1 AND state IN ('claimed', 'settling') RETURNING *`

const UNPAID = `UPDATE sale SET reason = $2 WHERE id = $1 AND state = 'settling'`

const STORE = `
WITH owed AS (
  UPDATE sale SET body_hash = coalesce(body_hash, $2) WHERE id = $1 AND state = 'paid' AND handover = 'none' AND result IS NULL RETURNING *
), stored AS (
  INSERT INTO sale_answer (sale_id, stored_at, meta, body)
  SELECT id, $3, $4::json, $5::bytea FROM owed
  ON CONFLICT (sale_id) DO NOTHING
  RETURNING sale_id
)
SELECT owed.* FROM owed JOIN stored ON stored.sale_id = owed.id`

const BEGUN = `UPDATE sale SET handover = 'begun' WHERE id = $1 AND state = 'paid' AND handover = 'none'`

const HANDED_OVER = `
WITH gone AS (DELETE FROM sale_answer WHERE sale_id = $1)
UPDATE sale SET handover = 'whole', lease_until = NULL WHERE id = $1 AND state IN ('paid', 'refunded')`

const GIVE_BACK = `UPDATE sale SET state = 'refunded' WHERE id = $1 AND state = 'paid' AND amount = 0 RETURNING *`

const OPEN = `
SELECT id, created_at FROM sale WHERE id IN (${inTurns('sale', {
  where: `state IN ('claimed', 'settling') AND product = $1::sale_product AND resume_at <= $2 AND simulated = $4
    AND (lease_until IS NULL OR lease_until <= $2)`,
  by: 'resume_at',
})} LIMIT $3)`

const TAKE_OPEN = `
WITH due AS (SELECT * FROM unnest($1::text[], $2::timestamptz[]) AS due (id, next))
UPDATE sale s SET resume_at = due.next FROM due
WHERE s.id = due.id AND s.state IN ('claimed', 'settling') AND s.resume_at <= $3 RETURNING s.*`

const LOST = `SELECT * FROM sale WHERE state = 'claimed' AND resume_at IS NULL
  AND (lease_until IS NULL OR lease_until <= $1) LIMIT $2`

// A sale that waits for the chain keeps its answer, however long it waits.
const FORGET_ANSWERS = `
WITH gone AS (
  DELETE FROM sale_answer a USING sale s
  WHERE s.id = a.sale_id AND s.state <> 'settling' AND greatest(a.stored_at, s.ended_at) < $1
    AND (s.state <> 'paid' OR s.owed_until IS NULL OR s.owed_until < $2) RETURNING a.sale_id
)
UPDATE sale SET handover = 'expired' WHERE id IN (SELECT sale_id FROM gone) AND state = 'paid' AND handover = 'none'`
