import type { AnyRoute } from '../api/route.ts'
import { agentRoutes } from './http/agents.ts'
import { approvalRoutes } from './http/approvals.ts'
import { payRoutes } from './http/pay.ts'
import type { Spending } from './service.ts'

export function spendingRoutes(spending: Spending): AnyRoute[] {
  return [...agentRoutes(spending.agents), ...approvalRoutes(spending.approvals), ...payRoutes(spending)]
}
