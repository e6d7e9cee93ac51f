import type { Clock } from '../../kit/clock.ts'
import type { Usdc } from '../../kit/money.ts'
import type { StatementPool } from '../../kit/transaction.ts'
import type { Ledger } from '../../ledger/service.ts'
import type {
  AgentStore,
  Announce,
  ApprovalStore,
  DecisionStore,
  Pause,
  Post,
  RevokeKeys,
  TellEvent,
  Tickets,
} from '../ports.ts'
import { createAgents } from './agents.ts'
import { createApprovals } from './approvals.ts'
import { createGuard } from './guard.ts'
import { createNews } from './news.ts'

/** Spending rules for agents, and approvals for calls above them. */
export function createBudgets(deps: BudgetDeps) {
  const { clock, ledger, store, tickets, statements, addresses, defaultPerDay } = deps
  const news = createNews({
    ...deps,
    approvals: store.approvals,
    pageUrl: (id, ticket) => `${addresses.api}/approvals/${id}/page?ticket=${ticket}`,
  })
  const { announce } = news
  return {
    ...createGuard({
      ledger,
      statements,
      clock,
      store: store.decisions,
      defaultPerDay,
      statusUrl: (id) => `${addresses.api}/approvals/${id}`,
      announce,
    }),
    agents: createAgents({
      store: store.agents,
      clock,
      defaultPerDay,
      revokeKeys: deps.revokeKeys,
      announce,
    }),
    approvals: createApprovals({
      store: store.approvals,
      tickets,
      clock,
      announce: deps.announce,
      pause: deps.pause,
    }),
    tell: news.tell,
    askPerson: news.ask,
  }
}

export type Budgets = ReturnType<typeof createBudgets>

export interface BudgetDeps {
  store: { agents: AgentStore; approvals: ApprovalStore; decisions: DecisionStore }
  statements: StatementPool
  ledger: Ledger
  clock: Clock
  /** What an agent without limits may spend in a day on assets of other accounts; null for no such limit. */
  defaultPerDay: Usdc | null
  announce: Announce
  tell: TellEvent
  tickets: Tickets
  post: Post | null
  revokeKeys: RevokeKeys
  addresses: { api: string }
  pause: Pause
}
