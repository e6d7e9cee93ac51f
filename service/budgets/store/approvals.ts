import { byId, totalOf } from '../../kit/total.ts'
import type { StatementPool } from '../../kit/transaction.ts'
import type { ApprovalStore } from '../ports.ts'
import { APPROVAL_COLUMNS, countOf, fromApprovalRow, type ApprovalRow } from './rows.ts'

export function createApprovalStore(statements: StatementPool): ApprovalStore {
  return {
    async list({ userId, environment }, { state, agentId }, { limit, offset }) {
      const values = [userId, environment, state, agentId]
      const where = `p.user_id = $1 AND p.environment = $2::environment
        AND ($3::spending_approval_state IS NULL OR p.state = $3) AND ($4::text IS NULL OR p.agent_id = $4)`
      const rows = await statements.run<ApprovalRow>(
        `SELECT ${APPROVAL_COLUMNS} FROM ${JOINED} WHERE ${where} ORDER BY p.id DESC LIMIT $5 OFFSET $6`,
        [...values, limit, offset],
      )
      const from = `spending_approval p WHERE ${where}`
      // What is listed by its state leaves the list again.
      const total =
        state === null
          ? await totalOf(statements, { from, values, ...byId('apr', { key: 'p.id' }) })
          : await countOf(statements, from, values)
      return { approvals: rows.map(fromApprovalRow), total }
    },

    async find(id) {
      const [row] = await statements.run<ApprovalRow>(`SELECT ${APPROVAL_COLUMNS} FROM ${JOINED} WHERE p.id = $1`, [id])
      return row === undefined ? null : fromApprovalRow(row)
    },

    async decide(id, { state, now, expiresAt }, also) {
      return await statements.together(async (inside) => {
        const [row] = await inside.run<ApprovalRow & { changed: boolean }>(DECIDE, [id, state, now, expiresAt])
        if (row === undefined) return null
        const decided = { approval: fromApprovalRow(row), changed: row.changed }
        if (row.changed) await also(inside, decided.approval)
        return decided
      })
    },

    async lapse(now, limit) {
      const rows = await statements.run<ApprovalRow>(LAPSE, [now, limit])
      return rows.map(fromApprovalRow)
    },
  }
}

const JOINED = 'spending_approval p JOIN spending_agent a ON a.id = p.agent_id'

// The row's lock decides the order of two people's decisions, or of a decision and the expiry.
const DECIDE = `
WITH was AS MATERIALIZED (
  SELECT id, state, expires_at FROM spending_approval WHERE id = $1 FOR UPDATE
), decided AS (
  UPDATE spending_approval p SET state = $2::spending_approval_state, decided_at = $3, expires_at = $4
  FROM was WHERE p.id = was.id AND was.state = 'pending' AND was.expires_at > $3
  RETURNING p.*
)
SELECT ${APPROVAL_COLUMNS}, true AS changed FROM decided p JOIN spending_agent a ON a.id = p.agent_id
UNION ALL
SELECT ${APPROVAL_COLUMNS}, false FROM ${JOINED} WHERE p.id = $1 AND NOT EXISTS (SELECT FROM decided)`

const LAPSE = `
WITH late AS (
  SELECT id FROM spending_approval WHERE state IN ('pending', 'approved') AND expires_at <= $1
  ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED
), lapsed AS (
  UPDATE spending_approval p SET state = 'lapsed' FROM late WHERE p.id = late.id RETURNING p.*
)
SELECT ${APPROVAL_COLUMNS} FROM lapsed p JOIN spending_agent a ON a.id = p.agent_id`
