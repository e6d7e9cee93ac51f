import { createHmac, timingSafeEqual } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { agentRoutes } from '../budgets/http/agents.ts'
import { approvalRoutes } from '../budgets/http/approvals.ts'
import { ZERO } from '../kit/money.ts'
import { budgetSweepers, budgetTopics } from '../budgets/jobs.ts'
import type { Tickets } from '../budgets/ports.ts'
import { createBudgets, type Budgets } from '../budgets/service/budgets.ts'
import { createAgentStore } from '../budgets/store/agents.ts'
import { createApprovalStore } from '../budgets/store/approvals.ts'
import { createDecisionStore } from '../budgets/store/decisions.ts'
import type { Deliveries } from '../deliveries/service/deliveries.ts'
import type { Identity } from '../identity/service/identity.ts'
import type { Platform, Part } from './platform.ts'

/** Spending limits of agents: every hold for an agent goes through them. */
export async function openBudgets(
  platform: Platform,
  { identity, deliveries }: { identity: Identity; deliveries: Deliveries },
): Promise<{ budgets: Budgets; part: Part }> {
  const { config, clock, database, ledger, outbox, secret } = platform
  const { statements } = database
  const budgets = createBudgets({
    store: {
      agents: createAgentStore(statements, config.QUOTA_AGENTS),
      approvals: createApprovalStore(statements),
      decisions: createDecisionStore(),
    },
    statements,
    ledger,
    clock,
    defaultPerDay: config.AGENT_DEFAULT_PER_DAY === ZERO ? null : config.AGENT_DEFAULT_PER_DAY,
    announce: (inside, announcements) => outbox.add(inside, announcements),
    tell: (event) => deliveries.event(statements, event),
    tickets: ticketsBy(secret),
    // Without a mail server the sandbox would only fill its log; the list of approvals shows them too.
    post:
      config.SMTP_URL === undefined
        ? null
        : { send: ({ userId }, mail, counted) => identity.mailCounted(userId, mail, counted) },
    revokeKeys: (owner, agentId) => identity.keys.revokeOf(owner, agentId),
    addresses: config.addresses,
    pause: (ms) => setTimeout(ms),
  })
  return {
    budgets,
    part: {
      routes: [{ surface: 'api', routes: [...agentRoutes(budgets.agents), ...approvalRoutes(budgets.approvals)] }],
      topics: budgetTopics(budgets),
      sweepers: budgetSweepers(budgets),
    },
  }
}

/** The same approval always gets the same link, and the database stores no token. */
function ticketsBy(secret: string): Tickets {
  const of = (approvalId: string): string =>
    createHmac('sha256', secret).update(`coinslot approval ${approvalId}`).digest('base64url')
  return {
    of,
    proves(approvalId, ticket) {
      const [presented, wanted] = [Buffer.from(ticket), Buffer.from(of(approvalId))]
      return presented.length === wanted.length && timingSafeEqual(presented, wanted)
    },
  }
}
