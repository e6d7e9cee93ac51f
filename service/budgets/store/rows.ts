import type { Id } from '../../kit/ids.ts'
import { usdc, type Usdc } from '../../kit/money.ts'
import type { Environment } from '../../kit/owner.ts'
import type { Statements } from '../../kit/transaction.ts'
import type { Announcement } from '../../queue/model.ts'
import { LIMITS, type Agent, type Approval, type Decision, type Limit, type Policy, type Usage } from '../model.ts'

export interface AgentRow {
  id: Id<'agt'>
  user_id: string
  environment: Environment
  name: string
  status: Agent['status'] | 'deleted'
  policy: PolicyRow
  created_at: Date
  updated_at: Date
}

export interface UsageRow {
  counted_at: Date
  minute_calls: number
  minute_spent: Usdc
  day_spent: Usdc
  week_spent: Usdc
  month_spent: Usdc
  lifetime_spent: Usdc
}

/** Amounts in micro-dollars as text, because JSON numbers are exact only up to 2^53. */
export interface PolicyRow extends Omit<Policy, 'limits' | 'approvalAbove'> {
  limits: Record<Limit, string | null>
  approvalAbove: string | null
}

export function fromAgentRow(row: AgentRow): Agent {
  return {
    id: row.id,
    owner: { userId: row.user_id, environment: row.environment },
    name: row.name,
    status: row.status === 'deleted' ? 'paused' : row.status,
    policy: fromPolicyRow(row.policy),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

export function fromUsageRow(row: UsageRow): Usage {
  return {
    at: row.counted_at,
    perMinute: usdc(row.minute_spent),
    perDay: usdc(row.day_spent),
    perWeek: usdc(row.week_spent),
    perMonth: usdc(row.month_spent),
    lifetime: usdc(row.lifetime_spent),
    calls: row.minute_calls,
  }
}

export function toPolicyRow(policy: Policy): PolicyRow {
  return { ...policy, limits: amounts(policy.limits, String), approvalAbove: mapped(policy.approvalAbove, String) }
}

function fromPolicyRow(row: PolicyRow): Policy {
  return { ...row, limits: amounts(row.limits, fromText), approvalAbove: mapped(row.approvalAbove, fromText) }
}

export interface DecisionRow {
  id: bigint
  at: Date
  kind: Decision['kind']
  target: string
  alias: string | null
  domain: string | null
  amount: Usdc
  outcome: Decision['outcome']
  rule: Decision['rule']
  pattern: string | null
  reference: string
  returned: Usdc
  approval_id: Id<'apr'> | null
}

export const DECISION_COLUMNS =
  'id, at, kind, target, alias, domain, amount, outcome, rule, pattern, reference, returned, approval_id'

export function fromDecisionRow({ id, approval_id, ...row }: DecisionRow): Decision {
  return { ...row, id: String(id), approvalId: approval_id }
}

export interface ApprovalRow {
  id: Id<'apr'>
  agent_id: Id<'agt'>
  agent_name: string
  user_id: string
  environment: Environment
  state: Approval['state']
  kind: Approval['kind']
  target: string
  amount: Usdc
  request_hash: string
  on_approved: Announcement | null
  created_at: Date
  expires_at: Date
  decided_at: Date | null
  used_by: string | null
}

/** The columns of `spending_approval p` joined with `spending_agent a`. */
export const APPROVAL_COLUMNS = `p.id, p.agent_id, a.name AS agent_name, p.user_id, p.environment, p.state, p.kind,
  p.target, p.amount, p.request_hash, p.on_approved, p.created_at, p.expires_at, p.decided_at, p.used_by`

export function fromApprovalRow(row: ApprovalRow): Approval {
  return {
    id: row.id,
    owner: { userId: row.user_id, environment: row.environment },
    agentId: row.agent_id,
    agentName: row.agent_name,
    state: row.state,
    kind: row.kind,
    target: row.target,
    amount: row.amount,
    requestHash: row.request_hash,
    onApproved: row.on_approved,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    decidedAt: row.decided_at,
    usedBy: row.used_by,
  }
}

function amounts<From, To>(
  of: Readonly<Record<Limit, From | null>>,
  to: (value: From) => To,
): Record<Limit, To | null> {
  return Object.fromEntries(LIMITS.map((limit) => [limit, mapped(of[limit], to)])) as Record<Limit, To | null>
}

function mapped<From, To>(value: From | null, to: (value: From) => To): To | null {
  return value === null ? null : to(value)
}

function fromText(text: string): Usdc {
  return usdc(BigInt(text))
}

export async function countOf(statements: Statements, of: string, values: readonly unknown[]): Promise<number> {
  const [row] = await statements.run<{ total: bigint }>(`SELECT count(*) AS total FROM ${of}`, values)
  return Number(row?.total ?? 0n)
}
