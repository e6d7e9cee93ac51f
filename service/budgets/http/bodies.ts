import { z } from 'zod'
import { toWire, ZERO, type Usdc } from '../../kit/money.ts'
import { amountOut, timestamp } from '../../kit/wire.ts'
import { fieldsOf } from '../errors.ts'
import { APPROVAL_STATES, KINDS, type Agent, type Approval, type Decision, type Usage, type Verdict } from '../model.ts'
import { contradictions } from '../rules/contradictions.ts'
import { endOf, startOf, WINDOWS } from '../rules/windows.ts'
import { amountOrNull, figure, fromPolicy, policyOut, status, windowLimit } from './policy.ts'

const defaultPerDayOut = amountOrNull.meta({
  description: 'What an agent without limits may spend in a day on assets of other accounts. Null where it has a limit',
})

export const agentBody = z
  .object({
    id: z.string(),
    name: z.string(),
    status,
    environment: z.enum(['sandbox', 'production']),
    ...policyOut,
    defaultPerDay: defaultPerDayOut,
    warnings: z.array(z.string()).meta({ description: 'Rules that contradict or shadow each other' }),
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({ id: 'Agent' })

export function toAgent(agent: Agent, defaultPerDay: Usdc | null): z.input<typeof agentBody> {
  const { id, name, status, owner, policy, createdAt, updatedAt } = agent
  return {
    id,
    name,
    status,
    environment: owner.environment,
    ...fromPolicy(policy),
    defaultPerDay: figure(defaultPerDay),
    warnings: contradictions(policy),
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  }
}

export const standingBody = z.object({
  agentId: z.string(),
  status,
  policy: z.object(policyOut),
  windows: z.array(
    z.object({
      limit: windowLimit,
      allowed: amountOrNull,
      spent: amountOut,
      remaining: amountOrNull,
      startsAt: timestamp.nullable(),
      resetsAt: timestamp.nullable(),
    }),
  ),
  calls: z.object({ allowed: z.int().nullable(), made: z.int(), resetsAt: timestamp }),
  warnings: z.array(z.string()),
})

export function toStanding(agent: Agent, usage: Usage, warnings: readonly string[]): z.input<typeof standingBody> {
  const { policy } = agent
  return {
    agentId: agent.id,
    status: agent.status,
    policy: fromPolicy(policy),
    windows: WINDOWS.map((limit) => {
      const allowed = policy.limits[limit]
      const rest = allowed === null ? null : allowed - usage[limit]
      return {
        limit,
        allowed: figure(allowed),
        spent: toWire(usage[limit]),
        remaining: rest === null ? null : toWire(rest > 0n ? (rest as Usdc) : ZERO),
        startsAt: limit === 'lifetime' ? null : startOf(limit, usage.at).toISOString(),
        resetsAt: endOf(limit, usage.at)?.toISOString() ?? null,
      }
    }),
    calls: {
      allowed: policy.rate.callsPerMinute,
      made: usage.calls,
      resetsAt: endOf('perMinute', usage.at)?.toISOString() ?? '',
    },
    warnings: [...warnings],
  }
}

export const verdictBody = z.object({
  outcome: z.enum(['allowed', 'refused', 'held']),
  limit: z.string().nullable().meta({ description: 'The rule that decides; null when no rule applies' }),
  allowed: z.number().nullable(),
  spent: z.number().nullable(),
  requested: amountOrNull,
  pattern: z.string().nullable(),
  resetsAt: timestamp.nullable(),
})

export function toVerdict(verdict: Verdict): z.input<typeof verdictBody> {
  const none = { limit: null, allowed: null, spent: null, requested: null, pattern: null, resetsAt: null }
  switch (verdict.outcome) {
    case 'allowed':
      return { outcome: 'allowed', ...none }
    case 'held':
      return { outcome: 'held', ...none, limit: 'approvalAbove' }
    case 'refused':
      return { outcome: 'refused', ...fieldsOf(verdict.refusal) }
  }
}

export const decisionBody = z
  .object({
    id: z.string(),
    at: timestamp,
    kind: z.enum(KINDS),
    target: z.string(),
    domain: z.string().nullable(),
    amount: amountOut,
    returned: amountOut.meta({ description: 'The part that was returned when the lock ended' }),
    outcome: z.enum(['allowed', 'refused', 'held']),
    rule: z.string().nullable(),
    pattern: z.string().nullable(),
    reference: z
      .string()
      .nullable()
      .meta({ description: 'The run, call or payment; a free call of an address has an id of its own' }),
    approvalId: z.string().nullable(),
  })
  .meta({ id: 'SpendingDecision' })

export function toDecision(decision: Decision): z.input<typeof decisionBody> {
  const { id, at, kind, target, domain, amount, returned, outcome, rule, pattern, reference, approvalId } = decision
  const fields = { id, kind, target, domain, outcome, rule, pattern, reference, approvalId }
  return { ...fields, at: at.toISOString(), amount: toWire(amount), returned: toWire(returned) }
}

export const approvalBody = z
  .object({
    id: z.string(),
    status: z.enum(APPROVAL_STATES),
    agentId: z.string(),
    agentName: z.string(),
    kind: z.enum(KINDS),
    target: z.string(),
    amount: amountOut,
    requestHash: z.string(),
    createdAt: timestamp,
    expiresAt: timestamp,
    decidedAt: timestamp.nullable(),
    reference: z.string().nullable().meta({ description: 'The run, call or payment that it was used for' }),
  })
  .meta({ id: 'Approval' })

export function toApproval(approval: Approval): z.input<typeof approvalBody> {
  const { id, state, agentId, agentName, kind, target, requestHash, usedBy } = approval
  return {
    id,
    status: state,
    agentId,
    agentName,
    kind,
    target,
    amount: toWire(approval.amount),
    requestHash,
    createdAt: approval.createdAt.toISOString(),
    expiresAt: approval.expiresAt.toISOString(),
    decidedAt: approval.decidedAt?.toISOString() ?? null,
    reference: usedBy,
  }
}
