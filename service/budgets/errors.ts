import { DomainError } from '../kit/errors.ts'
import { toWire, type Usdc } from '../kit/money.ts'
import type { Approval, Refusal } from './model.ts'

/**
 * The error for an agent's call: which rule refused it, how much of the limit is used, and when a retry makes sense.
 */
export function spendingLimit(refusal: Refusal): DomainError {
  const code = refusal.rule === 'limits' ? 'limits_required' : 'spending_limit'
  return new DomainError('forbidden', code, sentenceOf(refusal), fieldsOf(refusal))
}

/** The same fields, for the answer of a dry run. */
export function fieldsOf({ rule, spent, requested, limit, pattern, resetsAt }: Refusal) {
  return {
    limit: rule,
    allowed: figure(limit),
    spent: figure(spent),
    requested: toWire(requested),
    pattern,
    resetsAt: resetsAt?.toISOString() ?? null,
  }
}

export function approvalRequired(approval: Pick<Approval, 'id' | 'expiresAt'>, statusUrl: string): DomainError {
  return new DomainError('held', 'approval_required', 'A person must approve this call first.', {
    approvalId: approval.id,
    expiresAt: approval.expiresAt.toISOString(),
    statusUrl,
  })
}

export function agentMissing(): DomainError {
  return new DomainError('missing', 'agent_not_found', 'There is no such agent.')
}

export function simulationsBusy(): DomainError {
  const sentence = 'Other simulations are in progress. Try again in a minute.'
  return new DomainError('unavailable', 'simulations_busy', sentence, { retryAfterSeconds: 60 })
}

/** The error for the call that waited, and for the same call repeated before the refusal expires. */
export function approvalRefused({ id, expiresAt }: Pick<Approval, 'id' | 'expiresAt'>): DomainError {
  const until = expiresAt.toISOString()
  return new DomainError(
    'forbidden',
    'approval_refused',
    `A person refused this call. It stays refused until ${until}.`,
    {
      approvalId: id,
      expiresAt: until,
    },
  )
}

export function approvalMissing(): DomainError {
  return new DomainError('missing', 'approval_not_found', 'There is no such approval.')
}

export function approvalOver(state: Approval['state']): DomainError {
  return new DomainError('conflict', 'approval_over', `This approval is already ${state}.`, { state })
}

function sentenceOf({ rule, pattern, limit }: Pick<Refusal, 'rule' | 'pattern' | 'limit'>): string {
  switch (rule) {
    case 'paused':
      return 'This agent is paused. Resume it and try again.'
    case 'deleted':
      return 'This agent was removed.'
    case 'limits':
      return limit === null
        ? 'An agent without limits cannot make outgoing payments. Set a limit for this agent first.'
        : `An agent without limits may spend ${String(figure(limit))} USDC a day on assets of other accounts. Set a limit for this agent to allow more.`
    case 'balance':
      return 'The balance is too low for this. Add funds and try again.'
    case 'approvalAbove':
      return 'A person must approve this call first.'
    case 'approvalRefused':
      return 'A person refused this call.'
    case 'callsPerMinute':
      return 'The agent has reached its limit of calls per minute. Try again in a minute.'
    case 'perCall':
      return 'This costs more than the agent may spend on one call.'
    case 'lifetime':
      return "This would exceed the agent's lifetime limit."
    case 'perMinute':
    case 'perDay':
    case 'perWeek':
    case 'perMonth':
      return `This would exceed the agent's limit for this ${rule.slice(3).toLowerCase()}.`
    default: {
      const [list = '', by] = rule.split('.')
      return by === 'deny'
        ? `The agent's ${list}.deny list contains "${pattern ?? ''}".`
        : `The agent's ${list}.allow list does not contain this.`
    }
  }
}

function figure(value: Usdc | number | null): number | null {
  return typeof value === 'bigint' ? toWire(value) : value
}
