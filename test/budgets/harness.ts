import { randomUUID } from 'node:crypto'
import type { Announcement } from '../../service/queue/model.ts'
import { newId } from '../../service/kit/ids.ts'
import { QUOTAS } from '../../service/kit/quota.ts'
import { usdc, type Usdc } from '../../service/kit/money.ts'
import type { Clock } from '../../service/kit/clock.ts'
import type { StatementPool } from '../../service/kit/transaction.ts'
import { createLedger, type Ledger } from '../../service/ledger/service.ts'
import { createLedgerStore } from '../../service/ledger/store/ledger.ts'
import type { Agent, AgentReserve, Limit, Policy, Spender } from '../../service/budgets/model.ts'
import { createBudgets, type Budgets } from '../../service/budgets/service/budgets.ts'
import { createAgentStore } from '../../service/budgets/store/agents.ts'
import { createApprovalStore } from '../../service/budgets/store/approvals.ts'
import { createDecisionStore } from '../../service/budgets/store/decisions.ts'

export interface BudgetsUnderTest {
  budgets: Budgets
  ledger: Ledger
  announced: Announcement[]
}

/** Budgets on the real ledger and database; the events that they publish are collected for inspection. */
export function budgetsOn(
  statements: StatementPool,
  clock: Clock,
  defaultPerDay: Usdc | null = null,
): BudgetsUnderTest {
  const ledger = createLedger(createLedgerStore(statements, clock), clock)
  const announced: Announcement[] = []
  const budgets = createBudgets({
    store: {
      agents: createAgentStore(statements, QUOTAS.agents),
      approvals: createApprovalStore(statements),
      decisions: createDecisionStore(),
    },
    ledger,
    clock,
    announce: async (_, announcements) => {
      announced.push(...announcements)
    },
    tell: async () => undefined,
    tickets: { of: (id) => `ticket-${id}`, proves: (id, ticket) => ticket === `ticket-${id}` },
    post: null,
    revokeKeys: async () => undefined,
    addresses: { api: 'http://api.test/v1' },
    statements,
    defaultPerDay,
    pause: async () => undefined,
  })
  return { budgets, ledger, announced }
}

export function policyOf(
  rules: Partial<Omit<Policy, 'limits'>> & { limits?: Partial<Record<Limit, bigint>> } = {},
): Policy {
  const none = { perCall: null, perMinute: null, perDay: null, perWeek: null, perMonth: null, lifetime: null }
  return {
    rate: { callsPerMinute: null },
    tools: { allow: null, deny: [] },
    rdas: { allow: null, deny: [] },
    domains: { allow: null, deny: [] },
    approvalAbove: null,
    alerts: [],
    onExceeded: 'refuse',
    ...rules,
    limits: { ...none, ...rules.limits } as Policy['limits'],
  }
}

let people = 0

/** Creates a user with money and an agent of that user. */
export async function agentWith(
  { budgets, ledger }: BudgetsUnderTest,
  policy: Policy,
  balance = 1_000_000n,
): Promise<Agent> {
  const userId = `usr_s${String(++people)}${randomUUID()}`
  const owner = { userId, environment: 'sandbox' as const }
  await ledger.openAccounts(userId)
  const id = `fund_${userId}`
  await ledger.credit({ id, kind: 'deposit', owner, amount: usdc(balance), reference: null, act: id })
  return await budgets.agents.create(
    callerOf(userId),
    { name: 'Agent', status: 'active', policy },
    newId('op', new Date()),
  )
}

export function callerOf(userId: string) {
  const user = {
    id: userId as `usr_${string}`,
    issuer: 'coinslot',
    subject: userId,
    name: null,
    email: null,
    emailConfirmed: false,
  }
  const caller = { user, subject: userId, issuer: 'coinslot', environment: 'sandbox' as const }
  return { ...caller, via: 'session' as const, keyId: null, agentId: null }
}

let calls = 0

/** One call that the agent wants to pay for. */
export function callOf(
  agent: Agent,
  amount: bigint,
  spender: Partial<Spender> = {},
  id = `run_${String(++calls)}`,
): AgentReserve {
  return {
    id,
    owner: agent.owner,
    amount: usdc(amount),
    useCredits: false,
    deadline: new Date(Date.now() + 86_400_000),
    reference: null,
    spender: { agentId: agent.id, kind: 'run', target: 'a-run', requestHash: `hash of ${id}`, ...spender },
  }
}

/** Returns `allowed`, or the rule that refused the call. */
export async function outcomeOf(call: Promise<unknown>): Promise<string> {
  try {
    await call
    return 'allowed'
  } catch (error) {
    const { code, fields } = error as { code?: string; fields?: { limit?: string } }
    return fields?.limit ?? code ?? String(error)
  }
}
