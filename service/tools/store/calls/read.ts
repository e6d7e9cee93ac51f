import type { Usdc } from '../../../kit/money.ts'
import { byId, totalOf } from '../../../kit/total.ts'
import type { Statements } from '../../../kit/transaction.ts'
import type { Environment, Owner } from '../../../kit/owner.ts'
import type { CallId, CallSummary, KeptCall, Output } from '../../model/call.ts'
import type { ToolId } from '../../model/tool.ts'
import type { CallFilter } from '../../ports/calls.ts'

/** Another user's call is not found, and takes as long. */
export async function findCall(statements: Statements, owner: Owner, id: CallId): Promise<KeptCall | null> {
  const [row] = await statements.run<Row & AnswerRow>(
    `SELECT ${COLUMNS}, a.kind, a.value FROM tool_call c LEFT JOIN tool_answer a ON a.call_id = c.id
     WHERE c.id = $1 AND c.user_id = $2 AND c.environment = $3::environment`,
    [id, owner.userId, owner.environment],
    'tool_call_find',
  )
  return row === undefined ? null : { ...fromRow(row), output: toOutput(row) }
}

/** Newest first: ids begin with the moment at which they were made. */
export async function listCalls(
  statements: Statements,
  owner: Owner,
  { agentId, tool, limit, offset }: CallFilter,
): Promise<{ calls: CallSummary[]; total: number }> {
  const values = [owner.userId, owner.environment, agentId, tool]
  const [rows, total] = await Promise.all([
    statements.run<Row>(
      `SELECT ${COLUMNS} FROM tool_call c ${MINE} ORDER BY c.id DESC LIMIT $5 OFFSET $6`,
      [...values, limit, offset],
      'tool_call_list',
    ),
    agentId === null && tool === null ? countAll(statements, owner) : countSome(statements, values),
  ])
  return { calls: rows.map(fromRow), total }
}

function countAll(statements: Statements, { userId, environment }: Owner): Promise<number> {
  const from = 'tool_call WHERE user_id = $1 AND environment = $2::environment'
  return totalOf(statements, { from, values: [userId, environment], ...byId('call') })
}

async function countSome(statements: Statements, values: readonly unknown[]): Promise<number> {
  const text = `SELECT count(*) AS total FROM tool_call c ${MINE}`
  const [row] = await statements.run<{ total: bigint }>(text, values, 'tool_call_count')
  return Number(row?.total ?? 0n)
}

function toOutput({ kind, value }: AnswerRow): Output | null {
  // As `writeCalls` has put it there.
  return kind === null ? null : ({ kind, value } as Output)
}

interface AnswerRow {
  kind: string | null
  value: unknown
}

const COLUMNS = `
c.id, c.environment, c.user_id, c.agent_id, c.tool_id, c.slug, c.provider, c.cost, c.error_code, c.error, c.attempt, c.duration_ms,
c.ended_at`

const MINE = `
WHERE c.user_id = $1 AND c.environment = $2::environment
  AND ($3::text IS NULL OR c.agent_id = $3) AND ($4::text IS NULL OR c.slug = $4)`

interface Row {
  id: CallId
  environment: Environment
  user_id: string | null
  agent_id: string | null
  tool_id: ToolId
  slug: string
  provider: string
  cost: Usdc
  error_code: string | null
  error: string | null
  attempt: number
  duration_ms: number
  ended_at: Date
}

function fromRow(row: Row): CallSummary {
  return {
    id: row.id,
    environment: row.environment,
    userId: row.user_id,
    agentId: row.agent_id,
    toolId: row.tool_id,
    slug: row.slug,
    provider: row.provider,
    cost: row.cost,
    failure: row.error_code === null ? null : { code: row.error_code, sentence: row.error ?? '' },
    attempt: row.attempt,
    durationMs: row.duration_ms,
    endedAt: row.ended_at,
  }
}
