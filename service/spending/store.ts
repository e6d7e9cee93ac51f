import { QUOTAS } from '../kit/quota.ts'
import type { StatementPool } from '../kit/transaction.ts'
import type { AgentStore, ApprovalStore, DecisionStore } from './ports.ts'
import type { PaymentStore } from './ports/payment.ts'
import { createAgentStore } from './store/agents.ts'
import { createApprovalStore } from './store/approvals.ts'
import { createDecisionStore } from './store/decisions.ts'
import { createPaymentStore } from './store/payments.ts'

/** Agents, decisions, approvals and payments in PostgreSQL. */
export function createSpendingStore(statements: StatementPool, agentsMax: number = QUOTAS.agents): SpendingStore {
  return {
    agents: createAgentStore(statements, agentsMax),
    approvals: createApprovalStore(statements),
    decisions: createDecisionStore(),
    payments: createPaymentStore(statements),
  }
}

interface SpendingStore {
  agents: AgentStore
  approvals: ApprovalStore
  decisions: DecisionStore
  payments: PaymentStore
}
