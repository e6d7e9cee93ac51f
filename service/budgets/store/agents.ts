import type { StatementPool, Statements } from '../../kit/transaction.ts'
import { usdc, type Usdc } from '../../kit/money.ts'
import { holdQuota } from '../../kit/quota.ts'
import { byTime, totalOf } from '../../kit/total.ts'
import type { AgentStore, DecisionFilter, SpentBy } from '../ports.ts'
import { giveBack, roll } from '../rules/windows.ts'
import {
  countOf,
  DECISION_COLUMNS,
  fromAgentRow,
  fromDecisionRow,
  fromUsageRow,
  toPolicyRow,
  type AgentRow,
  type DecisionRow,
  type UsageRow,
} from './rows.ts'

export function createAgentStore(statements: StatementPool, agentsMax: number): AgentStore {
  return {
    async add(agent) {
      const { id, owner, name, policy, status, createdAt } = agent
      const [row] = await statements.together(async (inside) => {
        const { userId, environment } = owner
        await holdQuota(inside, {
          quota: 'agents',
          owner,
          limit: agentsMax,
          values: [userId, environment, id],
          rows: `spending_agent WHERE ${OWN} AND id <> $3`,
        })
        const values = [id, userId, environment, name, status, JSON.stringify(toPolicyRow(policy)), createdAt]
        return await inside.run<AgentRow>(ADD, values)
      })
      if (row === undefined) throw new Error('the agent was neither made nor found')
      return fromAgentRow(row)
    },

    async find({ userId, environment }, id) {
      const [row] = await statements.run<AgentRow>(`SELECT ${COLUMNS} FROM spending_agent WHERE ${OWN} AND id = $3`, [
        userId,
        environment,
        id,
      ])
      return row === undefined ? null : fromAgentRow(row)
    },

    async list({ userId, environment }, { limit, offset }) {
      const rows = await statements.run<AgentRow>(
        `SELECT ${COLUMNS} FROM spending_agent WHERE ${OWN} ORDER BY id DESC LIMIT $3 OFFSET $4`,
        [userId, environment, limit, offset],
      )
      const total = await countOf(statements, `spending_agent WHERE ${OWN}`, [userId, environment])
      return { agents: rows.map(fromAgentRow), total }
    },

    async change({ userId, environment }, id, change) {
      return await statements.together(async (inside) => {
        const [row] = await inside.run<AgentRow>(
          `SELECT ${COLUMNS} FROM spending_agent WHERE ${OWN} AND id = $3 FOR NO KEY UPDATE`,
          [userId, environment, id],
        )
        if (row === undefined) return null
        const changed = await change(fromAgentRow(row), inside)
        if (changed === 'deleted') {
          await inside.run(`UPDATE spending_agent SET status = 'deleted', version = version + 1 WHERE id = $1`, [id])
          return changed
        }
        await inside.run(
          `UPDATE spending_agent SET name = $2, status = $3, policy = $4, updated_at = $5, version = version + 1
           WHERE id = $1`,
          [id, changed.name, changed.status, JSON.stringify(toPolicyRow(changed.policy)), changed.updatedAt],
        )
        return changed
      })
    },

    async usage(id, now) {
      const rows = await statements.run<UsageRow & { at: Date | null; returned: Usdc | null }>(
        `SELECT a.*, r.at, r.amount AS returned FROM spending_agent a
         LEFT JOIN spending_return r ON r.agent_id = a.id WHERE a.id = $1`,
        [id],
      )
      const [first] = rows
      if (first === undefined) throw new Error(`there is no agent ${id}`)
      const usage = rows.reduce(
        (left, { at, returned }) => (at === null ? left : giveBack(left, at, usdc(returned ?? 0n))),
        fromUsageRow(first),
      )
      return roll(usage, now)
    },

    ...decisionsOf(statements),
  }
}

/** Reads an agent's decisions. */
function decisionsOf(statements: StatementPool): Pick<AgentStore, 'decisions' | 'history' | 'spent'> {
  return {
    async decisions(id, filter, { limit, offset }) {
      const { where, values } = filtered(id, filter)
      const rows = await statements.run<DecisionRow>(
        `SELECT ${DECISION_COLUMNS} FROM spending_decision WHERE ${where} ORDER BY at DESC, id DESC
         LIMIT $${values.length + 1} OFFSET $${values.length + 2}`,
        [...values, limit, offset],
      )
      const total = await totalOf(statements, { from: `spending_decision WHERE ${where}`, values, ...byTime('at') })
      return { decisions: rows.map(fromDecisionRow), total }
    },

    async history(id, from, after, limit) {
      const rows = await statements.run<DecisionRow>(
        `SELECT ${DECISION_COLUMNS} FROM spending_decision
         WHERE agent_id = $1 AND (at, id) > ($2, $3) ORDER BY at, id LIMIT $4`,
        [id, after?.at ?? from, after?.id ?? -1, limit],
      )
      return rows.map(fromDecisionRow)
    },

    async spent(id, by, from, limit) {
      const rows = await statements.run<{ key: string; amount: Usdc; calls: bigint }>(
        `SELECT ${KEYS[by]} AS key, sum(amount - returned)::bigint AS amount, count(*) AS calls
         FROM spending_decision WHERE agent_id = $1 AND at >= $2 AND outcome = 'allowed'
         GROUP BY 1 ORDER BY ${by === 'day' ? '1 DESC' : '2 DESC, 1'} LIMIT $3`,
        [id, from, limit],
      )
      return rows.map(({ key, amount, calls }) => ({ key, amount: usdc(amount), calls: Number(calls) }))
    },
  }
}

/** The holds of agents, for a wallet that shows an agent only its own. */
export function createAgentHolds(statements: Statements) {
  return {
    /** Which of these holds the agent created. */
    async of(id: string, holds: readonly string[]): Promise<ReadonlySet<string>> {
      const rows = await statements.run<{ reference: string }>(
        `SELECT reference FROM spending_decision
         WHERE reference = ANY ($2::text[]) AND outcome = 'allowed' AND agent_id = $1`,
        [id, holds],
      )
      return new Set(rows.map(({ reference }) => reference))
    },
  }
}

const COLUMNS = 'id, user_id, environment, name, status, policy, created_at, updated_at'
const OWN = `user_id = $1 AND environment = $2::environment AND status <> 'deleted'`

const KEYS: Record<SpentBy, string> = {
  day: `to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD')`,
  target: 'target',
  kind: 'kind::text',
}

// The id comes from the operation: a repetition after a crash finds its own row, if the owner is the same.
const ADD = `
WITH made AS (
  INSERT INTO spending_agent (id, user_id, environment, name, status, policy, counted_at, created_at, updated_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $7, $7)
  ON CONFLICT (id) DO NOTHING
  RETURNING ${COLUMNS}
)
SELECT * FROM made
UNION ALL
SELECT ${COLUMNS} FROM spending_agent WHERE id = $1 AND user_id = $2 AND environment = $3::environment AND NOT EXISTS (SELECT FROM made)`

function filtered(id: string, { outcome, kind }: DecisionFilter): { where: string; values: unknown[] } {
  const values: unknown[] = [id]
  const where = ['agent_id = $1']
  if (outcome !== null) where.push(`outcome = $${values.push(outcome)}::spending_outcome`)
  if (kind !== null) where.push(`kind = $${values.push(kind)}::spending_kind`)
  return { where: where.join(' AND '), values }
}
